// GET /openapi.json: every route of the daemon, described for programs. The same for as long as the daemon runs.
import { type ApiAnswer, type api, openapiDocument } from '@svc/core';
import type { FastifyPluginCallback } from 'fastify';

export function openapiRoutes({ version }: { version: string }): FastifyPluginCallback {
  let made: ApiAnswer<typeof api.getOpenapi> | undefined;
  return (app, _options, done) => {
    app.get('/openapi.json', () => (made ??= openapiDocument({ version })));
    done();
  };
}
