// Which repositories require a verified deployment, and a person's relaxation.
import {
  type ApiAnswer,
  afterRelaxed,
  api,
  draft,
  type PolicyView,
  policyViews,
  repoKey,
  requiresNow,
} from '@svc/core';
import { Failure } from '../errors.ts';
import { type Asked, type Routes, route } from './route.ts';
import { type Append, appendAndWait, boardOf, type StateAccess } from './state-access.ts';

type Options = { state: StateAccess; append: Append; onChange: () => void };

export function policyRoutes(options: Options): Routes {
  const { state } = options;
  return (app) => {
    route(app, api.getDeployPolicy, ({ query: { repo } }) => ({
      policies: policyViews(boardOf(state), repo),
    }));
    route(app, api.relaxDeployPolicy, ({ body }) => relax(options, body));
  };
}

/** Tried first: a relaxation that changes nothing does not go into the log. */
async function relax(
  options: Options,
  { repo: named, by, note }: Asked<typeof api.relaxDeployPolicy>['body'],
): Promise<ApiAnswer<typeof api.relaxDeployPolicy>> {
  const board = boardOf(options.state);
  const repo = repoKey(named);
  const known = board.policies.get(repo);
  if (known === undefined || known.requiredBy.length === 0)
    throw new Failure(
      'not-allowed-now',
      `Nothing to relax: ${repo} does not require a verified deployment.`,
      `See: svc deploy policy ${repo}`,
    );
  const stated = known.requiredBy.find(({ project }) => requiresNow(board.projects.get(project), repo));
  if (stated !== undefined)
    throw new Failure(
      'not-allowed-now',
      `The file of ${stated.project} requires a verified deployment of ${repo}.`,
      `In that folder, run: svc config set svc.deploy.${repo}.skipDeployVerification true`,
    );
  if (afterRelaxed(known, board.projects, by, { at: '', seq: board.seq }) === known)
    throw new Failure('not-allowed-now', `Nothing to relax for ${repo}.`);
  const detail = { by, ...(note !== undefined && { note }) };
  const relaxed = draft('orchestrator.deploy.policy_relaxed', { repo }, detail, { source: 'cli' });
  await appendAndWait(options, relaxed);
  options.onChange();
  const [policy] = policyViews(options.state.board(), repo);
  return { ok: true, policy: policy as PolicyView };
}
