// What follows the log and holds the board, as others see it.
import type { Board, EventLine } from '@svc/core';
import type { EventLog } from '../log/event-log.ts';
import type { BoardRules } from './board-rules.ts';
import type { EffectTaker } from './hand-over.ts';
import type { SnapshotStore } from './snapshot-store.ts';

type StateProgress = {
  /** The last line folded, and the log's last. */
  seq: number;
  of: number;
  ready: boolean;
  /** The last line whose effects the outbox has, and how many wait to be handed over. */
  cursor: number;
  backlog: number;
  snapshotSeq: number;
  /** Lines on which a rule broke; they are not in the board. */
  brokenLines: number;
  /** Why it is not all well; null when it is. */
  degraded: string | null;
};

export type StateChange = { board: Board; lines: readonly EventLine[] };

export type StateFollower = {
  /** The live board. Whoever gets it must not change it, nor keep its maps over a turn of the event loop. */
  board: () => Board;
  /** Resolves when all lines of before the start are folded; rejects when it is stopped before. */
  ready: Promise<void>;
  /** Resolves when this line is folded; rejects when it is stopped before. */
  reached: (seq: number) => Promise<void>;
  progress: () => StateProgress;
  /** Called after lines were folded, once it is live; returns how to end it. */
  onChange: (listener: (change: StateChange) => void) => () => void;
  /** Hands over what waits and takes a last snapshot if many lines were folded since the last one. */
  stop: () => Promise<void>;
};

export type StateOptions = {
  log: Pick<EventLog, 'subscribe' | 'lastSeq'>;
  snapshots: SnapshotStore;
  outbox: EffectTaker;
  now: () => number;
  onFailure: (error: unknown) => void;
  /** Lines between two snapshots. */
  snapshotEvery?: number;
  rules?: BoardRules;
  retryMs?: (failures: number) => number;
  /** Effects that may wait in memory while the outbox fails. */
  mostWaiting?: number;
};
