// Executes the effects in the outbox. A row is:
// - waiting: not due yet, after an earlier one with the same order key, or for a slot of its lane. Ends when it is due
//   and the lane has a slot; other lanes never delay it.
// - running: its handler is working. Ends with the handler's result or after 30 s.
// - retrying: waiting again after a failure, longer each time, at most five minutes.
// - done, or given up: after a permanent failure, or after too many attempts. Giving up is reported.
// After a kill at any point the row is still pending and is executed again: handlers are idempotent.
import { messageOf } from '@svc/lib/errors';
import { type Handlers, handlerFor, type OutboxClock, type Outcome, startAttempt } from './attempt.ts';
import { type Lane, laneSlots, lanes } from './effect.ts';
import { isTimeToGiveUp, laneOf, retryWaitMs } from './outbox-rules.ts';
import {
  noFigures,
  type OutboxFigures,
  type OutboxRow,
  type OutboxStore,
  outboxFigures,
} from './outbox-store.ts';

// An effect that was given up needs a person, so it goes into the log. The row remembers that it was not reported yet, so
// a kill between giving up and reporting only delays it. Reporting twice is the same as once.

type GivenUpReporter = {
  /** Reports everything that is unreported, or joins the round that is running. */
  report: () => void;
  /** Stops reporting, and resolves when the current round has ended. */
  stop: () => Promise<void>;
};

function createGivenUpReporter({
  store,
  clock,
  random,
  onGaveUp,
  onTrouble,
}: {
  store: Pick<OutboxStore, 'unsent' | 'sent'>;
  clock: OutboxClock;
  random: () => number;
  onGaveUp: (row: OutboxRow, error: string) => Promise<void>;
  /** Why reporting fails, and null when it works. */
  onTrouble: (reason: string | null) => void;
}): GivenUpReporter {
  let round: Promise<void> | null = null;
  let again = false;
  let stopped = false;
  let failures = 0;
  let cancelRetry: (() => void) | null = null;

  async function reportAll(): Promise<void> {
    for (;;) {
      const [row] = stopped ? [] : store.unsent(1);
      if (row === undefined) return;
      await onGaveUp(row, row.lastError ?? 'unknown reason');
      store.sent(row.key);
    }
  }

  async function run(): Promise<void> {
    try {
      await reportAll();
      failures = 0;
      onTrouble(null);
    } catch (error) {
      failures += 1;
      onTrouble(`an effect was given up, but this could not be logged: ${messageOf(error)}`);
      if (!stopped) cancelRetry = clock.after(retryWaitMs(failures, random()), report);
    }
  }

  function report(): void {
    if (stopped) return;
    if (round !== null) {
      again = true;
      return;
    }
    cancelRetry?.();
    cancelRetry = null;
    round = run().finally(() => {
      round = null;
      if (!again) return;
      again = false;
      // After a failure its own timer retries.
      if (failures === 0) report();
    });
  }

  return {
    report,
    async stop() {
      stopped = true;
      cancelRetry?.();
      await round;
    },
  };
}

export type OutboxRunner = {
  start: () => void;
  /** Looks for work now: rows were accepted. */
  wake: () => void;
  /** The outcome of an effect, even one that is not accepted yet; its current state after `timeoutMs`. */
  settled: (key: string, timeoutMs: number) => Promise<Settled>;
  figures: () => OutboxFigures;
  /** Starts nothing more, and waits a little for what is running. The store may be closed afterwards. */
  stop: () => Promise<void>;
};

export type OutboxRunnerOptions = {
  store: OutboxStore;
  handlers: Handlers;
  clock: OutboxClock;
  random: () => number;
  /** Appends the attention event for a row; called again until it has succeeded once, even after a kill. */
  onGaveUp: (row: OutboxRow, error: string) => Promise<void>;
  onSettled?: (row: OutboxRow, settled: Settled) => void;
  /** The reason why the outbox itself cannot work (for example a full disk), and null when it works again. */
  onFailing?: (reason: string | null) => void;
  timeoutMs?: number;
  waitMs?: (attempts: number, random: number, askedMs?: number) => number;
};

