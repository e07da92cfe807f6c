// GET /api/figures: calls to the code host and those that were avoided, its quotas, how long deliveries take.
import { api, type Figures } from '@svc/core';
import type { FastifyPluginCallback } from 'fastify';
import { fieldsOf } from './request-fields.ts';

export function figuresRoutes({ figures }: { figures: () => Figures }): FastifyPluginCallback {
  return (app, _options, done) => {
    app.get('/api/figures', (request) => {
      fieldsOf(request.query, api.getFigures.query);
      return figures();
    });
    done();
  };
}
