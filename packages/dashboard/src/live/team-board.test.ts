import { expect, test } from 'vitest';
import { emptyLiveBoard, type LiveBoard } from './board-store.ts';
import { teamBoard } from './team-board.ts';

const row = (key: string) => [key, { key, ticket: key }] as const;
const record = (machine: string, kind: string, key: string, value: object | null) =>
  [`${machine}/${kind}/${key}`, { key: `${machine}/${kind}/${key}`, machine, kind, value }] as const;

const board = {
  ...emptyLiveBoard,
  workers: new Map([row('run-1/ENG-1')]),
  attention: new Map([row('run-1/ENG-1/question')]),
  team: new Map([
    record('kim', 'worker', 'run-1/ENG-1', { key: 'run-1/ENG-1' }),
    record('kim', 'attention', 'run-1/ENG-1/question', { id: 'run-1/ENG-1/question' }),
    record('lou', 'worker', 'run-1/ENG-2', { key: 'run-1/ENG-2' }),
    record('lou', 'worker', 'run-1/ENG-3', null),
  ]),
} as unknown as LiveBoard;
const keys = (machine: string) => [...teamBoard(board, machine, 'self').workers.keys()];

test('rows of other machines have their machine and keep apart what has the same name', () => {
  const { workers, attention } = teamBoard(board, '', 'self');
  expect([...workers.keys()]).toEqual(['run-1/ENG-1', 'kim/worker/run-1/ENG-1', 'lou/worker/run-1/ENG-2']);
  expect(workers.get('run-1/ENG-1')).not.toHaveProperty('machine');
  expect(workers.get('kim/worker/run-1/ENG-1')).toMatchObject({ machine: 'kim' });
  expect([...attention.values()].map(({ id }) => id)).toEqual([
    undefined,
    'kim/attention/run-1/ENG-1/question',
  ]);
});

test('one machine', () => {
  expect(keys('lou')).toEqual(['lou/worker/run-1/ENG-2']);
  expect(keys('self')).toEqual(['run-1/ENG-1']);
  expect(keys('nobody')).toEqual([]);
});

test('a row is the same object until its record changes', () => {
  const [[key, before] = ['', undefined]] = [...teamBoard(board, 'lou', 'self').workers];
  expect(teamBoard({ ...board, seq: 2 }, '', 'self').workers.get(key)).toBe(before);
});
