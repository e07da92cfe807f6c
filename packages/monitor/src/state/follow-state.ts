// Folds every line of the log into the board, and hands what lines ask for to the outbox, each effect once.
// Its modes:
// - loading: finds the newest snapshot that this log was at and whose effects the outbox has. At start.
// - catching up: folds the lines of before the start. Up to the outbox's cursor their effects are dropped,
//   because the outbox has them; beyond it they are handed over. Left when `ready` resolves.
// - live: folds lines as they become durable.
// - degraded, beside any of these: the database cannot be written or the log cannot be read. `progress` says
//   why; the board goes on while there is room for effects, and everything is tried again.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Board, EventLine } from '@svc/core';
import { messageOf } from '@svc/lib/errors';
import { createProgress } from '@svc/lib/progress';
import { untilItWorks } from '@svc/lib/retry';
import type { LogEntry } from '../log/log-entry.ts';
import { type BoardRules, boardRules, foldOrSkip } from './board-rules.ts';
import { type BoardAndPlace, loadBoard, type SnapshotMark, type SnapshotStore } from './snapshot-store.ts';
import {
  createEffectQueue,
  type EffectQueue,
  type StateChange,
  type StateFollower,
  type StateOptions,
} from './state-follower.ts';

// Takes a snapshot of the board every so many lines, beside the folding. One that cannot be stored is given
// up; the next is tried a minute later.

const RETRY_MS = 60_000;

type SnapshotTaker = {
  isDue: (seq: number) => boolean;
  /** Takes the picture at once and stores it in the background, after the one before. */
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
  /** The line of the newest snapshot there is. */
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

/** Lines whose effects are handed over in one transaction, and how long it may take to fold them. */
const BATCH_LINES = 256;
const BATCH_MS = 50;
/** Lines since the last snapshot for which it is worth another when stopping. */
const WORTH_A_SNAPSHOT = 1_000;
/** The store keeps snapshots so far apart: see its `widest`. */
const SNAPSHOT_EVERY = 10_000;
const READ_AGAIN_MS = 1_000;

export function followState(options: StateOptions): StateFollower {
  const { log, snapshots, outbox, now, onFailure, rules = boardRules } = options;
  const every = options.snapshotEvery ?? SNAPSHOT_EVERY;
  const stopped = new AbortController();
  /** Below 0 until it is known where the folding starts. */
  const folded = createProgress(-1, 'The state is not followed any more');
  const listeners = new Set<(change: StateChange) => void>();
  const lastSeqAtStart = log.lastSeq();
  let place: BoardAndPlace = { board: rules.emptyBoard(), seq: 0 };
  let last: EventLine | null = null;
  let brokenLines = 0;
  let failing: string | null = null;
  let queue: EffectQueue | null = null;
  let taker: SnapshotTaker | null = null;
  let isLive = false;

  /** Without it nothing can go on: tries again until it works or this is stopped. */
  function keepTrying<T>(work: () => Promise<T>): Promise<T | undefined> {
    const noted = async (): Promise<T> => {
      const result = await work();
      failing = null;
      return result;
    };
    return untilItWorks(noted, {
      pauseMs: READ_AGAIN_MS,
      signal: stopped.signal,
      onFailure(error) {
        if (failing === null) onFailure(error);
        failing = messageOf(error);
      },
    });
  }

  async function load(): Promise<void> {
    // A log that was cut gives its numbers to new lines, whose effects nobody has.
    const cursor = Math.min(outbox.cursor(), log.lastSeq());
    const loaded = await loadSnapshot(cursor);
    if (stopped.signal.aborted) return;
    place = loaded;
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

  /** Without a readable store the whole log is folded: slower, and just as right. */
  async function loadSnapshot(cursor: number): Promise<BoardAndPlace> {
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
    for await (const entries of log.subscribe({ after: place.seq, whenSlow: 'read-file', signal })) {
      // Whoever waits for these lines to be durable goes first.
      await nextTurn();
      fold(entries);
      failing = null;
      tell(entries);
      await queue?.waitForSpace();
      await snapshotIfDue();
      if (signal.aborted) return;
    }
  }

  function fold(entries: readonly LogEntry[]): void {
    let lines = 0;
    let began = performance.now();
    for (const { line } of entries) {
      queue?.add(foldOrSkip(rules, place.board, line, noteBroken), line.seq);
      place.seq = line.seq;
      last = line;
      lines += 1;
      if (lines < BATCH_LINES && performance.now() - began < BATCH_MS) continue;
      queue?.flush();
      lines = 0;
      began = performance.now();
    }
    queue?.flush();
    folded.reach(place.seq);
  }

  function noteBroken(error: unknown): void {
    brokenLines += 1;
    onFailure(error);
  }

  function tell(entries: readonly LogEntry[]): void {
    isLive ||= place.seq >= lastSeqAtStart;
    if (!isLive || listeners.size === 0) return;
    const change = { board: place.board, lines: entries.map(({ line }) => line) };
    for (const listener of listeners) {
      try {
        listener(change);
      } catch (error) {
        onFailure(error);
      }
    }
  }

  async function snapshotIfDue(): Promise<void> {
    if (taker?.isDue(place.seq) !== true) return;
    await taker.idle();
    snapshot();
  }

  /** Only of lines whose effects the outbox has: a start never uses another. */
  function snapshot(): void {
    queue?.flush(true);
    if (last === null || queue === null || queue.cursor() < place.seq) return;
    taker?.take(place.board, { seq: place.seq, at: last.ts, lineId: last.id });
  }

  async function run(): Promise<void> {
    await keepTrying(load);
    await keepTrying(follow);
  }

  const running = run();
  const ready = folded.reached(lastSeqAtStart);
  // Whoever does not wait for it has no use for the rejection.
  ready.catch(() => undefined);

  return {
    board: () => place.board,
    ready,
    reached: folded.reached,
    progress: () => ({
      seq: place.seq,
      logSeq: log.lastSeq(),
      ready: place.seq >= lastSeqAtStart && queue !== null,
      cursor: queue?.cursor() ?? 0,
      backlog: queue?.backlog() ?? 0,
      snapshotSeq: taker?.lastSeq() ?? 0,
      brokenLines,
      degraded: failing ?? queue?.failing() ?? taker?.failing() ?? null,
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
      if (taker !== null && place.seq - taker.lastSeq() >= Math.min(every, WORTH_A_SNAPSHOT)) snapshot();
      await taker?.idle();
    },
  };
}
