// Takes a snapshot of the board every so many lines, beside the folding. One that cannot be stored is given
// up; the next is tried a minute later.
import type { Board } from '@svc/core';
import { messageOf } from '../log/log-errors.ts';
import type { BoardRules } from './board-rules.ts';
import type { SnapshotMark, SnapshotStore } from './snapshot-store.ts';

const RETRY_MS = 60_000;

export type SnapshotTaker = {
  isDue: (seq: number) => boolean;
  /** Takes the picture at once and stores it in the background, after the one before. */
  take: (board: Board, mark: SnapshotMark) => void;
  /** Resolves when nothing is being stored. */
  idle: () => Promise<void>;
  lastSeq: () => number;
  failing: () => string | null;
};

export function createSnapshotTaker({
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
