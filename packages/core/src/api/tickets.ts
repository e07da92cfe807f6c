// The workflow phase of a ticket.
import { z } from 'zod';
import { ticketPhases } from '../state/effect.ts';
import { phaseOfSkill } from '../tracker/ticket-phase.ts';
import { apiRoute, TICKET } from './route.ts';

const skills = Object.keys(phaseOfSkill);

export const ticketRoutes = {
  setTicketPhase: apiRoute({
    method: 'POST',
    path: '/api/tickets/{ticket}/phase',
    tag: 'tickets',
    summary: 'The phase of a ticket changed: it is written down, and the tracker is told',
    description: 'The answer waits up to 15 seconds for the tracker; what takes longer goes on by itself.',
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
        .string('expected the name of a phase or of a skill')
        .describe(`${ticketPhases.join(', ')}; or the skill that begins one: ${skills.join(', ')}`),
    }),
    answer: z
      .object({
        ticket: z.string(),
        phase: z.string(),
        outcome: z
          .enum(['moved', 'already', 'skipped', 'pending'])
          .describe('pending: it was not over in time, and goes on by itself'),
        from: z.string().nullable().describe("The tracker's state before; null where it was not asked"),
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
