// The board at the newest usable snapshot: one that this very log was at, and that can be read.
import type { Board } from '@svc/core';
import type { EventLog } from '../log/event-log.ts';
import type { BoardRules } from './board-rules.ts';
import type { Share } from './share-entities.ts';
import type { SnapshotMark, SnapshotStore } from './snapshot-store.ts';

/** `seq` is the last line folded into the board: 0 is none. */
export type BoardAndPlace = { board: Board; seq: number };

/** What is found unusable is removed, and the one before is tried; without any, the empty board. */
export async function loadBoard({
  log,
  snapshots,
  rules,
  limit,
  share,
}: {
  log: Pick<EventLog, 'subscribe' | 'lastSeq'>;
  snapshots: Pick<SnapshotStore, 'newest' | 'load' | 'remove'>;
  rules: BoardRules;
  /** No snapshot behind this line. */
  limit: { seq: number };
  share?: Share | undefined;
}): Promise<BoardAndPlace> {
  for (;;) {
    const mark = snapshots.newest(limit);
    if (mark === null) return { board: rules.emptyBoard(), seq: 0 };
    const packed = (await isOfLog(log, mark)) ? await snapshots.load(mark.seq, share) : null;
    const board = packed === null ? undefined : rules.unpackBoard(packed);
    if (board !== undefined) return { board, seq: mark.seq };
    snapshots.remove(mark.seq);
  }
}

/** Whether the log has the line that the snapshot was taken behind. */
async function isOfLog(
  log: Pick<EventLog, 'subscribe' | 'lastSeq'>,
  { seq, lineId }: SnapshotMark,
): Promise<boolean> {
  if (seq > log.lastSeq()) return false;
  for await (const [first] of log.subscribe({ after: seq - 1, whenSlow: 'read-file' })) {
    if (first !== undefined) return first.line.seq === seq && first.line.id === lineId;
  }
  return false;
}
