import { expect, test } from 'vitest';
import { type RunDetail, type RunRow, runModel, type WorkerRow, wavesOfRun } from './run-model.ts';

const at = '2026-11-09T10:00:00.000Z';
const run = (given: Partial<RunRow>): RunRow => ({
  key: 'run-1',
  orchestrator: 'run-1',
  name: 'Guest berths',
  state: 'running',
  startedAt: at,
  endedAt: null,
  tickets: ['A-1', 'A-2', 'A-3'],
  plan: null,
  blockedBy: null,
  maxParallel: 5,
  waves: [],
  lastSeq: 1,
  lastAt: at,
  ...given,
});
const worker = (ticket: string, given: Partial<WorkerRow>): [string, WorkerRow] => [
  `run-1/${ticket}`,
  {
    ticket,
    orchestrator: 'run-1',
    status: 'implementing',
    statusSince: at,
    wave: 1,
    pr: null,
    error: null,
    cost: { usd: 2, inputTokens: 100, outputTokens: 10 },
    process: { state: 'alive', since: at, seq: 1 },
    deploy: null,
    merge: null,
    attempts: 0,
    budget: 3,
    ...given,
  } as WorkerRow,
];
const none = { workers: new Map(), tickets: new Map(), pullRequests: new Map() };

test('waves come from the plan, each with its reported state', () => {
  const plan = { waves: [['A-1'], ['A-2', 'A-3']] } as RunRow['plan'];
  const waves = [{ wave: 1, state: 'completed', tickets: ['A-1'], seq: 1 }] as RunRow['waves'];
  expect(wavesOfRun(run({ plan, waves }))).toEqual([
    { wave: 1, state: 'completed', tickets: ['A-1'] },
    { wave: 2, state: null, tickets: ['A-2', 'A-3'] },
  ]);
});

test('without a plan, tickets without a wave are separate', () => {
  const waves = [
    { wave: 2, state: 'started', tickets: ['A-2'], seq: 3 },
    { wave: 1, state: 'completed', tickets: ['A-1'], seq: 1 },
  ] as RunRow['waves'];
  expect(wavesOfRun(run({ waves })).map(({ wave, tickets }) => [wave, tickets])).toEqual([
    [1, ['A-1']],
    [2, ['A-2']],
    [null, ['A-3']],
  ]);
});

test('it counts done and working tickets, those that need a person, and the cost', () => {
  const merge = { sha: 'a', at, seq: 2 };
  const workers = new Map([
    worker('A-1', { status: 'done', merge, process: { state: 'unknown', since: at, seq: 1 } }),
    worker('A-2', {}),
  ]);
  const model = runModel({
    run: run({}),
    view: null,
    board: { ...none, workers },
    needsYou: ({ ticket }) => ticket === 'A-2',
  });
  expect(model).toMatchObject({
    done: 1,
    working: 1,
    needYou: 1,
    costUsd: 4,
    tokens: { input: 200, output: 20 },
    waited: null,
    isManaged: false,
  });
  expect(model?.tickets[2]).toMatchObject({
    status: null,
    label: { meaning: 'unknown', words: 'Not started' },
  });
});

test('tickets that settled off the board come from the view', () => {
  const settled = {
    ticket: 'A-1',
    title: 'One',
    status: 'done',
    since: at,
    pr: null,
    verification: null,
    error: null,
    costEstimated: false,
    costPartial: false,
  };
  const view = {
    orchestrator: 'run-1',
    name: null,
    state: 'completed',
    startedAt: at,
    endedAt: at,
    project: '/p',
    maxParallel: 3,
    waves: [{ wave: 1, state: 'completed', tickets: [{ ...settled, costUsd: 3 }] }],
    done: 1,
    tickets: 1,
    costUsd: 3,
    costEstimated: false,
    costPartial: false,
    waited: { hours: 2, waiting: 0 },
    holds: [],
  } as RunDetail;
  const model = runModel({ run: null, view, board: none, needsYou: () => false });
  expect(model).toMatchObject({ state: 'completed', done: 1, costUsd: 3, isManaged: true, tokens: null });
  expect(model?.tickets[0]).toMatchObject({ title: 'One', worker: null });
  expect(runModel({ run: null, view: null, board: none, needsYou: () => false })).toBeNull();
});
