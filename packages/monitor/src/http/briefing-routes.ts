// GET /api/briefing: the last one; nobody is called. POST /api/briefing: a fresh one. Where the briefing is
// disabled, both say so and do nothing.
import { api } from '@svc/core';
import type { FastifyPluginCallback } from 'fastify';
import type { Briefing } from '../summarize/briefing.ts';
import { whileClientWaits } from './client-waits.ts';
import { fieldsOf } from './request-fields.ts';

export function briefingRoutes(briefing: () => Briefing): FastifyPluginCallback {
  return (app, _options, done) => {
    app.get('/api/briefing', () => briefing().last());
    app.post('/api/briefing', async (request, reply) => {
      fieldsOf(request.body, api.writeBriefing.body);
      return whileClientWaits(reply, briefing().fresh);
    });
    done();
  };
}
