// Folds every line of the log into the board, and hands what lines ask for to the outbox, each effect once.
// Its modes:
// - loading: finds the newest snapshot that this log was at and whose effects the outbox has. At start.
// - catching up: folds the lines of before the start. Up to the outbox's cursor their effects are dropped,
//   because the outbox has them; beyond it they are handed over. Left when `ready` resolves.
// - live: folds lines as they become durable.
// - degraded, beside any of these: the database cannot be written or the log cannot be read. `progress` says
//   why; the board goes on while there is room for effects, and everything is tried again.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { EventLine } from '@svc/core';
import type { LogEntry } from '../log/log-entry.ts';
import { messageOf } from '../log/log-errors.ts';
import { boardRules, foldOrSkip } from './board-rules.ts';
import { createHandOver, type HandOver } from './hand-over.ts';
import { createLineWaiters } from './line-waiters.ts';
import { type BoardAndPlace, loadBoard } from './load-board.ts';
import type { StateChange, StateFollower, StateOptions } from './state-follower.ts';
import { createSnapshotTaker, type SnapshotTaker } from './take-snapshots.ts';

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
  const waiters = createLineWaiters();
  const listeners = new Set<(change: StateChange) => void>();
  const startOfLife = log.lastSeq();
  let place: BoardAndPlace = { board: rules.emptyBoard(), seq: 0 };
  let last: EventLine | null = null;
  let brokenLines = 0;
  let failing: string | null = null;
  let handOver: HandOver | null = null;
  let taker: SnapshotTaker | null = null;
  let isLive = false;

  /** Again and again until it works or this is stopped: without it nothing can go on. */
  async function untilItWorks<T>(work: () => T | Promise<T>): Promise<T | null> {
    while (!stopped.signal.aborted) {
      try {
        const result = await work();
        failing = null;
        return result;
      } catch (error) {
        if (failing === null) onFailure(error);
        failing = messageOf(error);
        // Rejects only when it is stopped, which ends the pause.
        await sleep(READ_AGAIN_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
      }
    }
    return null;
  }

  async function load(): Promise<void> {
    // A log that was cut gives its numbers to new lines, whose effects nobody has.
    const cursor = Math.min(outbox.cursor(), log.lastSeq());
    const loaded = await loadSnapshot(cursor);
    if (stopped.signal.aborted) return;
    place = loaded;
    const { retryMs, mostWaiting } = options;
    handOver = createHandOver({
      outbox,
      from: cursor,
      onFailure,
      ...(retryMs && { retryMs }),
      ...(mostWaiting !== undefined && { mostWaiting }),
    });
    taker = createSnapshotTaker({ snapshots, rules, every, from: loaded.seq, now, onFailure });
    waiters.reach(loaded.seq);
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
      await handOver?.room();
      await snapshotIfDue();
      if (signal.aborted) return;
    }
  }

  function fold(entries: readonly LogEntry[]): void {
    let lines = 0;
    let began = performance.now();
    for (const { line } of entries) {
      handOver?.add(foldOrSkip(rules, place.board, line, noteBroken), line.seq);
      place.seq = line.seq;
      last = line;
      lines += 1;
      if (lines < BATCH_LINES && performance.now() - began < BATCH_MS) continue;
      handOver?.flush();
      lines = 0;
      began = performance.now();
    }
    handOver?.flush();
    waiters.reach(place.seq);
  }

  function noteBroken(error: unknown): void {
    brokenLines += 1;
    onFailure(error);
  }

  function tell(entries: readonly LogEntry[]): void {
    isLive ||= place.seq >= startOfLife;
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
    handOver?.flush(true);
    if (last === null || handOver === null || handOver.cursor() < place.seq) return;
    taker?.take(place.board, { seq: place.seq, at: last.ts, lineId: last.id });
  }

  async function run(): Promise<void> {
    await untilItWorks(load);
    await untilItWorks(follow);
  }

  const running = run();
  const ready = waiters.reached(startOfLife);
  // Whoever does not wait for it has no use for the rejection.
  ready.catch(() => undefined);

  return {
    board: () => place.board,
    ready,
    reached: waiters.reached,
    progress: () => ({
      seq: place.seq,
      of: log.lastSeq(),
      ready: place.seq >= startOfLife && handOver !== null,
      cursor: handOver?.cursor() ?? 0,
      backlog: handOver?.backlog() ?? 0,
      snapshotSeq: taker?.lastSeq() ?? 0,
      brokenLines,
      degraded: failing ?? handOver?.failing() ?? taker?.failing() ?? null,
    }),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async stop() {
      stopped.abort();
      handOver?.stop();
      await running;
      waiters.close();
      handOver?.stop();
      if (taker !== null && place.seq - taker.lastSeq() >= Math.min(every, WORTH_A_SNAPSHOT)) snapshot();
      await taker?.idle();
    },
  };
}
