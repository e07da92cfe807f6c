// Pending, completed and given-up effects.
import { z } from 'zod';
import { apiRoute, Seq, text } from '../../kernel/http/api-route.ts';
import { OutboxFigures } from '../../kernel/outbox/api.ts';

/** Each kind of effect has its own shape; clients need only `kind` and `key`. */
const Effect = z.looseObject({ key: z.string(), seq: Seq, kind: z.string() });
const milliseconds = z.number().describe('Milliseconds since 1970');

const OutboxEffect = z
  .object({
    key: z.string().describe('<seq of the cause>:<kind>:<subject>'),
    seq: Seq,
    kind: z.string(),
    orderKey: z.string().nullable().describe('Effects with the same order key run one after another'),
    effect: Effect.nullable().describe('Null when the stored effect cannot be read'),
    state: z.enum(['pending', 'done', 'given-up']),
    attempts: z.int(),
    nextAt: milliseconds,
    lastError: z.string().nullable(),
    createdAt: milliseconds,
    finishedAt: milliseconds.nullable(),
    outcome: z.string().nullable(),
  })
  .meta({ id: 'OutboxEffect' });

export const outboxRoutes = {
  getOutbox: apiRoute({
    method: 'GET',
    path: '/api/outbox',
    tag: 'outbox',
    summary: 'List the newest 200 effects: pending, done and given up',
    verbs: ['svc outbox'],
    query: z.strictObject({}),
    answer: z.object({ figures: OutboxFigures, effects: z.array(OutboxEffect) }).meta({ id: 'Outbox' }),
    failures: ['usage'],
  }),
  retryEffect: apiRoute({
    method: 'POST',
    path: '/api/outbox/retry',
    tag: 'outbox',
    summary: 'Retry an effect that was given up',
    verbs: ['svc outbox retry'],
    body: z.strictObject({ key: text(500) }),
    answer: z.object({ ok: z.literal(true) }),
    failures: ['usage', 'unknown-effect'],
  }),
};
