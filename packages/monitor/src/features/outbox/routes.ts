// The effects that are under way, and those to try again.
import { Failure } from '../../kernel/failure.ts';
import type { ApiAnswer } from '../../kernel/http/api-route.ts';
import { type Routes, route } from '../../kernel/http/route.ts';
import { api } from '../api.ts';

export function outboxRoutes(options: {
  list: () => ApiAnswer<typeof api.getOutbox>['effects'];
  figures: () => ApiAnswer<typeof api.getOutbox>['figures'];
  /** False when there is no such effect, or it was not given up. */
  tryAgain: (key: string) => boolean;
}): Routes {
  return (app) => {
    route(app, api.getOutbox, () => ({ figures: options.figures(), effects: options.list() }));
    route(app, api.retryEffect, ({ body: { key } }) => {
      if (options.tryAgain(key)) return { ok: true as const };
      throw new Failure('unknown-effect', `No given-up effect has the key ${key}.`, 'List them: svc outbox');
    });
  };
}
