// The public interface of the state follower, which follows the log and holds the board.
import { backoffMs } from '@svc/lib/backoff';
import { messageOf } from '@svc/lib/errors';
import type { EventLine } from '../log/event-line.ts';
import type { EventLog } from '../log/event-log.ts';
import type { Effect } from '../outbox/effect.ts';
import type { Board } from './board.ts';
import type { BoardRules } from './board-rules.ts';
import type { SnapshotStore } from './snapshot-store.ts';

type StateProgress = {
  /** The last folded line, and the log's last line. */
  seq: number;
  logSeq: number;
  ready: boolean;
  /** The last line whose effects the outbox has, and how many effects wait for it. */
  cursor: number;
  backlog: number;
  snapshotSeq: number;
  /** Lines on which a rule threw; they are not in the board. */
  brokenLines: number;
  /** Why it is degraded; null when it is not. */
  degraded: string | null;
};

export type StateChange = { board: Board; lines: readonly EventLine[] };

export type StateFollower = {
  /** The live board. Callers must not change it, nor keep its maps beyond the current turn of the event loop. */
  board: () => Board;
  /** Resolves when all lines from before the start are folded; rejects when it is stopped first. */
  ready: Promise<void>;
  /** Resolves when this line is folded; rejects when it is stopped first. */
  reached: (seq: number) => Promise<void>;
  progress: () => StateProgress;
  /** Called after lines were folded, once it is live; returns a function that unsubscribes. */
  onChange: (listener: (change: StateChange) => void) => () => void;
  /** Passes on what waits, and takes a last snapshot if many lines were folded since the previous one. */
  stop: () => Promise<void>;
};

export type StateOptions = {
  log: Pick<EventLog, 'subscribe' | 'lastSeq'>;
  snapshots: SnapshotStore;
  outbox: EffectTaker;
  now: () => number;
  onFailure: (error: unknown) => void;
  snapshotEvery?: number;
  rules: BoardRules;
  retryMs?: (failures: number) => number;
  /** Effects that may wait in memory while the outbox fails. */
  mostWaiting?: number;
};

// Passes the effects of folded lines to the outbox, together with the cursor (the last line whose effects it has): both
// in one transaction, so a crash can neither lose an effect nor pass it on twice. Its modes:
// - working: effects are passed on a batch at a time.
// - failing: the outbox could not store a batch. It is retried with increasing delays; meanwhile effects wait in memory,
//   up to a limit at which folding has to wait (`waitForSpace`).

export type EffectTaker = {
  /** Stores the effects and the cursor, both or neither; throws when it cannot. */
  accept: (effects: readonly Effect[], cursor: number) => unknown;
  /** The last line whose effects are stored. */
  cursor: () => number;
};

export type EffectQueue = {
  add: (effects: readonly Effect[], seq: number) => void;
  /** Passes on what waits. Moves a cursor without effects only now and then, unless it must. */
  flush: (must?: boolean) => void;
  /** Resolves when there is space for more effects. */
  waitForSpace: () => Promise<void>;
  /** The last line whose effects were passed on. */
  cursor: () => number;
  backlog: () => number;
  failing: () => string | null;
  /** Tries once more; what is refused then is derived from the log again at the next start. */
  stop: () => void;
};

/** Effects that may wait in memory. */
const MOST_WAITING = 4_096;
/** Lines without effects after which the cursor moves anyway: at most this many are folded twice. */
const IDLE_LINES = 1_024;

export function createEffectQueue({
  outbox,
  from,
  onFailure,
  mostWaiting = MOST_WAITING,
  retryMs = (failures) => backoffMs(failures, 0.5),
}: {
  outbox: Pick<EffectTaker, 'accept'>;
  from: number;
  /** Called for the first failure in a row. */
  onFailure: (error: unknown) => void;
  mostWaiting?: number;
  retryMs?: (failures: number) => number;
}): EffectQueue {
  let cursor = from;
  let waiting: Effect[] = [];
  let waitingTo = from;
  let failing: string | null = null;
  let failures = 0;
  let retry: NodeJS.Timeout | null = null;
  let stopped = false;
  let waiters: (() => void)[] = [];

  function attempt(): void {
    retry = null;
    try {
      outbox.accept(waiting, waitingTo);
    } catch (error) {
      failing = messageOf(error);
      if (failures === 0) onFailure(error);
      if (!stopped) retry = setTimeout(attempt, retryMs(failures));
      failures += 1;
      return;
    }
    cursor = waitingTo;
    waiting = [];
    failing = null;
    failures = 0;
    for (const resolve of waiters) resolve();
    waiters = [];
  }

  return {
    add(effects, seq) {
      if (seq <= waitingTo) return;
      waiting.push(...effects);
      waitingTo = seq;
    },
    flush(must = false) {
      if (retry !== null || waitingTo === cursor) return;
      if (must || waiting.length > 0 || waitingTo - cursor >= IDLE_LINES) attempt();
    },
    waitForSpace: () =>
      stopped || waiting.length < mostWaiting
        ? Promise.resolve()
        : new Promise((resolve) => waiters.push(resolve)),
    cursor: () => cursor,
    backlog: () => waiting.length,
    failing: () => failing,
    stop() {
      stopped = true;
      if (retry !== null) clearTimeout(retry);
      if (waitingTo > cursor) attempt();
      for (const resolve of waiters) resolve();
      waiters = [];
    },
  };
}
