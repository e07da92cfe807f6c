// The figures of the outbox, as health and `svc outbox` show them.
import { z } from 'zod';

export const OutboxFigures = z.object({
  started: z
    .enum(['fresh', 'resumed'])
    .describe('fresh: started at the end of the log, without its earlier state'),
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
    .describe('The first effects that failed and will be retried'),
  givenUp: z.int(),
  failing: z.string().nullable().describe('Why the outbox itself cannot work'),
});
