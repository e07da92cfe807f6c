// One number for what needs a person, wherever it is shown.
import { sampleAttention, sampleBoard, sampleTime, sampleWorker } from '@svc/testkit';
import { expect, test } from 'vitest';
import type { AttentionItem } from '../attention/attention-item.ts';
import type { Worker } from '../workers/worker.ts';
import type { BoardView } from './api.ts';
import { needsYouCount, whatNeedsYou } from './board-columns.ts';
import { boardView } from './board-view.ts';

const now = Date.parse(sampleTime('12:00'));
const acknowledged = { by: 'kim', at: sampleTime('11:00') };
const handedOver = { to: 'kim', by: 'mia', at: sampleTime('11:00'), note: null };
const session = (state: string) => ({ key: state, state }) as BoardView['sessions'][number];
const board = (
  attention: (Partial<AttentionItem> & { machine?: string; isForMe?: boolean })[],
  { workers = [], sessions = [] }: { workers?: Worker[]; sessions?: BoardView['sessions'] } = {},
) => ({
  ...boardView(sampleBoard({ workers }), { all: true }),
  attention: attention.map((one, index) => ({
    ...sampleAttention({ orchestrator: null, ticket: null, ...one }),
    id: `${index}`,
    key: `${index}`,
  })),
  sessions,
  now,
});

test('a session that waits counts once, with its item or without', () => {
  const sessions = [session('needs-permission'), session('needs-input'), session('running')];
  const count = { cards: 0, others: 2, total: 2 };
  expect(needsYouCount(board([{ session: 'needs-permission' }], { sessions }))).toEqual(count);
});

test('a session of another machine has the key of its record', () => {
  const sessions = [{ ...session('needs-input'), key: 'm2/session/claude/1', machine: 'm2' }];
  const item = { session: 'claude/1', machine: 'm2' };
  expect(needsYouCount(board([item], { sessions })).total).toBe(1);
});

test.each([
  ['a problem of svc itself', {}, 1],
  ['one that is snoozed', { snoozedUntil: sampleTime('13:00') }, 0],
  ['one whose snooze is over', { snoozedUntil: sampleTime('11:00') }, 1],
  ['one that somebody has', { acknowledged }, 0],
  ['one that is handed over', { handedOver }, 0],
  ['one that is handed over, and has not arrived', { handedOver: { ...handedOver, pending: true } }, 1],
  ['one that another machine handed over to this person', { handedOver, machine: 'm2', isForMe: true }, 1],
  ['one of a ticket without a card', { ticket: 'ENG-1' }, 1],
  ['one of a ticket without a card that somebody has', { ticket: 'ENG-1', acknowledged }, 0],
  ['one of a run that is not on the board', { ticket: 'ENG-1', orchestrator: 'run-9' }, 1],
  ['one of a session that does not wait', { session: 'claude/1' }, 1],
] as const)('without a card: %s', (_, item, others) =>
  expect(needsYouCount(board([item]))).toEqual({ cards: 0, others, total: others }),
);

const of = { ticket: 'ENG-1', orchestrator: 'run-1' };
test.each<[string, Partial<Worker>, Partial<AttentionItem>[], cards: number, others: number]>([
  ['one item is on its card', {}, [of], 1, 0],
  ['two items are on one card', {}, [of, { ...of, reason: 'rule-late' }], 1, 0],
  ['an item that somebody has stays on its card', {}, [{ ...of, acknowledged }], 1, 0],
  ['a failure needs no item', { status: 'failed' }, [], 1, 0],
  ['the item of another run has no card', {}, [{ ...of, orchestrator: 'run-9' }], 0, 1],
  ['a canceled worker has no card', { status: 'canceled' }, [of], 0, 1],
  ['a removed worker has no card', { removed: true }, [of], 0, 1],
])('%s', (_, worker, items, cards, others) =>
  expect(needsYouCount(board(items, { workers: [sampleWorker(worker)] }))).toEqual({
    cards,
    others,
    total: cards + others,
  }),
);

test('each waiting item is in exactly one of the things that need a person', () => {
  const items = [of, { ...of, acknowledged }, { ticket: 'ENG-1' }, { ticket: 'ENG-2' }, {}];
  const workers = [sampleWorker(), sampleWorker({ key: 'run-2/ENG-1', orchestrator: 'run-2' })];
  const things = whatNeedsYou(board(items, { workers }));
  expect(things.map((thing) => [thing.card?.key, thing.items.map(({ id }) => id)])).toEqual([
    ['run-1/ENG-1', ['0', '2']],
    ['run-2/ENG-1', []],
    [undefined, ['3']],
    [undefined, ['4']],
  ]);
});