/** A timer stands still while the machine sleeps, so it never runs for longer than this. */
const LONGEST_TIMER_MS = 60_000;
const TROUBLE_MS = 5_000;
const STOP_MS = 5_000;

export function createOutboxRunner({
  store,
  handlers,
  clock,
  random,
  onGaveUp,
  onSettled = () => undefined,
  onFailing = () => undefined,
  timeoutMs = 30_000,
  waitMs = retryWaitMs,
}: OutboxRunnerOptions): OutboxRunner {
  const running = new Map<string, { lane: Lane; abort: () => void; settled: Promise<void> }>();
  /** Keys and order keys whose handler has not ended, possibly after its timeout. */
  const held = new Set<string>();
  const waiters = createWaiters(clock.after);
  const troubles: { store: string | null; telling: string | null } = { store: null, telling: null };
  const reporter = createGivenUpReporter({
    store,
    clock,
    random,
    onGaveUp,
    onTrouble: (reason) => note('telling', reason),
  });
  let mode: 'new' | 'at work' | 'stopping' | 'stopped' = 'new';
  let paused = false;
  let wakeQueued = false;
  let cancelTimer: (() => void) | null = null;

  const failing = (): string | null => troubles.store ?? troubles.telling;
  const isStopped = (): boolean => mode === 'stopped';

  function note(what: keyof typeof troubles, reason: string | null): void {
    const before = failing();
    troubles[what] = reason;
    if (failing() !== before && !isStopped()) onFailing(failing());
  }

  /** The store failed. Rows in work are still pending; a pause keeps them from being retried immediately. */
  function pause(error: unknown): void {
    note('store', `the outbox cannot be read or written: ${messageOf(error)}`);
    paused = true;
    cancelTimer?.();
    cancelTimer = clock.after(TROUBLE_MS, () => {
      paused = false;
      startDue();
    });
  }

  function startDue(): void {
    if (mode !== 'at work' || paused) return;
    cancelTimer?.();
    cancelTimer = null;
    try {
      const now = clock.now();
      for (const lane of lanes) startLane(lane, now);
      const next = store.nextDueAfter(now);
      if (next !== null) cancelTimer = clock.after(Math.min(next - now, LONGEST_TIMER_MS), startDue);
      note('store', null);
    } catch (error) {
      pause(error);
    }
  }

  function startLane(lane: Lane, now: number): void {
    const taken = [...running.values()].filter((row) => row.lane === lane).length;
    const free = laneSlots[lane] - taken;
    if (free <= 0) return;
    for (const row of store
      .due(lane, now, free + held.size)
      .filter(isFree)
      .slice(0, free))
      startRow(row);
  }

  function wake(): void {
    if (wakeQueued) return;
    wakeQueued = true;
    queueMicrotask(() => {
      wakeQueued = false;
      startDue();
    });
  }

  function isFree({ key, orderKey }: OutboxRow): boolean {
    return !held.has(key) && !(orderKey !== null && held.has(orderKey));
  }

  function startRow(row: OutboxRow): void {
    const holds = row.orderKey === null ? [row.key] : [row.key, row.orderKey];
    for (const name of holds) held.add(name);
    const run = handlerFor(handlers, row);
    const attempt = startAttempt({ run, number: row.attempts + 1, timeoutMs, clock });
    const settled = settleAtEnd(row, attempt.end);
    running.set(row.key, { lane: laneOf(store.kinds, row.kind), abort: attempt.abort, settled });
    void letGo(holds, Promise.all([attempt.over, settled]));
  }

  async function settleAtEnd(row: OutboxRow, end: Promise<Outcome>): Promise<void> {
    const outcome = await end;
    running.delete(row.key);
    if (isStopped()) return;
    try {
      const settled = settle(row, outcome);
      if (settled !== null) {
        waiters.notify(row.key);
        onSettled(row, settled);
      }
    } catch (error) {
      pause(error);
    }
    wake();
  }

  async function letGo(holds: readonly string[], over: Promise<unknown>): Promise<void> {
    await over;
    for (const name of holds) held.delete(name);
    wake();
  }

  /** Stores the result of an attempt; returns null when the row is to be tried again. */
  function settle({ key, attempts, createdAt }: OutboxRow, outcome: Outcome): Settled | null {
    if ('done' in outcome) {
      store.finish(key, outcome.done);
      return { state: 'done', outcome: outcome.done };
    }
    const { failed, permanent = false, waiting = false, retryAfterMs } = outcome;
    const ended = attempts + 1;
    const now = clock.now();
    if (waiting) {
      store.hold(key, failed, now + waitMs(1, random(), retryAfterMs));
      return null;
    }
    if (permanent || isTimeToGiveUp({ attempts: ended, createdAt }, now)) {
      store.giveUp(key, failed);
      reporter.report();
      return { state: 'given-up', error: failed };
    }
    store.retry(key, failed, now + waitMs(ended, random(), retryAfterMs));
    return null;
  }

  /** The last ones that could be read: a database that is damaged while the daemon runs must not hide the rest of health. */
  let lastFigures: OutboxFigures | undefined;

  function figures(): OutboxFigures {
    try {
      lastFigures = outboxFigures(store, { running: running.size, failing: failing(), now: clock.now() });
      return lastFigures;
    } catch (error) {
      return { ...(lastFigures ?? noFigures), failing: `its database cannot be read: ${messageOf(error)}` };
    }
  }

  return {
    start() {
      if (mode !== 'new') return;
      mode = 'at work';
      reporter.report();
      wake();
    },
    wake,
    async settled(key, withinMs) {
      const before = settledOf(store.find(key));
      if (before.state === 'done' || before.state === 'given-up' || mode === 'stopping') return before;
      await waiters.wait(key, withinMs);
      return isStopped() ? before : settledOf(store.find(key));
    },
    figures,
    async stop() {
      if (mode === 'stopping' || mode === 'stopped') return;
      mode = 'stopping';
      cancelTimer?.();
      const ends = [...running.values()].map(({ settled }) => settled);
      const late = new Promise<void>((resolve) => {
        const cancel = clock.after(STOP_MS, resolve);
        void Promise.all([...ends, reporter.stop()])
          .finally(cancel)
          .then(() => resolve());
      });
      await late;
      for (const { abort } of running.values()) abort();
      waiters.notifyAll();
      mode = 'stopped';
    },
  };
}

