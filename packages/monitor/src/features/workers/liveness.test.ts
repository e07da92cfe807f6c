import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { WorkerStatus } from '@svc/contract/signal-file';
import { type ProcessStart, type ReadProcessStarts, system } from '@svc/lib/system';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type EventFields, parseEventDraft } from '../../kernel/log/event-line.ts';
import { topics } from '../topics.ts';
import { createLiveness, type WatchedWorker } from './liveness.ts';
import { sampleSignal } from './testing/sample-signal.ts';

const processStartsHere = system.processStarts;

/** Runs until it is killed, or until this process ends. */
async function child(): Promise<ChildProcess & { pid: number; startedAt: number }> {
  const started = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  onTestFinished(() => void started.kill('SIGKILL'));
  const pid = started.pid ?? 0;
  const start = (await processStartsHere([pid])).get(pid);
  if (start?.state !== 'running') throw new Error('It is not running');
  return Object.assign(started, { pid, startedAt: start.startedAt });
}

const CONFIRM_MS = 1_000;

/** One worker, and a log that folds immediately, or only on demand. Time passes only in `settle`. */
function setUp(
  pid: number | null,
  pidStartedAt: string | number | null,
  processStarts: ReadProcessStarts = processStartsHere,
) {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  });
  onTestFinished(() => void vi.useRealTimers());
  const lines: EventFields[] = [];
  const worker: WatchedWorker = {
    orchestrator: 'orch-1',
    ticket: 'ENG-1',
    status: 'implementing',
    signal: sampleSignal({ pid, pidStartedAt, repo: 'acme/web' }),
    process: { state: 'unknown' },
    lastSeq: 0,
  };
  const state = { folds: true };
  const onProblem = vi.fn<(error: unknown) => void>();
  const liveness = createLiveness({
    workers: () => [worker],
    processStarts,
    now: () => new Date(),
    onProblem,
    everyMs: 60_000,
    confirmMs: CONFIRM_MS,
    async append(draft) {
      const parsed = parseEventDraft(topics, draft);
      if (!parsed.ok) throw new Error(parsed.problem);
      const seq = lines.push(draft);
      if (state.folds) {
        worker.process = { state: draft.event.endsWith('died') ? 'dead' : 'alive' };
        worker.lastSeq = seq;
      }
      return { seq };
    },
  });
  onTestFinished(() => liveness.stop());
  const reported = () => lines.map(({ event }) => event.replace('orchestrator.worker.', ''));
  /** A check that started earlier may still be running; the second one is new. */
  const check = async () => {
    await liveness.check();
    await liveness.check();
  };
  const settle = async () => {
    await check();
    vi.advanceTimersByTime(CONFIRM_MS);
    await check();
  };
  return { worker, state, lines, reported, check, settle, onProblem };
}

test('a real process: alive is not reported, its end is reported once, its return too', async () => {
  const first = await child();
  const { worker, lines, reported, settle } = setUp(first.pid, new Date(first.startedAt).toISOString());
  await settle();
  expect(reported()).toEqual([]);
  first.kill('SIGKILL');
  await once(first, 'exit');
  await settle();
  await settle();
  expect(reported()).toEqual(['died']);
  expect(lines[0]).toMatchObject({
    source: 'orchestrator',
    scope: { orchestrator: 'orch-1', ticket: 'ENG-1', repo: 'acme/web' },
    detail: { pid: first.pid, reason: `process ${first.pid} has ended`, lastSeenAt: expect.any(String) },
  });
  const second = await child();
  worker.signal = sampleSignal({ pid: second.pid, pidStartedAt: second.startedAt });
  await settle();
  await settle();
  expect(reported()).toEqual(['died', 'revived']);
});

test('a reused pid is not the worker', async () => {
  const other = await child();
  const { lines, reported, settle } = setUp(other.pid, new Date(other.startedAt - 60_000).toISOString());
  await settle();
  expect(reported()).toEqual(['died']);
  expect(lines[0]?.detail['reason']).toBe(`pid ${other.pid} is another process now`);
});

test.each([
  ['a start', 1e12],
  ['no start', null],
])(
  'a pid that is reused later, with %s in the file, is distinguished from the one that was seen',
  async (_name, at) => {
    const start: ProcessStart & { state: 'running' } = { state: 'running', startedAt: 1e12, mark: '1' };
    const { reported, settle } = setUp(5, at, async () => new Map([[5, { ...start }]]));
    await settle();
    expect(reported()).toEqual([]);
    // The clock was set: another time, the same process.
    start.startedAt += 3_600_000;
    await settle();
    expect(reported()).toEqual([]);
    start.mark = '2';
    await settle();
    expect(reported()).toEqual(['died']);
  },
);

test('a log that folds late gets no event twice', async () => {
  const found: { start: ProcessStart } = { start: { state: 'gone' } };
  const { worker, state, reported, settle } = setUp(5, null, async () => new Map([[5, found.start]]));
  state.folds = false;
  await settle();
  await settle();
  expect(reported()).toEqual(['died']);
  found.start = { state: 'running', startedAt: 0, mark: 'x' };
  await settle();
  worker.process = { state: 'dead' };
  worker.lastSeq = 1;
  await settle();
  expect(reported()).toEqual(['died', 'revived']);
});

test.each([
  'merged',
  'deploying',
  'deploy-failed',
  'done',
  'failed',
  'stalled',
  'canceled',
] as WorkerStatus[])('a worker that is %s may end', async (status) => {
  const { worker, reported, settle } = setUp(5, null, async () => new Map([[5, { state: 'gone' }]]));
  worker.status = status;
  await settle();
  expect(reported()).toEqual([]);
});

test('the final update of a worker that ends well may arrive a little later than its end', async () => {
  const { worker, reported, check, settle } = setUp(5, null, async () => new Map([[5, { state: 'gone' }]]));
  await check();
  worker.status = 'done';
  await settle();
  expect(reported()).toEqual([]);
});

test('no pid, a removed file, an unknown process, a failing check: nothing is reported', async () => {
  const without = setUp(null, null);
  await without.settle();
  const removed = setUp(5, null, async () => new Map([[5, { state: 'gone' }]]));
  removed.worker.removed = true;
  await removed.settle();
  const unknown = setUp(5, null, async () => new Map([[5, { state: 'unknown', problem: 'hidden' }]]));
  await unknown.settle();
  const failing = setUp(5, null, () => Promise.reject(new Error('no ps')));
  await failing.settle();
  expect([without, removed, unknown, failing].map(({ reported }) => reported())).toEqual([[], [], [], []]);
  expect(failing.onProblem).toHaveBeenCalledWith(new Error('no ps'));
});

test.each([0, 1, -1, -process.pid])(
  'process %i is neither alive nor dead: nothing is reported',
  async (pid) => {
    const { reported, settle, onProblem } = setUp(pid, null);
    await settle();
    expect([reported(), onProblem.mock.calls]).toEqual([[], []]);
  },
);
