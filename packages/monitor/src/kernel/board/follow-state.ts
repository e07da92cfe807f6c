// Folds every line of the log into the board, and passes the effects that lines cause to the outbox, each once.
// Its modes:
// - loading: finds the newest snapshot that belongs to this log and whose effects the outbox has. At start.
// - catching up: folds the lines from before the start. Up to the outbox's cursor their effects are dropped, because the
//   outbox has them; beyond it they are passed on. Ends when `ready` resolves.
// - live: folds lines as they become durable.
// - degraded, beside any of these: the database cannot be written or the log cannot be read. `progress` gives the reason;
//   the board continues while there is space for effects, and everything is retried.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf } from '@svc/lib/errors';
import { createProgress } from '@svc/lib/progress';
import { createRetries } from '@svc/lib/retry';
import type { EventLine } from '../log/event-line.ts';
import type { LogEntry } from '../log/log-entry.ts';
import type { Board } from './board.ts';
import { type BoardRules, foldOrSkip } from './board-rules.ts';
import { type BoardAtSeq, loadBoard, type SnapshotMark, type SnapshotStore } from './snapshot-store.ts';
import {
  createEffectQueue,
  type EffectQueue,
  type StateChange,
  type StateFollower,
  type StateOptions,
} from './state-follower.ts';

// Takes a snapshot of the board at regular intervals, beside the folding. One that cannot be stored is dropped; the next
// is tried a minute later.

const RETRY_MS = 60_000;

type SnapshotTaker = {
  isDue: (seq: number) => boolean;
  /** Takes the picture immediately and stores it in the background, after the previous one. */
  take: (board: Board, mark: SnapshotMark) => void;
  /** Resolves when nothing is being stored. */
  idle: () => Promise<void>;
  lastSeq: () => number;
  failing: () => string | null;
};

function createSnapshotTaker({
  snapshots,
  rules,
  every,
  from,
  now,
  onFailure,
}: {
  snapshots: Pick<SnapshotStore, 'save'>;
  rules: Pick<BoardRules, 'packBoard'>;
  every: number;
  /** The line of the newest existing snapshot. */
  from: number;
  now: () => number;
  onFailure: (error: unknown) => void;
}): SnapshotTaker {
  let lastSeq = from;
  let notBefore = Number.NEGATIVE_INFINITY;
  let failing: string | null = null;
  let storing = Promise.resolve();

  async function store(mark: SnapshotMark, packed: object, before: number): Promise<void> {
    try {
      await snapshots.save(mark, packed);
      failing = null;
    } catch (error) {
      if (failing === null) onFailure(error);
      failing = messageOf(error);
      lastSeq = before;
      notBefore = now() + RETRY_MS;
    }
  }

  return {
    isDue: (seq) => seq - lastSeq >= every && now() >= notBefore,
    take(board, mark) {
      const packed = rules.packBoard(board);
      const before = lastSeq;
      lastSeq = mark.seq;
      storing = storing.then(() => store(mark, packed, before));
    },
    idle: () => storing,
    lastSeq: () => lastSeq,
    failing: () => failing,
  };
}

/** Lines whose effects are passed on in one transaction, and how long folding them may take. */
const BATCH_LINES = 256;
const BATCH_MS = 50;
/** Lines since the last snapshot that justify another one when stopping. */
const WORTH_A_SNAPSHOT = 1_000;
/** The store keeps snapshots about this far apart: see its `widest`. */
const SNAPSHOT_EVERY = 10_000;
const READ_AGAIN_MS = 1_000;

