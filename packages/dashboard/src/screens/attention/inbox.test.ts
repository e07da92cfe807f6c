import { sampleAttention, sampleTime } from '@svc/testkit';
import { isWaiting } from 'svc-monitor/src/features/board/board-columns.ts';
import { expect, test } from 'vitest';
import { inbox, isStanding, moved, needsYou, neighbour, tabOf } from './inbox.ts';

const now = Date.parse(sampleTime('12:00'));
const acknowledged = { by: 'kim', at: sampleTime('11:40') };
const handedOver = { to: 'mira', by: 'kim', at: sampleTime('11:40'), note: null };

test.each([
  ['waiting', {}],
  ['waiting', { snoozedUntil: sampleTime('12:00') }],
  ['taken', { acknowledged }],
  ['taken', { handedOver }],
  ['waiting', { handedOver, isForMe: true }],
  ['waiting', { handedOver: { ...handedOver, pending: true as const } }],
  ['snoozed', { snoozedUntil: sampleTime('12:01') }],
  ['snoozed', { snoozedUntil: sampleTime('12:01'), acknowledged }],
])('%s: %j', (tab, given) => {
  const item = { ...sampleAttention(), ...given };
  expect(tabOf(item, now)).toBe(tab);
  expect(isWaiting(item, now)).toBe(tab === 'waiting');
});

test('the most urgent items come first, then those open longest', () => {
  const items = [
    sampleAttention({ ticket: 'A', severity: 'low', openedSeq: 1 }),
    sampleAttention({ ticket: 'B', severity: 'custom', openedSeq: 1 }),
    sampleAttention({ ticket: 'C', severity: 'high', openedSeq: 9 }),
    sampleAttention({ ticket: 'D', severity: 'high', openedSeq: 8 }),
    sampleAttention({ ticket: 'E', severity: 'medium', openedSeq: 1 }),
  ];
  expect(inbox(items, now).waiting.map(({ ticket }) => ticket)).toEqual(['D', 'C', 'E', 'A', 'B']);
});

type Worker = Parameters<typeof needsYou>[0];
const worker = (needs: string[]): Worker =>
  ({ ticket: 'ENG-1', orchestrator: 'run-1', needs }) as unknown as Worker;

test.each([
  [['agent-needs-permission'], [], true],
  [['agent-needs-permission'], [{ snoozedUntil: sampleTime('13:00') }], true],
  [[], [{ acknowledged }], true],
  [[], [{ snoozedUntil: sampleTime('13:00') }], false],
  [[], [], false],
])('a worker with the needs %j and the items %j needs a person: %s', (needs, given, expected) => {
  const items = given.map((item) => ({ ...sampleAttention(item), key: 'a' }));
  const attention = new Map(items.map((item) => [item.id, item]));
  expect(needsYou(worker(needs), { attention }, now)).toBe(expected);
});

test.each([
  [['deploy-timeout'], 'deploy-timeout', true],
  [[], 'deploy-timeout', false],
  [['deploy-timeout'], 'rule-slow', false],
])('a worker with the needs %j keeps the item %s open: %s', (needs, reason, expected) => {
  const workers = new Map([['run-1/ENG-1', worker(needs)]]);
  const board = { workers, sessions: new Map(), feeds: new Map() };
  expect(isStanding(sampleAttention({ reason }), board)).toBe(expected);
});

test('j and k', () => {
  const ids = ['a', 'b', 'c'];
  expect(moved(ids, undefined, 1)).toBe('a');
  expect(moved(ids, 'a', 1)).toBe('b');
  expect(moved(ids, 'c', 1)).toBe('c');
  expect(moved(ids, 'a', -1)).toBe('a');
  expect(moved(ids, 'gone', 1)).toBe('a');
  expect(moved([], 'a', 1)).toBeUndefined();
});

test('the selection after an item was removed', () => {
  expect(neighbour(['a', 'b', 'c'], 'b')).toBe('c');
  expect(neighbour(['a', 'b', 'c'], 'c')).toBe('b');
  expect(neighbour(['a'], 'a')).toBeUndefined();
});
