// POST /api/doctor: the daemon tries itself, which writes one line, and says what came of it.
// POST /api/doctor/examine: everything that `svc doctor` looks at, as it prints it.
import { type ApiAnswer, api } from '@svc/core';
import type { FastifyPluginCallback } from 'fastify';
import { fieldsOf, textOf } from './request-fields.ts';

export function doctorRoutes(options: {
  check: (by: string | undefined) => Promise<ApiAnswer<typeof api.checkDaemon>>;
  examine: () => Promise<ApiAnswer<typeof api.examine>>;
}): FastifyPluginCallback {
  return (app, _options, done) => {
    app.post('/api/doctor', (request) =>
      options.check(
        textOf('by', fieldsOf(request.body, api.checkDaemon.body).by, api.checkDaemon.body.shape.by),
      ),
    );
    app.post('/api/doctor/examine', (request) => {
      fieldsOf(request.body, api.examine.body);
      return options.examine();
    });
    done();
  };
}
