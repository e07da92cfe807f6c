import type { WorkerStatus } from '@svc/contract/signal-file';
import { workerStatuses } from '@svc/contract/worker-statuses';
import {
  mergedPullRequest,
  mergedWorker,
  sampleAttention,
  sampleBoard,
  samplePullRequest,
  sampleTicket,
  sampleTime,
  sampleWorker,
} from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import type { AttentionItem } from '../attention/attention-item.ts';
import type { PullRequest } from '../pull-requests/pull-request.ts';
import type { Ticket } from '../tracker/ticket.ts';
import type { WorkerAgent } from '../workers/agent-fields.ts';
import type { Worker } from '../workers/worker.ts';
import {
  type BoardColumn,
  boardColumnNames,
  boardColumns,
  columnOfWorker,
  type OffBoard,
} from './board-columns.ts';
import { boardView } from './board-view.ts';

const dayStart = Date.parse(sampleTime('00:00'));
const now = Date.parse(sampleTime('12:00'));
const calm = { pullRequest: null, needsPerson: false, dayStart };
const dead = { state: 'dead', since: sampleTime('09:30'), seq: 12 } as const;

const columnOfStatus: Record<WorkerStatus, BoardColumn | OffBoard> = {
  dispatched: 'working',
  researching: 'working',
  planning: 'working',
  implementing: 'working',
  validating: 'working',
  shipping: 'working',
  'pr-created': 'in-review',
  merging: 'in-review',
  merged: 'shipping',
  deploying: 'shipping',
  'deploy-failed': 'shipping',
  done: 'done-today',
  failed: 'needs-you',
  stalled: 'needs-you',
  canceled: 'canceled',
};

describe('the column of a worker', () => {
  test.each(workerStatuses.map((status) => [status, columnOfStatus[status]] as const))(
    '%s alone is %s',
    (status, column) => expect(columnOfWorker(sampleWorker({ status }), calm)).toBe(column),
  );

  test.each(workerStatuses)('with an open item %s needs a person, unless it is canceled', (status) => {
    const column = columnOfWorker(sampleWorker({ status }), { ...calm, needsPerson: true });
    expect(column).toBe(status === 'canceled' ? 'canceled' : 'needs-you');
  });

  test.each<[string, Partial<Worker>, BoardColumn | OffBoard]>([
    ['done before midnight', { status: 'done', statusSince: '2026-01-01T23:59:59.999Z' }, 'earlier'],
    ['done at midnight', { status: 'done', statusSince: sampleTime('00:00') }, 'done-today'],
    ['its signal file was deleted', { status: 'stalled', removed: true }, 'removed'],
  ])('%s', (_what, given, column) => expect(columnOfWorker(sampleWorker(given), calm)).toBe(column));

  test('a merged pull request is shipping, even if the worker does not know it yet', () => {
    const worker = sampleWorker({ status: 'pr-created' });
    expect(columnOfWorker(worker, { ...calm, pullRequest: mergedPullRequest() })).toBe('shipping');
  });
});

function columnsOf(given: {
  workers?: Worker[];
  pullRequests?: PullRequest[];
  attention?: AttentionItem[];
  tickets?: Ticket[];
}) {
  return boardColumns({ ...boardView(sampleBoard(given), { all: true }), now, dayStart });
}

function keysOf(given: Parameters<typeof columnsOf>[0]): Partial<Record<BoardColumn, string[]>> {
  const { columns } = columnsOf(given);
  return Object.fromEntries(
    boardColumnNames
      .filter((name) => columns[name].length > 0)
      .map((name) => [name, columns[name].map(({ key }) => key)]),
  );
}

const agent: WorkerAgent = {
  attempt: 1,
  name: 'codex',
  version: null,
  protocol: true,
  reason: null,
  state: 'running',
  since: sampleTime('11:45'),
  sessionId: null,
  message: null,
  doing: null,
  mode: null,
  model: null,
  context: null,
  tokens: null,
  cost: null,
  costOf: 'process',
  open: [],
  limit: null,
  stopped: null,
  problem: null,
};
const failure = { deploymentId: 1, state: 'failure', failedAt: sampleTime('11:10') } as const;

