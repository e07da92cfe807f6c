// The health and figures of the daemon, its metrics, and the description of all routes.
import type { ApiAnswer } from '../../kernel/http/api-route.ts';
import { openapiDocument } from '../../kernel/http/openapi.ts';
import { type Routes, route } from '../../kernel/http/route.ts';
import type { Metrics } from '../../kernel/telemetry/metrics.ts';
import { api } from '../api.ts';

export function healthRoutes(options: {
  health: () => ApiAnswer<typeof api.getHealth>;
  figures: () => ApiAnswer<typeof api.getFigures>;
  metrics: Metrics;
  version: string;
}): Routes {
  let description: ApiAnswer<typeof api.getOpenapi> | undefined;
  return (app) => {
    route(app, api.getHealth, options.health);
    route(app, api.getFigures, options.figures);
    route(app, api.getMetrics, (_asked, reply) => {
      const { registry } = options.metrics;
      reply.type(registry.contentType);
      return registry.metrics();
    });
    route(app, api.getOpenapi, () => (description ??= openapiDocument({ version: options.version, api })));
  };
}
