// One number for what needs a person, wherever it is shown.
import { expect, test } from 'vitest';
import type { BoardView } from '../../api/board.ts';
import { needsYouCount } from './board-columns.ts';

const item = (more: object): BoardView['attention'][number] =>
  ({
    id: 'i',
    ticket: null,
    orchestrator: null,
    session: null,
    acknowledged: null,
    handedOver: null,
    snoozedUntil: null,
    openedSeq: 1,
    openedAt: '2026-01-02T10:00:00Z',
    ...more,
  }) as BoardView['attention'][number];
const now = Date.parse('2026-01-02T12:00:00Z');
const session = (state: string) => ({ key: state, state }) as BoardView['sessions'][number];
const board = (attention: BoardView['attention'], sessions: BoardView['sessions'] = []) => ({
  workers: [],
  pullRequests: [],
  tickets: [],
  attention,
  sessions,
  now,
});

test('a session that waits counts once, with its item or without', () => {
  const waiting = [session('needs-permission'), session('needs-input'), session('running')];
  expect(needsYouCount(board([item({ session: 'needs-permission' })], waiting))).toEqual({
    cards: 0,
    others: 2,
    total: 2,
  });
});

test.each([
  ['a problem of svc itself', item({}), 1],
  ['one that is snoozed', item({ snoozedUntil: '2026-01-02T13:00:00Z' }), 0],
  ['one whose snooze is over', item({ snoozedUntil: '2026-01-02T11:00:00Z' }), 1],
  ['one that somebody has', item({ acknowledged: { by: 'kim', at: '2026-01-02T11:00:00Z' } }), 0],
  ['one of a ticket is on its card', item({ ticket: 'ENG-1' }), 0],
])('%s', (_, one, count) => expect(needsYouCount(board([one])).total).toBe(count));
