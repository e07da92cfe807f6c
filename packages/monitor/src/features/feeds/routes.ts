// GET /api/feeds, and what checks them.
import type { ApiAnswer } from '../../kernel/http/api-route.ts';
import { type Routes, route } from '../../kernel/http/route.ts';
import { api } from '../api.ts';

export function feedRoutes(options: {
  report: () => ApiAnswer<typeof api.getFeeds>;
  check: (asked: { withinMs: number; repair: boolean }) => Promise<ApiAnswer<typeof api.checkFeeds>>;
  ping: (timeoutMs: number) => Promise<ApiAnswer<typeof api.pingFeeds>['feeds']>;
}): Routes {
  return (app) => {
    route(app, api.getFeeds, options.report);
    route(app, api.checkFeeds, ({ body: { since: withinMs, repair } }) =>
      options.check({ withinMs, repair }),
    );
    route(app, api.pingFeeds, async ({ body }) => ({ feeds: await options.ping(body.timeout) }));
  };
}
