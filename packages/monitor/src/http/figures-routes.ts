// GET /api/figures: calls to the code host and those that were avoided, its quotas, how long deliveries take.
import type { Figures } from '@svc/core';
import type { FastifyPluginCallback } from 'fastify';

export function figuresRoutes({ figures }: { figures: () => Figures }): FastifyPluginCallback {
  return (app, _options, done) => {
    app.get('/api/figures', () => figures());
    done();
  };
}