// Lets a caller wait for one effect and report its outcome.

/** `unknown`: the outbox does not have this effect, or not yet. */
export type Settled =
  | { state: 'done'; outcome: string }
  | { state: 'given-up'; error: string }
  | { state: 'pending'; attempts: number; lastError: string | null }
  | { state: 'unknown' };

function settledOf(row: OutboxRow | null): Settled {
  if (row === null) return { state: 'unknown' };
  if (row.state === 'done') return { state: 'done', outcome: row.outcome ?? '' };
  if (row.state === 'given-up') return { state: 'given-up', error: row.lastError ?? '' };
  return { state: 'pending', attempts: row.attempts, lastError: row.lastError };
}

type Waiters = {
  /** Resolves when `notify` is called for the key, or after the timeout; then check again. */
  wait: (key: string, timeoutMs: number) => Promise<void>;
  notify: (key: string) => void;
  notifyAll: () => void;
};

function createWaiters(after: (milliseconds: number, call: () => void) => () => void): Waiters {
  const waiting = new Map<string, Set<() => void>>();

  function notify(key: string): void {
    for (const wake of waiting.get(key) ?? []) wake();
  }

  return {
    wait: (key, timeoutMs) =>
      new Promise((resolve) => {
        const wakes = waiting.get(key) ?? new Set();
        waiting.set(key, wakes);
        const wake = (): void => {
          cancel();
          wakes.delete(wake);
          if (wakes.size === 0 && waiting.get(key) === wakes) waiting.delete(key);
          resolve();
        };
        const cancel = after(timeoutMs, wake);
        wakes.add(wake);
      }),
    notify,
    notifyAll() {
      for (const key of waiting.keys()) notify(key);
    },
  };
}
