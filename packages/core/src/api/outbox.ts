// What is to be done, what was done, and what was given up.
import { z } from 'zod';
import { apiRoute, Seq, text } from './route.ts';

export const OutboxFigures = z.object({
  started: z.enum(['fresh', 'resumed']).describe("fresh: began at the log's end, without memory of before"),
  pending: z.int(),
  running: z.int(),
  oldestPendingMs: z.number().nullable(),
  retryingCount: z.int(),
  retrying: z
    .array(
      z.object({
        key: z.string(),
        kind: z.string(),
        attempts: z.int(),
        error: z.string(),
        nextAt: z.number(),
      }),
    )
    .describe('The first of those that have failed'),
  givenUp: z.int(),
  failing: z.string().nullable().describe('Why the outbox itself cannot work'),
});

/** The effect itself has a shape for each kind; `kind` and `key` are what a reader needs of it. */
const Effect = z.looseObject({ key: z.string(), seq: Seq, kind: z.string() });
const milliseconds = z.number().describe('Milliseconds since 1970');

const OutboxEffect = z
  .object({
    key: z.string().describe('<seq of the cause>:<kind>:<subject>'),
    seq: Seq,
    kind: z.string(),
    orderKey: z.string().nullable().describe('Effects of one order key are carried out one after the other'),
    effect: Effect.nullable().describe('Null when what was stored cannot be read'),
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
    summary: 'What is to be done, what was done and what was given up; the newest 200',
    verbs: ['svc outbox'],
    query: z.strictObject({}),
    answer: z.object({ figures: OutboxFigures, effects: z.array(OutboxEffect) }).meta({ id: 'Outbox' }),
    failures: ['usage'],
  }),
  retryEffect: apiRoute({
    method: 'POST',
    path: '/api/outbox/retry',
    tag: 'outbox',
    summary: 'Try again what was given up',
    verbs: ['svc outbox retry'],
    body: z.strictObject({ key: text(500) }),
    answer: z.object({ ok: z.literal(true) }),
    failures: ['usage', 'unknown-effect'],
  }),
};
