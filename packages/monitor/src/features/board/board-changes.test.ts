// A reader that applies changes has the same board as a reader of the whole board, at every line.

import {
  createRandom,
  mergedPullRequest,
  mergedWorker,
  sampleAttention,
  sampleBoard,
  sampleDeployment,
  sampleMergeSha,
  samplePullRequest,
  sampleTicket,
  sampleTime,
  sampleWorker,
} from '@svc/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Board } from '../../kernel/board/board.ts';
import { randomTape } from '../../kernel/board/testing/tape.ts';
import { emptyBoard, foldLine } from '../board.ts';
import { putDeployment } from '../deploy/slice.ts';
import { putPullRequest } from '../pull-requests/slice.ts';
import { putWorker } from '../workers/slice.ts';
import type { BoardChanges } from './api.ts';
import { type ChangeTracker, createChangeTracker } from './board-changes.ts';
import { boardView } from './board-view.ts';
import { boardKinds } from './kinds.ts';

const FOREVER = Number.MAX_SAFE_INTEGER;
const DAY_MS = 86_400_000;

/** Works like the web app: sets by key, deletes what is gone, and starts again with a full board. */
function createReader(tracker: ChangeTracker) {
  let after: number | undefined;
  const held = Object.fromEntries(boardKinds.map((kind) => [kind, new Map<string, object>()]));
  return {
    held,
    read(board: Board, settledMs = FOREVER): BoardChanges {
      const changes = tracker.changes(board, after, settledMs);
      after = changes.seq;
      for (const kind of boardKinds) {
        if (changes.full) held[kind]?.clear();
        for (const key of changes.gone[kind]) held[kind]?.delete(key);
        for (const entity of changes[kind]) held[kind]?.set(entity.key, entity);
      }
      return changes;
    },
  };
}

function whole(board: Board) {
  const view = boardView(board, { all: true });
  return Object.fromEntries(
    boardKinds.map((kind) => [kind, new Map(view[kind].map((entity) => [entity.key, entity as object]))]),
  );
}

describe('over random tapes', () => {
  test('readers have the whole board whenever they read', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), (seed) => {
        const random = createRandom(seed);
        const tape = randomTape(random, 120);
        const tracker = createChangeTracker();
        const readers = [createReader(tracker), createReader(tracker), createReader(tracker)];
        const board = emptyBoard();
        for (const line of tape) {
          foldLine(board, line);
          if (random.chance(0.03)) dropOne(board, random.pick(['deployments', 'pullRequests', 'tickets']));
          for (const reader of readers) {
            if (!random.chance(0.1)) continue;
            reader.read(board);
            expect(reader.held).toEqual(whole(board));
          }
        }
      }),
      { numRuns: 15 },
    );
  });

  test('only changes are returned', () => {
    const tape = randomTape(createRandom(11), 400);
    const board = emptyBoard();
    const reader = createReader(createChangeTracker());
    for (const line of tape.slice(0, 399)) foldLine(board, line);
    reader.read(board);
    const last = tape.at(-1);
    if (last !== undefined) foldLine(board, last);
    const changes = reader.read(board);
    expect(changes.full).toBe(false);
    expect(boardKinds.reduce((sum, kind) => sum + changes[kind].length, 0)).toBeLessThan(6);
  });
});

/** As the cleanup of the board does, which runs only every 10,000 lines. */
function dropOne(board: Board, kind: 'deployments' | 'pullRequests' | 'tickets'): void {
  const [key] = board[kind].keys();
  if (key !== undefined) board[kind].delete(key);
}

function shipping(): Board {
  return sampleBoard({
    workers: [mergedWorker(), sampleWorker({ key: 'run-1/ENG-2', ticket: 'ENG-2', branch: 'eng-2' })],
    pullRequests: [mergedPullRequest()],
    tickets: [sampleTicket()],
    attention: [sampleAttention()],
  });
}

/** Like a folded line. */
function change(board: Board, how: () => void): void {
  how();
  board.seq += 1;
}

