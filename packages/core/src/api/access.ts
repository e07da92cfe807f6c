// How a page gets its key where the daemon asks for a token.
import { z } from 'zod';
import { apiRoute, noFields, Time, text } from './route.ts';

export const accessRoutes = {
  createCode: apiRoute({
    method: 'POST',
    path: '/api/access/code',
    tag: 'access',
    summary: 'A code that opens the dashboard once, within a minute',
    verbs: ['svc open'],
    body: noFields,
    answer: z.object({ code: z.string(), expiresAt: Time }),
    failures: ['usage'],
  }),
  exchangeCode: apiRoute({
    method: 'POST',
    path: '/api/access/key',
    tag: 'access',
    summary: 'Exchange the code for the key that a page sends as its token until the daemon ends',
    body: z.strictObject({ code: text(200) }),
    answer: z.object({ key: z.string() }),
    failures: ['usage', 'unknown-code'],
  }),
};
