// A reader that puts together what changed has what a reader of the whole board has, at every line.
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
import type { BoardChanges } from '../../api/board.ts';
import { type Board, emptyBoard, foldLine } from '../board.ts';
import { putDeployment, putPullRequest, putWorker } from '../board-entities.ts';
import { randomTape } from '../testing/tape.ts';
import { type ChangeTracker, createChangeTracker } from './board-changes.ts';
import { boardKinds, boardView } from './board-view.ts';

const EVER = Number.MAX_SAFE_INTEGER;
const DAY_MS = 86_400_000;

/** Does as the web app: puts by key, takes away what is gone, begins anew when all of it comes. */
function createReader(tracker: ChangeTracker) {
  let after: number | undefined;
  const held = Object.fromEntries(boardKinds.map((kind) => [kind, new Map<string, object>()]));
  return {
    held,
    read(board: Board, settledMs = EVER): BoardChanges {
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
  test('readers that look whenever they like have all of it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), (seed) => {
        const random = createRandom(seed);
        const tape = randomTape(random, 120);
        const tracker = createChangeTracker();
        const readers = [createReader(tracker), createReader(tracker), createReader(tracker)];
        const board = emptyBoard();
        for (const line of tape) {
          foldLine(board, line);
          if (random.chance(0.03))
            letSomethingGo(board, random.pick(['deployments', 'pullRequests', 'tickets']));
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

  test('only what changed comes', () => {
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

/** As the bounds of the board do, which look at a hundred thousand lines at once. */
function letSomethingGo(board: Board, kind: 'deployments' | 'pullRequests' | 'tickets'): void {
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

/** As a line that was folded. */
function change(board: Board, how: () => void): void {
  how();
  board.seq += 1;
}

describe('a worker comes again with', () => {
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
    const { seq } = tracker.changes(board, undefined, EVER);
    change(board, () => how(board));
    const { workers, full } = tracker.changes(board, seq, EVER);
    expect(full).toBe(false);
    expect(workers.map(({ key }) => key)).toEqual(keys);
  });
});

test('nothing changed: nothing comes', () => {
  const board = shipping();
  const tracker = createChangeTracker();
  const { seq } = tracker.changes(board, undefined, EVER);
  const changes = tracker.changes(board, seq, EVER);
  expect(changes).toMatchObject({ seq, full: false, workers: [], pullRequests: [], attention: [] });
  expect(Object.values(changes.gone).flat()).toEqual([]);
});

test.each([
  ['no line', undefined],
  ['the beginning', 0],
  ['a line of before it looked', 99],
  ['a line of another log', 101],
])('everything comes since %s', (_, after) => {
  const board = shipping();
  const tracker = createChangeTracker();
  tracker.changes(board, undefined, EVER);
  expect(tracker.changes(board, after, EVER)).toMatchObject({ full: true, seq: 100 });
});

test('everything comes of another board', () => {
  const tracker = createChangeTracker();
  tracker.changes(shipping(), undefined, EVER);
  expect(tracker.changes(shipping(), 100, EVER).full).toBe(true);
});

test('what is resolved is gone, for whoever had it', () => {
  const board = shipping();
  const tracker = createChangeTracker();
  const { seq, attention } = tracker.changes(board, undefined, EVER);
  const [id = ''] = attention.map(({ key }) => key);
  change(board, () => board.attention.delete(id));
  expect(tracker.changes(board, seq, EVER).gone.attention).toEqual([id]);
  change(board, () => board.attention.set(id, sampleAttention()));
  expect(tracker.changes(board, seq, EVER)).toMatchObject({
    attention: [{ key: id }],
    gone: { attention: [] },
  });
});

test('who has seen too little to know what went gets everything', () => {
  const board = shipping();
  const tracker = createChangeTracker(2);
  const { seq } = tracker.changes(board, undefined, EVER);
  for (const id of ['one', 'two', 'three']) {
    change(board, () => board.attention.set(id, sampleAttention({ id })));
    tracker.changes(board, seq, EVER);
    change(board, () => board.attention.delete(id));
    tracker.changes(board, seq, EVER);
  }
  expect(tracker.changes(board, seq, EVER).full).toBe(true);
  expect(tracker.changes(board, board.seq, EVER).full).toBe(false);
});

test('what has settled and is too old is left out, and gone when it was there', () => {
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

test('every entity has the key that it has on the board', () => {
  const board = shipping();
  const view = boardView(board, { all: true });
  for (const kind of boardKinds) expect(view[kind].map(({ key }) => key)).toEqual([...board[kind].keys()]);
  expect(view.workers[0]).toMatchObject({ pullRequest: 'acme/web#12', pullRequestKey: 'acme/web#12' });
});
