// The user's rules, and when they would have fired.
import type { ApiAnswer } from '../../kernel/http/api-route.ts';
import { momentIn, type Routes, route, whileClientWaits } from '../../kernel/http/route.ts';
import { api } from '../api.ts';
import type { RuleTestRequest } from './io/rules-service.ts';

export function rulesRoutes(options: {
  list: () => ApiAnswer<typeof api.listRules>;
  /** When rules would have fired on the log; also disabled rules, and one that is not configured yet. */
  test: (request: RuleTestRequest, signal: AbortSignal) => Promise<ApiAnswer<typeof api.testRules>>;
  now: () => number;
}): Routes {
  return (app) => {
    route(app, api.listRules, options.list);
    route(app, api.testRules, ({ body: { name, rule, since } }, reply) => {
      const asked = { name, rule, since: momentIn('since', since, options.now()) };
      return whileClientWaits(reply, (signal) => options.test(asked, signal));
    });
  };
}
