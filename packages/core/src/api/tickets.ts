// The workflow phase of a ticket.
import { z } from 'zod';
import { ticketPhases } from '../state/effect.ts';
import { phaseOfSkill } from '../tracker/ticket-phase.ts';
import { apiRoute, TICKET, text } from './route.ts';

const skills = Object.keys(phaseOfSkill);

export const ticketRoutes = {
  setTicketPhase: apiRoute({
    method: 'POST',
    path: '/api/tickets/{ticket}/phase',
    tag: 'tickets',
    summary: 'Set the workflow phase of a ticket and update the tracker',
    description:
      'The answer waits up to 15 seconds for the tracker; a slower update continues in the background.',
    verbs: ['svc ticket phase'],
    params: z.strictObject({
      ticket: z
        .string()
        .max(60, TICKET)
        .regex(/^[A-Za-z0-9]+-[0-9]+$/, TICKET)
        .toUpperCase()
        .describe('like ABC-12'),
    }),
    body: z.strictObject({
      phase: z
        .string('expected the name of a phase or a skill')
        .describe(`${ticketPhases.join(', ')}; or the skill that starts one: ${skills.join(', ')}`),
      orchestrator: text(120)
        .optional()
        .describe('the run whose worker reports it; the phase is then the status of the worker too'),
    }),
    answer: z
      .object({
        ticket: z.string(),
        phase: z.string(),
        outcome: z
          .enum(['moved', 'already', 'skipped', 'pending'])
          .describe('pending: the update continues in the background'),
        from: z
          .string()
          .nullable()
          .describe("The tracker's state before the change; null if the tracker was not asked"),
        to: z.string().nullable(),
        why: z.string(),
        remedy: z.string().nullable(),
      })
      .meta({ id: 'PhaseAnswer' }),
    failures: [
      'usage',
      'log-not-writable',
      'not-configured',
      'unknown-ticket',
      'tracker-refused-token',
      'tracker-quota-used-up',
      'tracker-unavailable',
      'tracker-error',
    ],
  }),
};
