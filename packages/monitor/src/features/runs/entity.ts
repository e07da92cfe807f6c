// A run as the API shows it.
import { z } from 'zod';
import { key, last } from '../../kernel/board/entity-fields.ts';
import { Seq, Time } from '../../kernel/http/api-route.ts';

export type Run = z.infer<typeof Run>;

export const Run = z
  .object({
    key,
    orchestrator: z.string(),
    name: z.string().nullable(),
    state: z.enum(['running', 'paused', 'completed', 'canceled', 'unknown']),
    startedAt: Time.nullable(),
    endedAt: Time.nullable(),
    tickets: z.array(z.string()),
    plan: z
      .object({
        waves: z.array(z.array(z.string())),
        project: z.string(),
        base: z.string(),
        workerCommand: z.string(),
        workerModel: z.string(),
        maxParallel: z.int(),
        agent: z.string().optional().describe('The agent that was chosen for the run'),
        agents: z
          .record(z.string(), z.string())
          .optional()
          .describe('The agents that were chosen for single tickets'),
      })
      .nullable()
      .describe('Null for a run that svc does not orchestrate'),
    blockedBy: z.record(z.string(), z.array(z.string())).nullable(),
    maxParallel: z.int().nullable(),
    waves: z.array(
      z.object({
        wave: z.int(),
        state: z.enum(['started', 'completed', 'blocked']),
        tickets: z.array(z.string()),
        seq: Seq,
      }),
    ),
    ...last,
  })
  .meta({ id: 'Run' });
