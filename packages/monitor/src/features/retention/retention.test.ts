import { workerStatuses } from '@svc/contract/worker-statuses';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Board } from '../../kernel/board/board.ts';
import { logged } from '../../kernel/board/testing/lines.ts';
import { emptyBoard, foldLine } from '../board.ts';
import {
  judgeRetention,
  type RetentionFacts,
  retentionOfArchive,
  retentionOfRun,
  retentionOfWorktree,
} from './retention.ts';

const DAY_MS = 86_400_000;
const START = Date.parse('2026-01-01T00:00:00.000Z');
const NOW = START + 40 * DAY_MS;
const old: RetentionFacts = {
  setting: 'svc.retention.runDays',
  days: 30,
  changedAt: NOW - 30 * DAY_MS,
  inUse: [],
  attention: [],
  unsaved: [],
};

test('only what is known to be old, unused and saved is removed', () => {
  expect(judgeRetention(old, NOW)).toEqual({
    remove: true,
    reason: 'unchanged for 30 d (svc.retention.runDays: 30)',
  });
  const kept: [Partial<RetentionFacts>, string][] = [
    [{ days: null }, 'svc.retention.runDays is null (never)'],
    [{ changedAt: NOW - 30 * DAY_MS + 1 }, 'younger than 30 d'],
    [{ changedAt: NOW + DAY_MS }, 'younger than 30 d'],
    [{ days: 0 }, 'younger than 0 d'],
    [{ days: Number.NaN }, 'younger'],
    [{ changedAt: null }, 'unknown: when it last changed'],
    [{ changedAt: Number.NaN }, 'unknown: when it last changed'],
    [{ inUse: null }, 'unknown: whether it is in use'],
    [{ inUse: ['the run is paused'] }, 'the run is paused'],
    [{ attention: null }, 'unknown: whether something about it needs attention'],
    [{ attention: ['run-1/ENG-1/worker-dead'] }, 'needs attention: run-1/ENG-1/worker-dead'],
    [{ unsaved: null }, 'unknown: whether something would be lost'],
    [{ unsaved: ['1 uncommitted change:'] }, 'would be lost: 1 uncommitted change'],
  ];
  for (const [facts, reason] of kept)
    expect(judgeRetention({ ...old, ...facts }, NOW)).toEqual({
      remove: false,
      reason: expect.stringContaining(reason),
    });
});

test('nothing is known about a run that is not on the board', () => {
  expect(retentionOfRun(emptyBoard(), 'run-1', NOW)).toEqual({
    changedAt: null,
    inUse: null,
    attention: null,
  });
  expect(retentionOfWorktree(emptyBoard(), { name: 'ENG-1', path: '/wt/ENG-1' }, NOW)).toMatchObject({
    changedAt: null,
    inUse: ['no run is known to have used it'],
  });
});

function mostly<One, Other>(usual: fc.Arbitrary<One>, rare: fc.Arbitrary<Other>): fc.Arbitrary<One | Other> {
  return fc.oneof({ weight: 5, arbitrary: usual }, { weight: 1, arbitrary: rare });
}

const anyWorker = fc.record({
  run: fc.constantFrom('run-1', 'run-2'),
  ticket: fc.constantFrom('ENG-1', 'ENG-2', 'ENG-3'),
  status: mostly(fc.constantFrom('done', 'failed', 'canceled'), fc.constantFrom(...workerStatuses)),
  pid: mostly(fc.constant(null), fc.constant(77)),
});
const anyWorld = fc.record({
  workers: fc.uniqueArray(anyWorker, {
    minLength: 1,
    maxLength: 5,
    selector: ({ run, ticket }) => `${run}/${ticket}`,
  }),
  ends: fc.record({
    'run-1': mostly(fc.constantFrom('completed', 'canceled'), fc.constantFrom('paused', 'none')),
    'run-2': mostly(fc.constantFrom('completed', 'canceled'), fc.constantFrom('paused', 'none')),
  }),
  attention: fc.array(
    fc.record({
      run: fc.constantFrom('run-1', 'run-2', null),
      ticket: fc.constantFrom('ENG-1', 'ENG-2', null),
    }),
    { maxLength: 1 },
  ),
  sessions: fc.array(
    fc.record({
      ticket: fc.constantFrom('ENG-1', 'ENG-3'),
      state: fc.constantFrom('running', 'idle', 'ended', 'unknown'),
    }),
    { maxLength: 1 },
  ),
  day: mostly(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 11, max: 39 })),
  unsaved: mostly(fc.constant([]), fc.constantFrom(['1 commit'], ['a rebase in progress'], null)),
});
type World = typeof anyWorld extends fc.Arbitrary<infer Value> ? Value : never;

