// GET /api/health: what works and what does not. GET /metrics: the same as figures.
import type { ApiAnswer, api } from '@svc/core';
import type { FastifyPluginCallback } from 'fastify';
import type { Metrics } from '../telemetry/metrics.ts';

export function healthRoutes(
  health: () => ApiAnswer<typeof api.getHealth>,
  metrics: Metrics,
): FastifyPluginCallback {
  return (app, _options, done) => {
    app.get('/api/health', () => health());
    app.get('/metrics', async (_request, reply) => {
      reply.type(metrics.registry.contentType);
      return metrics.registry.metrics();
    });
    done();
  };
}