describe('a worker is returned again with a change of', () => {
  test.each<[string, (board: Board) => void, string[]]>([
    [
      'its pull request',
      (board) => putPullRequest(board, mergedPullRequest({ title: 'new' })),
      ['run-1/ENG-1'],
    ],
    [
      'a pull request that now names its ticket',
      (board) => putPullRequest(board, samplePullRequest({ number: 13, ticket: 'eng-2', branch: 'other' })),
      ['run-1/ENG-2'],
    ],
    [
      'a pull request of its branch',
      (board) => putPullRequest(board, samplePullRequest({ number: 14, ticket: null, branch: 'eng-2' })),
      ['run-1/ENG-2'],
    ],
    ['its ticket', (board) => board.tickets.set('ENG-1', sampleTicket({ title: 'new' })), ['run-1/ENG-1']],
    [
      'a deployment of its merge',
      (board) =>
        putDeployment(
          board,
          sampleDeployment({
            sha: sampleMergeSha,
            states: [{ state: 'success', at: sampleTime('11:40'), seq: 101, via: 'live' }],
          }),
        ),
      ['run-1/ENG-1'],
    ],
    [
      'no deployment of another commit',
      (board) =>
        putDeployment(
          board,
          sampleDeployment({
            sha: 'b'.repeat(40),
            states: [{ state: 'success', at: sampleTime('11:40'), seq: 101, via: 'live' }],
          }),
        ),
      [],
    ],
  ])('%s', (_, how, keys) => {
    const board = shipping();
    const tracker = createChangeTracker();
    const { seq } = tracker.changes(board, undefined, FOREVER);
    change(board, () => how(board));
    const { workers, full } = tracker.changes(board, seq, FOREVER);
    expect(full).toBe(false);
    expect(workers.map(({ key }) => key)).toEqual(keys);
  });
});

test('without a change nothing is returned', () => {
  const board = shipping();
  const tracker = createChangeTracker();
  const { seq } = tracker.changes(board, undefined, FOREVER);
  const changes = tracker.changes(board, seq, FOREVER);
  expect(changes).toMatchObject({ seq, full: false, workers: [], pullRequests: [], attention: [] });
  expect(Object.values(changes.gone).flat()).toEqual([]);
});

test.each([
  ['no line', undefined],
  ['the beginning', 0],
  ['a line before the first read', 99],
  ['a line of another log', 101],
])('the whole board is returned since %s', (_, after) => {
  const board = shipping();
  const tracker = createChangeTracker();
  tracker.changes(board, undefined, FOREVER);
  expect(tracker.changes(board, after, FOREVER)).toMatchObject({ full: true, seq: 100 });
});

test('the whole board is returned for another board', () => {
  const tracker = createChangeTracker();
  tracker.changes(shipping(), undefined, FOREVER);
  expect(tracker.changes(shipping(), 100, FOREVER).full).toBe(true);
});

test('a resolved item is gone for readers that had it', () => {
  const board = shipping();
  const tracker = createChangeTracker();
  const { seq, attention } = tracker.changes(board, undefined, FOREVER);
  const [id = ''] = attention.map(({ key }) => key);
  change(board, () => board.attention.delete(id));
  expect(tracker.changes(board, seq, FOREVER).gone.attention).toEqual([id]);
  change(board, () => board.attention.set(id, sampleAttention()));
  expect(tracker.changes(board, seq, FOREVER)).toMatchObject({
    attention: [{ key: id }],
    gone: { attention: [] },
  });
});

test('a reader too far behind to know what is gone gets the whole board', () => {
  const board = shipping();
  const tracker = createChangeTracker(2);
  const { seq } = tracker.changes(board, undefined, FOREVER);
  for (const id of ['one', 'two', 'three']) {
    change(board, () => board.attention.set(id, sampleAttention({ id })));
    tracker.changes(board, seq, FOREVER);
    change(board, () => board.attention.delete(id));
    tracker.changes(board, seq, FOREVER);
  }
  expect(tracker.changes(board, seq, FOREVER).full).toBe(true);
  expect(tracker.changes(board, board.seq, FOREVER).full).toBe(false);
});

test('old settled entities are left out, and gone for readers that had them', () => {
  const board = shipping();
  const tracker = createChangeTracker();
  const old = sampleWorker({
    key: 'run-0/ENG-9',
    ticket: 'ENG-9',
    status: 'done',
    lastAt: '2025-12-30T12:00:00Z',
  });
  change(board, () => putWorker(board, old));
  expect(tracker.changes(board, undefined, DAY_MS).workers.map(({ key }) => key)).not.toContain(
    'run-0/ENG-9',
  );
  expect(tracker.changes(board, undefined, 7 * DAY_MS).workers.map(({ key }) => key)).toContain(
    'run-0/ENG-9',
  );
  const { seq } = board;
  change(board, () => putWorker(board, { ...old, name: 'renamed' }));
  const changes = tracker.changes(board, seq, DAY_MS);
  expect(changes.workers).toEqual([]);
  expect(changes.gone.workers).toEqual(['run-0/ENG-9']);
});

test('every entity has its key on the board', () => {
  const board = shipping();
  const view = boardView(board, { all: true });
  for (const kind of boardKinds) expect(view[kind].map(({ key }) => key)).toEqual([...board[kind].keys()]);
  expect(view.workers[0]).toMatchObject({ pullRequest: 'acme/web#12', pullRequestKey: 'acme/web#12' });
});