function boardOf({ workers, ends, attention, sessions, day }: World): Board {
  const board = emptyBoard();
  const ts = new Date(START + day * DAY_MS).toISOString();
  const fold = (event: string, scope: object, detail: object, source = 'orchestrator'): void => {
    foldLine(board, {
      ...logged(board.seq + 1, event, { scope, detail: { ...detail } }),
      ts,
      source,
    } as never);
  };
  for (const run of ['run-1', 'run-2'] as const) {
    const own = workers.filter((worker) => worker.run === run);
    if (own.length === 0) continue;
    const tickets = own.map(({ ticket }) => ticket);
    fold('orchestrator.run.started', { orchestrator: run }, { tickets });
    for (const { ticket, status, pid } of own) {
      const scope = { orchestrator: run, ticket };
      const base = { ...scope, workerName: ticket, phase: 1, startedAt: ts, updatedAt: ts };
      const signal = { ...base, status, worktreePath: `/wt/${ticket}`, ...(pid !== null && { pid }) };
      fold('orchestrator.worker.status_changed', scope, { to: status, signal });
    }
    if (ends[run] !== 'none') fold(`orchestrator.run.${ends[run]}`, { orchestrator: run }, {});
  }
  for (const { run, ticket } of attention)
    fold(
      'comms.attention',
      { ...(run !== null && { orchestrator: run }), ...(ticket !== null && { ticket }) },
      { reason: 'look-here', message: 'Look.', severity: 'high' },
    );
  for (const { ticket, state } of sessions)
    fold(
      `session.${state}`,
      { session: 'claude/s-1' },
      { agent: 'claude', folder: `/wt/${ticket}/src`, known: 'hook' },
      'monitor',
    );
  return board;
}

test('no random world removes what is unsaved, in use, needs a person or is too young', () => {
  let removals = 0;
  fc.assert(
    fc.property(anyWorld, (world) => {
      const board = boardOf(world);
      const { workers, ends, attention, sessions, day, unsaved } = world;
      const judge = (facts: Omit<RetentionFacts, 'setting' | 'days' | 'unsaved'>): boolean =>
        judgeRetention({ ...old, ...facts, unsaved }, NOW).remove;
      const isOver = (run: 'run-1' | 'run-2'): boolean =>
        workers.every(
          (worker) => worker.run !== run || ['done', 'failed', 'canceled'].includes(worker.status),
        ) && ['completed', 'canceled'].includes(ends[run]);
      const isQuiet = (run: string, tickets: string[]): boolean =>
        attention.every((item) =>
          item.run === null ? item.ticket === null || !tickets.includes(item.ticket) : item.run !== run,
        );
      const isSafe = unsaved !== null && unsaved.length === 0 && 40 - day >= 30;
      for (const run of ['run-1', 'run-2'] as const) {
        if (!judge(retentionOfRun(board, run, NOW))) continue;
        removals += 1;
        const tickets = workers.filter((worker) => worker.run === run).map(({ ticket }) => ticket);
        expect(isSafe && isOver(run) && isQuiet(run, tickets)).toBe(true);
      }
      for (const ticket of ['ENG-1', 'ENG-2', 'ENG-3']) {
        if (!judge(retentionOfWorktree(board, { name: ticket, path: `/wt/${ticket}` }, NOW))) continue;
        removals += 1;
        const runs = workers.filter((worker) => worker.ticket === ticket).map(({ run }) => run);
        expect(isSafe && runs.length > 0 && runs.every((run) => isOver(run) && isQuiet(run, [ticket]))).toBe(
          true,
        );
        expect(attention.some((item) => item.ticket === ticket)).toBe(false);
        expect(sessions.some((one) => one.ticket === ticket && one.state !== 'ended')).toBe(false);
      }
    }),
    { numRuns: Number(process.env['RUNS'] ?? 2_000) },
  );
  // Otherwise nothing was tested.
  expect(removals).toBeGreaterThan(200);
});

test('an archive is kept while its run goes on or needs a person', () => {
  const world: World = {
    workers: [{ run: 'run-1', ticket: 'ENG-1', status: 'done', pid: null }],
    ends: { 'run-1': 'completed', 'run-2': 'none' },
    attention: [],
    sessions: [],
    day: 0,
    unsaved: [],
  };
  const judge = (board: Board): boolean =>
    judgeRetention({ ...old, ...retentionOfArchive(board, 'run-1', new Date(START).toISOString()) }, NOW)
      .remove;
  expect(judge(boardOf(world))).toBe(true);
  expect(judge(boardOf({ ...world, ends: { ...world.ends, 'run-1': 'paused' } }))).toBe(false);
  expect(judge(boardOf({ ...world, attention: [{ run: 'run-1', ticket: null }] }))).toBe(false);
});
