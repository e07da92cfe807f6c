// Carries out the outbox's wish to move a ticket, and writes what was done into the log. Moves of one ticket
// come one after the other, in the order in which they were asked for: the outbox sees to that. Carrying one out
// again finds the ticket where it should be; should the daemon die between the move and its line, the line is
// missing and the tracker's own event tells the move.

import { draft, type Effect, type EventDraft } from '@svc/core';
import { asError } from '@svc/lib/errors';
import type { Outcome } from '../outbox/attempt.ts';
import type { TicketMove, TicketMover } from './move-ticket.ts';
import { TicketNotMoved } from './ticket-not-moved.ts';

/** Endings kept for whoever asks. */
const KEPT = 500;

export type MoveTicketEffect = Extract<Effect, { kind: 'move-ticket' }>;

export type MoveEnding =
  | { state: 'ended'; move: TicketMove }
  | { state: 'given-up' | 'retrying'; error: Error };

export type TicketMoves = {
  /** The outbox's handler of `move-ticket`. */
  handle: (effect: MoveTicketEffect) => Promise<Outcome>;
  /** What came of the last attempt at an effect, by its key; undefined before the first. */
  endingOf: (key: string) => MoveEnding | undefined;
};

export function moveTicketHandler(
  mover: Pick<TicketMover, 'move'>,
  /** Appends a line once per delivery id. */
  append: (draft: EventDraft) => Promise<unknown>,
): TicketMoves {
  const endings = createMemory<MoveEnding>();
  /** Moved, but the log could not be written. */
  const untold = createMemory<TicketMove>();

  const carryOut = async ({ key, ticket, phase }: MoveTicketEffect): Promise<TicketMove> => {
    const move = untold.get(key) ?? (await mover.move(ticket, phase));
    if (move.outcome !== 'moved') return move;
    untold.set(key, move);
    const { from, to, stateId } = move;
    await append(
      draft(
        'workflow.ticket.state_moved',
        { ticket },
        { from, to, stateId, phase },
        { deliveryId: `outbox:${key}:moved` },
      ),
    );
    untold.delete(key);
    return move;
  };

  return {
    endingOf: endings.get,
    async handle(effect) {
      try {
        const move = await carryOut(effect);
        endings.set(effect.key, { state: 'ended', move });
        return { done: sentence(move) };
      } catch (thrown) {
        const error = asError(thrown);
        const isFinal = error instanceof TicketNotMoved && error.permanent;
        endings.set(effect.key, { state: isFinal ? 'given-up' : 'retrying', error });
        if (!(error instanceof TicketNotMoved)) throw error;
        const { message, remedy, permanent, retryAfterMs } = error;
        return { failed: [message, remedy ?? ''].join(' ').trim(), permanent, retryAfterMs };
      }
    },
  };
}

function sentence({ outcome, from, to, why, remedy }: TicketMove): string {
  const words = outcome === 'moved' ? `moved from ${from} to ${to}` : outcome;
  return `${words}: ${why}${remedy === null ? '' : `. ${remedy}`}`;
}

/** A map that forgets the oldest. */
function createMemory<Value>() {
  const values = new Map<string, Value>();
  return {
    get: (key: string): Value | undefined => values.get(key),
    delete: (key: string): void => void values.delete(key),
    set(key: string, value: Value): void {
      values.delete(key);
      values.set(key, value);
      const [oldest] = values.keys();
      if (values.size > KEPT && oldest !== undefined) values.delete(oldest);
    },
  };
}
