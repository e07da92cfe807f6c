import { expect, test } from 'vitest';
import { emptyBoard, foldLine } from '../board.ts';
import { runView } from './run-view.ts';

const ts = '2026-01-02T03:00:00.000Z';

function boardOf(...lines: [event: string, ticket: string | undefined, detail: object][]) {
  const board = emptyBoard();
  for (const [event, ticket, detail] of lines)
    foldLine(board, {
      event,
      source: 'orchestrator',
      via: 'local',
      scope: { orchestrator: 'run-1', ...(ticket !== undefined && { ticket }) },
      detail: { ...detail },
      seq: board.seq + 1,
      ts,
    });
  const run = board.runs.get('run-1');
  if (run === undefined) throw new Error('no run');
  return { board, run };
}

const signal = (ticket: string, more: object = {}) => ({
  signal: {
    ticket,
    orchestrator: 'run-1',
    workerName: ticket,
    status: 'implementing',
    phase: 1,
    startedAt: ts,
    updatedAt: ts,
    ...more,
  },
});

const begun: [string, undefined, object] = [
  'orchestrator.run.started',
  undefined,
  {
    plan: [['A-1', 'A-2'], ['A-3']],
    maxParallel: 2,
    project: '/web',
    base: 'main',
    workerCommand: '/a:b',
    workerModel: 'm',
  },
];

test('a run keeps the blockers, and no other values from the line', () => {
  const [event, , detail] = begun;
  const blockers = (blockedBy: unknown) =>
    boardOf([event, undefined, { ...detail, blockedBy }]).run.blockedBy;
  expect(blockers({ 'A-3': ['A-1', 7, 'A-2'] })).toEqual({ 'A-3': ['A-1', 'A-2'] });
  for (const wrong of [undefined, null, [], 'A-1', {}]) expect(blockers(wrong)).toBeNull();
});

test('every ticket of the plan, started or not, with its known values', () => {
  const { board, run } = boardOf(
    begun,
    ['orchestrator.wave.started', undefined, { wave: 1, tickets: ['A-1', 'A-2'] }],
    [
      'orchestrator.worker.dispatched',
      'A-1',
      signal('A-1', { cost: { usd: 0.5 }, pr: { number: 7, url: 'u' } }),
    ],
    [
      'orchestrator.worker.dispatched',
      'A-2',
      signal('A-2', { status: 'failed', error: 'no disk', cost: { usd: 1 } }),
    ],
    ['orchestrator.verification.failed', 'A-1', { summary: 'a test was switched off' }],
    ['orchestrator.verification.remediation_filed', 'A-1', { filedAs: 'A-9' }],
  );
  expect(runView(board, run, ts)).toMatchObject({
    orchestrator: 'run-1',
    state: 'running',
    project: '/web',
    maxParallel: 2,
    done: 0,
    tickets: 3,
    costUsd: 1.5,
    waited: { hours: 0, waiting: 0 },
    waves: [
      {
        wave: 1,
        state: 'started',
        tickets: [
          {
            ticket: 'A-1',
            status: 'implementing',
            pr: { number: 7, url: 'u' },
            verification: 'failed, filed as A-9',
            costUsd: 0.5,
          },
          { ticket: 'A-2', status: 'failed', error: 'no disk', verification: null },
        ],
      },
      { wave: 2, state: 'waiting', tickets: [{ ticket: 'A-3', status: null, since: null, pr: null }] },
    ],
  });
});

test('an external run has one wave with the tickets seen so far, and an unknown cost', () => {
  const { board, run } = boardOf(['orchestrator.worker.dispatched', 'A-1', signal('A-1')]);
  expect(runView(board, run, ts)).toMatchObject({
    state: 'unknown',
    project: null,
    maxParallel: null,
    costUsd: null,
    waves: [{ wave: 1, state: 'waiting', tickets: [{ ticket: 'A-1', status: 'implementing' }] }],
  });
});
