// How a browser page gets its key when the daemon requires a token.
import { z } from 'zod';
import { apiRoute, noFields, Time, text } from '../http/api-route.ts';

export const accessRoutes = {
  createCode: apiRoute({
    method: 'POST',
    path: '/api/access/code',
    tag: 'access',
    summary: 'Create a code that opens the dashboard once, within a minute',
    verbs: ['svc open'],
    body: noFields,
    answer: z.object({ code: z.string(), expiresAt: Time }),
    failures: ['usage'],
  }),
  exchangeCode: apiRoute({
    method: 'POST',
    path: '/api/access/key',
    tag: 'access',
    summary: 'Exchange the code for a key; the page sends it as its token until the daemon stops',
    body: z.strictObject({ code: text(200) }),
    answer: z.object({ key: z.string() }),
    failures: ['usage', 'unknown-code'],
  }),
};
