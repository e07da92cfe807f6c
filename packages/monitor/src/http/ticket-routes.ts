// POST /api/tickets/:ticket/phase: the ticket's phase changed. The fact goes into the log; what it causes goes
// through the outbox, and the answer waits a while for it, so that the caller learns what became of it.
import { type ApiAnswer, api, type EventDraft, phaseNamed, ticketWritten } from '@svc/core';
import type { FastifyPluginCallback } from 'fastify';
import { Failure } from '../errors.ts';
import type { MoveEnding } from '../tracker/move-ticket-handler.ts';
import { fieldsOf } from './request-fields.ts';

const PATIENCE_MS = 15_000;

type PhaseAnswer = ApiAnswer<typeof api.setTicketPhase>;

export function ticketRoutes(options: {
  /** Resolves when the line is durable. */
  report: (draft: EventDraft) => Promise<{ seq: number }>;
  /** What became of an effect within a time; undefined when it was not begun. */
  outcomeOf: (key: string, timeoutMs: number) => Promise<MoveEnding | undefined>;
  patienceMs?: number;
}): FastifyPluginCallback {
  const { report, outcomeOf, patienceMs = PATIENCE_MS } = options;
  return (app, _options, done) => {
    app.post<{ Params: { ticket: string } }>('/api/tickets/:ticket/phase', async (request) => {
      const ticket = ticketOf(request.params.ticket);
      const { phase, skill } = phaseOf(request.body);
      const { seq } = await report({
        event: 'workflow.ticket.phase_changed',
        source: 'cli',
        via: 'local',
        scope: { ticket },
        detail: { to: phase, ...(skill !== undefined && { skill }) },
      });
      const ending = await outcomeOf(`${seq}:move-ticket:${ticket}`, patienceMs);
      return { ticket, phase, ...answerOf(ending) } satisfies PhaseAnswer;
    });
    done();
  };
}

function answerOf(ending: MoveEnding | undefined): Omit<PhaseAnswer, 'ticket' | 'phase'> {
  if (ending?.state === 'ended') {
    const { outcome, from, to, why, remedy } = ending.move;
    return { outcome, from, to, why, remedy };
  }
  if (ending?.state === 'given-up') throw ending.error;
  const why = ending?.error.message ?? 'its turn in the outbox has not come yet';
  return { outcome: 'pending', from: null, to: null, why, remedy: null };
}

function ticketOf(text: string): string {
  const ticket = ticketWritten(text);
  if (ticket !== undefined) return ticket;
  throw new Failure('usage', 'The ticket must be written like ABC-12.');
}

function phaseOf(body: unknown): { phase: string; skill: string | undefined } {
  const { phase } = fieldsOf(body, api.setTicketPhase.body);
  if (typeof phase !== 'string')
    throw new Failure('usage', 'phase: expected the name of a phase or of a skill.');
  const named = phaseNamed(phase);
  if (!named.ok) throw new Failure('usage', `phase: ${named.problem}`);
  return named;
}
