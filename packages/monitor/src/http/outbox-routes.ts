// GET /api/outbox: what is to be done, what was done and what was given up. POST /api/outbox/retry: one that
// was given up is tried again.
import { type ApiAnswer, api } from '@svc/core';
import type { FastifyPluginCallback } from 'fastify';
import { Failure } from '../errors.ts';
import { fieldsOf, neededText } from './request-fields.ts';

type OutboxAnswer = ApiAnswer<typeof api.getOutbox>;

export function outboxRoutes(options: {
  list: () => OutboxAnswer['effects'];
  figures: () => OutboxAnswer['figures'];
  /** False when there is no such effect, or it was not given up. */
  tryAgain: (key: string) => boolean;
}): FastifyPluginCallback {
  return (app, _options, done) => {
    app.get('/api/outbox', (): OutboxAnswer => ({ figures: options.figures(), effects: options.list() }));
    app.post('/api/outbox/retry', (request) => {
      const { body } = api.retryEffect;
      const key = neededText('key', fieldsOf(request.body, body).key, body.shape.key);
      if (options.tryAgain(key)) return { ok: true };
      throw new Failure('unknown-effect', `Nothing with the key ${key} was given up.`, 'See: svc outbox');
    });
    done();
  };
}
