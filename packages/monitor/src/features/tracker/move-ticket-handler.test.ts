import { expect, test } from 'vitest';
import { type EventDraft, parseEventDraft } from '../../kernel/log/event-line.ts';
import type { Handlers } from '../../kernel/outbox/attempt.ts';
import { topics } from '../topics.ts';
import {
  type MoveTicketEffect,
  moveTicketHandler,
  type TicketMove,
  TicketNotMoved,
} from './io/move-ticket.ts';
import type { TicketPhase } from './ticket-phases.ts';

const moved: TicketMove = {
  outcome: 'moved',
  from: 'Backlog',
  to: 'Done',
  stateId: 'id-1',
  why: 'its phase is done',
  remedy: null,
};
const effect = (seq: number, phase: TicketPhase = 'done', ticket = 'ABC-1'): MoveTicketEffect => ({
  key: `${seq}:move-ticket:${ticket}`,
  seq,
  kind: 'move-ticket',
  ticket,
  phase,
});

/** A handler with scripted answers, one per move; it records requests and appended lines. */
function world(...answers: (TicketMove | Error)[]) {
  const asked: string[] = [];
  const appended: EventDraft[] = [];
  let broken: Error | undefined;
  const moves = moveTicketHandler(
    {
      async move(ticket, phase) {
        asked.push(`${ticket} ${phase}`);
        const answer = answers.shift() ?? moved;
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
    async (draft) => {
      if (broken) throw broken;
      appended.push(draft);
    },
  );
  return { moves, asked, appended, breakLog: (error: Error | undefined) => void (broken = error) };
}

test('it is a handler of the outbox', () => {
  const handlers: Handlers = { 'move-ticket': world().moves.handle };
  expect(handlers['move-ticket']).toBeDefined();
});

test('a move is written into the log, once by its delivery', async () => {
  const { moves, appended } = world();
  expect(await moves.handle(effect(7))).toEqual({ done: 'moved from Backlog to Done: its phase is done' });
  expect(appended).toEqual([
    {
      event: 'workflow.ticket.state_moved',
      source: 'monitor',
      via: 'local',
      deliveryId: 'outbox:7:move-ticket:ABC-1:moved',
      scope: { ticket: 'ABC-1' },
      detail: { from: 'Backlog', to: 'Done', stateId: 'id-1', phase: 'done' },
    },
  ]);
  expect(parseEventDraft(topics, appended[0]).ok).toBe(true);
});

test('a move that changed nothing is reported as such, and not logged', async () => {
  const { moves, appended } = world(
    { ...moved, outcome: 'already', why: 'it is there' },
    { ...moved, outcome: 'skipped', why: 'it is null', remedy: 'Set it.' },
  );
  expect(await moves.handle(effect(1))).toEqual({ done: 'already: it is there' });
  expect(await moves.handle(effect(2))).toEqual({ done: 'skipped: it is null. Set it.' });
  expect(appended).toEqual([]);
});

test('a log that cannot be written: the next try writes the line, and does not ask again', async () => {
  const { moves, asked, appended, breakLog } = world();
  breakLog(new Error('disk full'));
  await expect(moves.handle(effect(7))).rejects.toThrow('disk full');
  breakLog(undefined);
  await moves.handle(effect(7));
  expect(asked).toHaveLength(1);
  expect(appended).toHaveLength(1);
});

test('what the outbox needs to know about a failure, and the result of an effect', async () => {
  const down = new TicketNotMoved('tracker-quota-used-up', 'Too many.', 'Wait.', {
    permanent: false,
    retryAfterMs: 30_000,
  });
  const gone = new TicketNotMoved('tracker-error', 'No such ticket.', undefined, { permanent: true });
  const { moves } = world(down, gone, moved);
  const { key } = effect(7);
  expect(moves.endingOf(key)).toBeUndefined();
  expect(await moves.handle(effect(7))).toEqual({
    failed: 'Too many. Wait.',
    permanent: false,
    retryAfterMs: 30_000,
  });
  expect(moves.endingOf(key)).toEqual({ state: 'retrying', error: down });
  expect(await moves.handle(effect(7))).toMatchObject({ failed: 'No such ticket.', permanent: true });
  expect(moves.endingOf(key)).toEqual({ state: 'given-up', error: gone });
  await moves.handle(effect(7));
  expect(moves.endingOf(key)).toEqual({ state: 'ended', move: moved });
});

test('a bug is thrown, and retried', async () => {
  const { moves } = world(new TypeError('boom'));
  await expect(moves.handle(effect(7))).rejects.toThrow('boom');
  expect(moves.endingOf(effect(7).key)).toMatchObject({ state: 'retrying' });
});

test('only the newest endings are kept', async () => {
  const { moves } = world();
  await Promise.all(Array.from({ length: 501 }, (_, seq) => moves.handle(effect(seq + 1))));
  expect(moves.endingOf(effect(1).key)).toBeUndefined();
  expect(moves.endingOf(effect(501).key)).toMatchObject({ state: 'ended' });
});