export function followState(options: StateOptions): StateFollower {
  const { log, snapshots, outbox, now, onFailure, rules } = options;
  const every = options.snapshotEvery ?? SNAPSHOT_EVERY;
  const stopped = new AbortController();
  /** Below 0 until it is known where folding starts. */
  const folded = createProgress(-1, 'The state follower has stopped');
  const listeners = new Set<(change: StateChange) => void>();
  const lastSeqAtStart = log.lastSeq();
  let current: BoardAtSeq = { board: rules.emptyBoard(), seq: 0 };
  let last: EventLine | null = null;
  let brokenLines = 0;
  const retries = createRetries({ pauseMs: READ_AGAIN_MS, signal: stopped.signal, onFailure });
  let queue: EffectQueue | null = null;
  let taker: SnapshotTaker | null = null;
  let isLive = false;

  async function load(): Promise<void> {
    // A log that was cut gives its numbers to new lines, whose effects are not in the outbox.
    const cursor = Math.min(outbox.cursor(), log.lastSeq());
    const loaded = await loadSnapshot(cursor);
    if (stopped.signal.aborted) return;
    current = loaded;
    const { retryMs, mostWaiting } = options;
    queue = createEffectQueue({
      outbox,
      from: cursor,
      onFailure,
      ...(retryMs && { retryMs }),
      ...(mostWaiting !== undefined && { mostWaiting }),
    });
    taker = createSnapshotTaker({ snapshots, rules, every, from: loaded.seq, now, onFailure });
    folded.reach(loaded.seq);
  }

  /** Without a readable store the whole log is folded: slower, with the same result. */
  async function loadSnapshot(cursor: number): Promise<BoardAtSeq> {
    try {
      snapshots.removeAfter(log.lastSeq());
      return await loadBoard({ log, snapshots, rules, limit: { seq: cursor } });
    } catch (error) {
      onFailure(error);
      return { board: rules.emptyBoard(), seq: 0 };
    }
  }

  async function follow(): Promise<void> {
    const { signal } = stopped;
    for await (const entries of log.subscribe({ after: current.seq, whenSlow: 'read-file', signal })) {
      // Callers that wait for these lines to be durable go first.
      await nextTurn();
      fold(entries);
      retries.noteProgress();
      notifyListeners(entries);
      await queue?.waitForSpace();
      await snapshotIfDue();
      if (signal.aborted) return;
    }
  }

  function fold(entries: readonly LogEntry[]): void {
    let lines = 0;
    let began = performance.now();
    for (const { line } of entries) {
      queue?.add(foldOrSkip(rules, current.board, line, noteBroken), line.seq);
      current.seq = line.seq;
      last = line;
      lines += 1;
      if (lines < BATCH_LINES && performance.now() - began < BATCH_MS) continue;
      queue?.flush();
      lines = 0;
      began = performance.now();
    }
    queue?.flush();
    folded.reach(current.seq);
  }

  function noteBroken(error: unknown): void {
    brokenLines += 1;
    onFailure(error);
  }

  function notifyListeners(entries: readonly LogEntry[]): void {
    isLive ||= current.seq >= lastSeqAtStart;
    if (!isLive || listeners.size === 0) return;
    const change = { board: current.board, lines: entries.map(({ line }) => line) };
    for (const listener of listeners) {
      try {
        listener(change);
      } catch (error) {
        onFailure(error);
      }
    }
  }

  async function snapshotIfDue(): Promise<void> {
    if (taker?.isDue(current.seq) !== true) return;
    await taker.idle();
    snapshot();
  }

  /** Only of lines whose effects the outbox has: a start never uses another. */
  function snapshot(): void {
    queue?.flush(true);
    if (last === null || queue === null || queue.cursor() < current.seq) return;
    taker?.take(current.board, { seq: current.seq, at: last.ts, lineId: last.id });
  }

  async function run(): Promise<void> {
    await retries.untilItWorks(load);
    await retries.untilItWorks(follow);
  }

  const running = run();
  const ready = folded.reached(lastSeqAtStart);
  // A caller that does not wait for it must not cause an unhandled rejection.
  ready.catch(() => undefined);

  return {
    board: () => current.board,
    ready,
    reached: folded.reached,
    progress: () => ({
      seq: current.seq,
      logSeq: log.lastSeq(),
      ready: current.seq >= lastSeqAtStart && queue !== null,
      cursor: queue?.cursor() ?? 0,
      backlog: queue?.backlog() ?? 0,
      snapshotSeq: taker?.lastSeq() ?? 0,
      brokenLines,
      degraded: retries.failing() ?? queue?.failing() ?? taker?.failing() ?? null,
    }),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async stop() {
      stopped.abort();
      queue?.stop();
      await running;
      folded.close();
      queue?.stop();
      if (taker !== null && current.seq - taker.lastSeq() >= Math.min(every, WORTH_A_SNAPSHOT)) snapshot();
      await taker?.idle();
    },
  };
}
