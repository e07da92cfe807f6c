import {
  mergedPullRequest,
  mergedWorker,
  sampleBoard,
  sampleMergeSha,
  sampleTime,
  until,
} from '@svc/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import { foldLine } from '../../board.ts';
import type { Worker } from '../../workers/worker.ts';
import { type DeadlineOptions, watchDeadlines } from './deadlines.ts';

const deadline = Date.parse(sampleTime('11:30'));

/** Workers, a clock, and a log that accepts a delivery once. */
function world(workers: Worker[], given: Partial<DeadlineOptions> = {}) {
  const state = { workers, now: deadline };
  const lines = new Map<string, EventDraft>();
  const asked: string[] = [];
  const failures: unknown[] = [];
  const watch = watchDeadlines({
    workers: () => state.workers,
    now: () => state.now,
    askAgain: async ({ key }) => void asked.push(key),
    append: async (draft) => void lines.set(draft.deliveryId ?? '', draft),
    onFailure: (error) => void failures.push(error),
    everyMs: 3_600_000,
    ...given,
  });
  onTestFinished(() => watch.stop());
  return { ...watch, state, lines, asked, failures };
}

test('a worker past its deadline is given up after the code host was asked', async () => {
  const { checkNow, lines, asked } = world([mergedWorker()]);
  await checkNow();
  expect(asked).toEqual(['run-1/ENG-1']);
  expect([...lines.values()]).toEqual([
    {
      event: 'orchestrator.deploy.timed_out',
      source: 'monitor',
      via: 'local',
      deliveryId: `deadline:run-1/ENG-1:${sampleTime('11:30')}`,
      scope: {
        orchestrator: 'run-1',
        ticket: 'ENG-1',
        worker: 'worker-ENG-1',
        repo: 'acme/web',
        branch: 'eng-1-login',
        pr: 12,
        mergeSha: sampleMergeSha,
        environment: 'production',
      },
      detail: { deadline: sampleTime('11:30'), timeoutSec: 1800, attempts: 0 },
    },
  ]);
});

test('the event makes it stalled, and it is not checked again', async () => {
  const board = sampleBoard({ workers: [mergedWorker()], pullRequests: [mergedPullRequest()] });
  const { checkNow, asked } = world([], {
    workers: () => board.workers.values(),
    append: async (draft) => foldLine(board, { ...draft, seq: board.seq + 1, ts: sampleTime('11:30') }),
  });
  await checkNow();
  expect(board.workers.get('run-1/ENG-1')).toMatchObject({
    status: 'stalled',
    deploy: { result: 'timeout' },
  });
  await checkNow();
  expect(asked).toHaveLength(1);
});

test.each<[string, Worker, number]>([
  ['before the deadline', mergedWorker(), deadline - 1],
  ['a clock that was set back', mergedWorker(), deadline - 86_400_000],
  ['done', mergedWorker({ status: 'done' }, { result: 'success' }), deadline],
  ['stalled already', mergedWorker({ status: 'stalled' }, { result: 'timeout' }), deadline],
  ['no deploy', { ...mergedWorker({ status: 'implementing' }), deploy: null }, deadline],
])('%s: nothing is asked and nothing is logged', async (_, worker, now) => {
  const { checkNow, state, lines, asked } = world([worker]);
  state.now = now;
  await checkNow();
  expect([asked, lines.size]).toEqual([[], 0]);
});

test.each<[string, (worker: Worker) => Worker[]]>([
  ['it shipped', (worker) => [{ ...worker, status: 'done' }]],
  ['a person retried it', () => [mergedWorker({}, { deadline: sampleTime('12:30') })]],
  ['it is gone', () => []],
])('the code host reports otherwise: %s', async (_, changed) => {
  const worker = mergedWorker();
  const seen = world([worker], {
    askAgain: async () => {
      seen.state.workers = changed(worker);
    },
  });
  await seen.checkNow();
  expect(seen.lines.size).toBe(0);
});

test('a code host that fails or hangs keeps no worker waiting', async () => {
  const refused = new Error('no network');
  const failing = world([mergedWorker()], { askAgain: () => Promise.reject(refused) });
  await failing.checkNow();
  expect(failing.lines.size).toBe(1);
  expect(failing.failures).toEqual([refused]);
  const hanging = world([mergedWorker()], { askAgain: () => new Promise(() => undefined), askWithinMs: 20 });
  await hanging.checkNow();
  expect(hanging.lines.size).toBe(1);
});

test('a log that cannot be written is tried again; one worker does not delay another', async () => {
  let full = true;
  const seen = world([mergedWorker(), mergedWorker({ key: 'run-1/ENG-2', ticket: 'ENG-2' })], {
    append: async (draft) => {
      if (full && draft.scope.ticket === 'ENG-1') throw new Error('disk full');
      seen.lines.set(draft.deliveryId ?? '', draft);
    },
  });
  await seen.checkNow();
  expect([...seen.lines.values()].map(({ scope }) => scope.ticket)).toEqual(['ENG-2']);
  expect(seen.failures).toHaveLength(1);
  full = false;
  await seen.checkNow();
  expect(seen.lines.size).toBe(2);
});

test('thirty deadlines that passed during a sleep, and a restart, make one event each', async () => {
  const workers = Array.from({ length: 30 }, (_, n) =>
    mergedWorker({ key: `run-1/ENG-${n}`, ticket: `ENG-${n}` }),
  );
  const first = world(workers);
  first.state.now = deadline + 8 * 3_600_000;
  await Promise.all([first.checkNow(), first.checkNow()]);
  expect(first.asked).toHaveLength(30);
  const second = world(workers, {
    append: async (draft) => void first.lines.set(draft.deliveryId ?? '', draft),
  });
  await second.checkNow();
  expect(first.lines.size).toBe(30);
});

test('it checks on its own, and stopping ends a request that is running', async () => {
  const askAgain = vi.fn<DeadlineOptions['askAgain']>(() => new Promise(() => undefined));
  const seen = world([mergedWorker()], { everyMs: 5, askAgain });
  await until(() => askAgain.mock.calls.length === 1);
  await seen.stop();
  expect(seen.lines.size).toBe(0);
  const looking = vi.fn<() => Worker[]>(() => []);
  const idle = world([], { everyMs: 5, workers: looking });
  await until(() => looking.mock.calls.length > 0);
  await idle.stop();
});
