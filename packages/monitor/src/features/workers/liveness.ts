// Checks whether the processes of working workers still run. Only changes are reported: the end of one that was not known
// to be dead, and the return of one that was. A worker whose process cannot be identified stays unknown.
import type { SignalFile, WorkerStatus } from '@svc/contract/signal-file';
import { isAgentsWork } from '@svc/contract/worker-statuses';
import { every } from '@svc/lib/rounds';
import type { ProcessStart, ReadProcessStarts } from '@svc/lib/system';
import type { EventDraft } from '../../kernel/log/event-line.ts';
import { isSameProcess } from './processes.ts';
import { type WorkerProcess, workerDied, workerRevived } from './signal-changes.ts';

/**
 * A worker that ends well writes its last update and exits; the update may still be on its way into the log. So an end is
 * reported only when it is still true after this time.
 */
const CONFIRM_MS = 1_000;
const TIMERS_MAY_BE_EARLY_MS = 5;

export type WatchedWorker = {
  orchestrator: string;
  ticket: string;
  status: WorkerStatus;
  /** The file is gone, so the expected state of the process is not known. */
  removed?: boolean;
  /** `pid` and `pidStartedAt` are in the file. */
  signal: SignalFile | null;
  process: { state: 'alive' | 'dead' | 'unknown' };
  /** The last folded line of the worker. */
  lastSeq: number;
};

type Finding = { alive: true } | { alive: false; reason: string } | null;
type Memory = {
  pid: number;
  /** The process when it was last proven to be the worker. */
  mark: string | null;
  lastSeenAt: string | null;
  goneSince: number | null;
  /** Logged, and perhaps not folded yet. */
  logged: { state: 'alive' | 'dead'; seq: number } | null;
};

export type Liveness = {
  /** Checks now, or joins a check that is already running. */
  check: () => Promise<void>;
  stop: () => Promise<void>;
};

export function createLiveness<Worker extends WatchedWorker>({
  workers,
  matters = ({ status }) => isAgentsWork(status),
  append,
  processStarts,
  willRevive = () => false,
  lastErrors = async () => '',
  now,
  onProblem,
  everyMs = 5_000,
  confirmMs = CONFIRM_MS,
}: {
  workers: () => Iterable<Worker>;
  /** Whether it makes a difference that the process of the worker has ended. */
  matters?: (worker: Worker) => boolean;
  append: (draft: EventDraft) => Promise<{ seq: number }>;
  processStarts: ReadProcessStarts;
  /** Whether a new process is about to be started for the worker. */
  willRevive?: (worker: WatchedWorker) => boolean;
  /** The end of its process's standard error. */
  lastErrors?: (worker: {
    orchestrator: string;
    ticket: string;
    since: string | undefined;
  }) => Promise<string>;
  now: () => Date;
  onProblem?: (error: unknown) => void;
  everyMs?: number;
  confirmMs?: number;
}): Liveness {
  const memories = new Map<string, Memory>();
  let confirmTimer: NodeJS.Timeout | null = null;
  let stopped = false;

  async function checkAll(): Promise<void> {
    const watched = new Map<string, WatchedWorker & { pid: number }>();
    for (const worker of workers()) {
      const pid = worker.signal?.pid;
      if (typeof pid === 'number' && matters(worker) && !worker.removed)
        watched.set(`${worker.orchestrator}/${worker.ticket}`, { ...worker, pid });
    }
    for (const key of memories.keys()) if (!watched.has(key)) memories.delete(key);
    if (watched.size === 0) return;
    const starts = await processStarts([...new Set([...watched.values()].map(({ pid }) => pid))]);
    for (const [key, worker] of watched) {
      const memory = memoryOf(key, worker.pid);
      const finding = judge(worker, memory, starts.get(worker.pid));
      if (finding !== null && !stopped) await reportChange(worker, memory, finding);
    }
  }

  function memoryOf(key: string, pid: number): Memory {
    const known = memories.get(key);
    if (known?.pid === pid) return known;
    // Another process: only what was logged about the worker still holds.
    const logged = known?.logged ?? null;
    const memory: Memory = { pid, mark: null, lastSeenAt: null, goneSince: null, logged };
    memories.set(key, memory);
    return memory;
  }

  function judge(
    { pid, signal }: WatchedWorker & { pid: number },
    memory: Memory,
    start?: ProcessStart,
  ): Finding {
    if (start === undefined || start.state === 'unknown') return null;
    if (start.state === 'gone') return { alive: false, reason: `process ${pid} has ended` };
    const same = start.mark === memory.mark || isSameProcess(start, signal?.pidStartedAt);
    // If the file does not contain its start, the process that was seen first is the worker.
    if (same === false || (same === null && memory.mark !== null))
      return { alive: false, reason: `pid ${pid} is another process now` };
    memory.mark = start.mark;
    memory.lastSeenAt = now().toISOString();
    return { alive: true };
  }

  async function reportChange(
    worker: WatchedWorker & { pid: number },
    memory: Memory,
    finding: NonNullable<Finding>,
  ): Promise<void> {
    if (memory.logged && memory.logged.seq <= worker.lastSeq) memory.logged = null;
    const known = memory.logged?.state ?? worker.process.state;
    const process: WorkerProcess = {
      pid: worker.pid,
      ...(memory.lastSeenAt && { lastSeenAt: memory.lastSeenAt }),
    };
    if (finding.alive) {
      memory.goneSince = null;
      if (known !== 'dead') return;
      const { seq } = await append(workerRevived(worker, process, worker.signal));
      memory.logged = { state: 'alive', seq };
      return;
    }
    if (known === 'dead') return;
    memory.goneSince ??= performance.now();
    if (performance.now() - memory.goneSince < confirmMs) return confirmLater();
    const reviving = willRevive(worker) && { willRevive: true };
    const { orchestrator, ticket, signal } = worker;
    const since = typeof signal?.pidStartedAt === 'string' ? signal.pidStartedAt : undefined;
    const stderr = await lastErrors({ orchestrator, ticket, since });
    const died = { ...process, reason: finding.reason, ...reviving, ...(stderr !== '' && { stderr }) };
    const { seq } = await append(workerDied(worker, died, signal));
    memory.logged = { state: 'dead', seq };
  }

  function confirmLater(): void {
    if (stopped || confirmTimer !== null) return;
    confirmTimer = setTimeout(() => {
      confirmTimer = null;
      void rounds.runNow();
    }, confirmMs + TIMERS_MAY_BE_EARLY_MS);
    confirmTimer.unref();
  }

  const rounds = every(everyMs, checkAll, (error) => onProblem?.(error));
  void rounds.runNow();
  return {
    check: rounds.runNow,
    async stop() {
      stopped = true;
      if (confirmTimer !== null) clearTimeout(confirmTimer);
      await rounds.stop();
    },
  };
}
