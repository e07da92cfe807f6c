// A person's decision on a deploy; which repositories require a verified deployment.
import { boardOf } from '../../kernel/board/state-access.ts';
import { type Routes, route } from '../../kernel/http/route.ts';
import { api } from '../api.ts';
import { policyViews } from './policy-view.ts';
import { type DecisionAccess, decideDeploy, relaxPolicy } from './service.ts';

export function deployRoutes(options: DecisionAccess & { onPolicyChange: () => void }): Routes {
  return (app) => {
    route(app, api.decideDeploy, ({ params, body }) => decideDeploy(options, { ...params, ...body }));
    route(app, api.getDeployPolicy, ({ query: { repo } }) => ({
      policies: policyViews(boardOf(options.state), repo),
    }));
    route(app, api.relaxDeployPolicy, ({ body }) => relaxPolicy(options, body));
  };
}
