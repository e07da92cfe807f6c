// A code opens the dashboard once; the page exchanges it for its key.
import type { Access } from '../access/access.ts';
import { accessRoutes } from '../access/api.ts';
import { Failure } from '../failure.ts';
import { type Routes, route } from './route.ts';

/** A code opens the dashboard once; the page exchanges it for its key. */
export function serveAccess(access: Pick<Access, 'createCode' | 'exchangeCode'>): Routes {
  return (app) => {
    route(app, accessRoutes.createCode, () => access.createCode());
    route(app, accessRoutes.exchangeCode, ({ body: { code } }) => {
      const key = access.exchangeCode(code);
      if (key !== undefined) return { key };
      throw new Failure(
        'unknown-code',
        'The code has expired or was used already.',
        'Open the dashboard again: svc open',
      );
    });
  };
}