describe('the state of a worker alone', () => {
  const claim = { status: 'pr-created' } as const;
  test.each<[string, Worker, PullRequest[], BoardColumn]>([
    ['dead during agent work', sampleWorker({ process: dead }), [], 'needs-you'],
    [
      'dead, and about to be restarted',
      sampleWorker({ process: { ...dead, reviving: true } }),
      [],
      'working',
    ],
    ['process state unknown', sampleWorker({ process: { ...dead, state: 'unknown' } }), [], 'working'],
    ['dead, but in review', sampleWorker({ ...claim, process: dead }), [samplePullRequest()], 'in-review'],
    ['dead, and its pull request was not seen', sampleWorker({ ...claim, process: dead }), [], 'needs-you'],
    ['its pull request was not seen yet', sampleWorker(claim), [], 'in-review'],
    ['not by a poll since either', sampleWorker({ ...claim, unseenSeq: 11 }), [], 'needs-you'],
    ['not by a poll before the claim', sampleWorker({ ...claim, unseenSeq: 9 }), [], 'in-review'],
    [
      'its pull request was closed',
      sampleWorker(claim),
      [samplePullRequest({ state: 'closed' })],
      'needs-you',
    ],
    ['dead, but deploying', sampleWorker({ status: 'deploying', process: dead }), [], 'shipping'],
    ['its agent works', sampleWorker({ agent }), [], 'working'],
    [
      'its agent asks for permission',
      sampleWorker({ agent: { ...agent, state: 'needs-permission' } }),
      [],
      'needs-you',
    ],
    [
      'its agent asks a question',
      sampleWorker({ agent: { ...agent, state: 'needs-input' } }),
      [],
      'needs-you',
    ],
    ['its agent has stopped', sampleWorker({ agent: { ...agent, state: 'idle' } }), [], 'needs-you'],
    ['failed', sampleWorker({ status: 'failed' }), [], 'needs-you'],
    ['stalled', sampleWorker({ status: 'stalled' }), [], 'needs-you'],
    ['deploying', mergedWorker({ status: 'deploying' }), [], 'shipping'],
    ['a deploy failed', mergedWorker({ status: 'deploy-failed' }, { attempts: [failure] }), [], 'needs-you'],
    ['the deadline passed', mergedWorker({ status: 'stalled' }, { result: 'timeout' }), [], 'needs-you'],
  ])('%s', (_what, worker, pullRequests, column) => {
    expect(keysOf({ workers: [worker], pullRequests })).toEqual({ [column]: [worker.key] });
  });

  const waiting = sampleWorker({ agent: { ...agent, state: 'needs-permission' } });
  test.each<[string, Partial<AttentionItem> | null]>([
    ['resolved', null],
    ['snoozed', { snoozedUntil: sampleTime('23:00') }],
    ['acknowledged', { acknowledged: { by: 'kim', at: sampleTime('11:50') } }],
    ['handed over', { handedOver: { to: 'mira', by: 'kim', at: sampleTime('11:50'), note: null } }],
  ])('an agent that waits stays in needs-you although its item is %s', (_what, item) => {
    const attention = item === null ? [] : [sampleAttention({ reason: 'agent-needs-permission', ...item })];
    const { columns } = columnsOf({ workers: [waiting], attention });
    expect(columns['needs-you'].map(({ key }) => key)).toEqual([waiting.key]);
    const [card] = columns['needs-you'];
    if (item === null) expect(card?.since).toBe(agent.since);
    expect(card).toMatchObject({ snoozedUntil: item?.snoozedUntil ?? null });
  });
});

