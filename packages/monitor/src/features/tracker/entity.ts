// A ticket as the API shows it.
import { z } from 'zod';
import { key, last } from '../../kernel/board/entity-fields.ts';
import { Seq, Time } from '../../kernel/http/api-route.ts';
import { EventVia } from '../../kernel/log/event-line.ts';
import { ticketPhases } from './ticket-phases.ts';

export type Ticket = z.infer<typeof Ticket>;

export const Ticket = z
  .object({
    key,
    ticket: z.string(),
    title: z.string().nullable(),
    url: z.string().nullable(),
    state: z
      .object({ id: z.string().nullable(), name: z.string().nullable(), type: z.string().nullable() })
      .nullable()
      .describe('The state in the tracker'),
    assignee: z.string().nullable(),
    priority: z.number().nullable(),
    labels: z.array(z.string()),
    phase: z
      .object({
        phase: z.enum(ticketPhases),
        at: Time,
        seq: Seq,
        held: z
          .literal(true)
          .exactOptional()
          .describe('It was reported as done, and is moved there once that is proved'),
      })
      .nullable()
      .describe('The workflow phase'),
    removed: z.boolean(),
    local: z.literal(true).exactOptional().describe('Only svc knows it; no tracker is asked about it'),
    dispatch: z
      .object({
        run: z.string().nullable(),
        because: z.string().describe('The label or the assignment'),
        by: z.string().nullable().describe('Who set it'),
        reason: z.string().nullable().describe('Why no run was started'),
        remedy: z.string().nullable(),
        at: Time,
        seq: Seq,
      })
      .exactOptional()
      .describe('The last label or assignment that asked for a run, and the run or why there is none'),
    reportedAt: Time.nullable(),
    via: EventVia,
    ...last,
  })
  .meta({ id: 'Ticket' });
