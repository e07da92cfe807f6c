// The timeline of a ticket.
import { z } from 'zod';
import { apiRoute, OfRun, Seq, TicketParams, Time } from '../../kernel/http/api-route.ts';

export type Trace = z.infer<typeof Trace>;
const Trace = z
  .object({
    ticket: z.string(),
    orchestrator: z.string().nullable(),
    now: Time,
    from: Time.nullable(),
    to: Time.nullable(),
    lines: z.int().describe('How many events it is built from'),
    cut: z.boolean().describe('Older events were left out'),
    spans: z.array(
      z.object({
        id: z.string(),
        kind: z.enum([
          'phase',
          'wait',
          'pull-request',
          'checks',
          'review',
          'merge',
          'deployment',
          'verification',
        ]),
        label: z.string(),
        state: z.enum(['running', 'succeeded', 'failed', 'ended']),
        start: Time,
        end: Time.nullable().describe('Null while it is running'),
        startSeq: Seq,
        endSeq: Seq.nullable(),
        reason: z.string().nullable(),
        url: z.string().nullable(),
      }),
    ),
    axis: z
      .array(z.object({ from: Time, to: Time, folded: z.boolean() }))
      .describe('The time axis; idle hours are folded'),
  })
  .meta({ id: 'Trace' });

export const traceRoutes = {
  getTrace: apiRoute({
    method: 'GET',
    path: '/api/workers/{ticket}/trace',
    tag: 'workers',
    summary: 'Show the timeline of a ticket',
    verbs: ['svc trace'],
    params: TicketParams,
    query: z.strictObject(OfRun),
    answer: Trace,
    failures: ['usage', 'unknown-ticket', 'state-not-ready'],
  }),
};