describe('what needs a person', () => {
  const worker = sampleWorker({ status: 'deploying' });
  test.each<[string, Partial<AttentionItem>, BoardColumn]>([
    ['an item of its run', {}, 'needs-you'],
    ['an item of no run', { orchestrator: null }, 'needs-you'],
    ['one in another case', { ticket: 'eng-1' }, 'needs-you'],
    ['one that is acknowledged', { acknowledged: { by: 'kim', at: sampleTime('11:40') } }, 'needs-you'],
    ['one whose snooze is over', { snoozedUntil: sampleTime('12:00') }, 'needs-you'],
    ['one that is snoozed', { snoozedUntil: sampleTime('12:01') }, 'shipping'],
    ['one of another run', { orchestrator: 'run-2' }, 'shipping'],
    ['one of another ticket', { ticket: 'ENG-2' }, 'shipping'],
    ['one of a feed', { ticket: null, feed: 'codehost' }, 'shipping'],
  ])('%s', (_what, item, column) => {
    expect(keysOf({ workers: [worker], attention: [sampleAttention(item)] })).toEqual({
      [column]: [worker.key],
    });
  });

  test('the longest waiting is first, whatever the reason', () => {
    const workers = [
      sampleWorker({ ticket: 'ENG-1', status: 'failed', statusSince: sampleTime('10:00') }),
      sampleWorker({ ticket: 'ENG-2', status: 'deploying', statusSince: sampleTime('08:00') }),
      sampleWorker({ ticket: 'ENG-3', statusSince: sampleTime('08:00'), process: dead }),
    ];
    const attention = [
      sampleAttention({ ticket: 'ENG-2', openedAt: sampleTime('11:00') }),
      sampleAttention({ ticket: 'ENG-2', reason: 'later', openedAt: sampleTime('11:50'), openedSeq: 70 }),
    ];
    expect(keysOf({ workers, attention })).toEqual({
      'needs-you': ['run-1/ENG-3', 'run-1/ENG-1', 'run-1/ENG-2'],
    });
    const card = columnsOf({ workers, attention }).columns['needs-you'].at(-1);
    expect(card?.attention.map(({ reason }) => reason)).toEqual(['deploy-timeout', 'later']);
  });
});

describe('pull requests', () => {
  test('one with a worker is on the worker’s card', () => {
    const { columns } = columnsOf({
      workers: [sampleWorker({ status: 'pr-created', pr: { number: 12, url: null } })],
      pullRequests: [samplePullRequest({ repo: 'Acme/Web' })],
      tickets: [sampleTicket()],
    });
    expect(columns['in-review']).toMatchObject([
      { kind: 'worker', pullRequest: { number: 12 }, ticket: { title: 'Log in with a key' } },
    ]);
  });

  test.each<[string, Partial<PullRequest>, BoardColumn[]]>([
    ['open, with ticket and author', {}, ['in-review']],
    ['open, with an author alone', { ticket: null }, ['in-review']],
    ['open, with a ticket alone', { author: null }, ['in-review']],
    ['open, without ticket and author', { ticket: null, author: null }, []],
    ['merged', { state: 'merged' }, []],
    ['closed', { state: 'closed' }, []],
  ])('one without a worker: %s', (_what, given, columns) => {
    expect(Object.keys(keysOf({ pullRequests: [samplePullRequest(given)] }))).toEqual(columns);
  });

  test('one whose worker is off the board has its own card', () => {
    const workers = [sampleWorker({ status: 'canceled', pr: { number: 12, url: null } })];
    const attention = [sampleAttention()];
    expect(keysOf({ workers, pullRequests: [samplePullRequest()], attention })).toEqual({
      'in-review': ['acme/web#12'],
    });
  });

  test('one whose ticket needs a person is in needs-you', () => {
    const attention = [sampleAttention({ orchestrator: null })];
    expect(keysOf({ pullRequests: [samplePullRequest()], attention })).toEqual({
      'needs-you': ['acme/web#12'],
    });
  });
});

test('in other columns the newest is first, and the order is stable', () => {
  const worker = (ticket: string, time: string): Worker =>
    sampleWorker({ ticket, statusSince: sampleTime(time) });
  const workers = [worker('ENG-3', '09:00'), worker('ENG-1', '09:00'), worker('ENG-2', '10:00')];
  expect(keysOf({ workers })).toEqual({ working: ['run-1/ENG-2', 'run-1/ENG-1', 'run-1/ENG-3'] });
});

test('workers in no column are counted', () => {
  const workers = [
    sampleWorker({ ticket: 'ENG-1', status: 'canceled' }),
    sampleWorker({ ticket: 'ENG-2', removed: true }),
    sampleWorker({ ticket: 'ENG-3', status: 'done', statusSince: '2026-01-01T10:00:00.000Z' }),
    sampleWorker({ ticket: 'ENG-4', status: 'canceled' }),
  ];
  expect(columnsOf({ workers }).off).toEqual({ canceled: 2, removed: 1, earlier: 1 });
});
