// The board at any past time: the nearest snapshot before it, with the lines from there on folded again. At most two
// are computed at once, others wait; the last few are cached.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLimit, TooManyWaiting } from '@svc/lib/limit';
import { Failure } from '../failure.ts';
import type { Since } from '../log/event-filter.ts';
import type { EventLog } from '../log/event-log.ts';
import type { Board } from './board.ts';
import { type BoardRules, foldOrSkip } from './board-rules.ts';
import { type BoardAtSeq, createShare, loadBoard, type SnapshotStore } from './snapshot-store.ts';

/**
 * The board after this line, or after the last line (by `seq`) that was accepted at this time or before; beyond the
 * log's end, the board at its end. `board.seq` is that line. The board must not be changed.
 */
export type BoardAt = (moment: Since, signal?: AbortSignal) => Promise<Board>;

export type BoardAtOptions = {
  log: Pick<EventLog, 'subscribe' | 'lastSeq' | 'lastSeqAt'>;
  snapshots: Pick<SnapshotStore, 'newest' | 'load' | 'remove'>;
  /** The live board: what has not changed since is shared with it. */
  live?: () => Board;
  rules: BoardRules;
  mostAtOnce?: number;
  mostWaiting?: number;
  /** Results that are cached, and for how long without use: each is as large as the board. */
  kept?: number;
  keptMs?: number;
};

export function createBoardAt({
  log,
  snapshots,
  live,
  rules,
  mostAtOnce = 2,
  mostWaiting = 16,
  kept = 1,
  keptMs = 60_000,
}: BoardAtOptions): BoardAt {
  const limit = createLimit(mostAtOnce, mostWaiting);
  const results = new Set<BoardAtSeq>();
  let forgetting: NodeJS.Timeout | undefined;

  /** One timer for all: a timer per board would keep a board in memory long after it was dropped. */
  function keep(result: BoardAtSeq): void {
    results.delete(result);
    results.add(result);
    const [oldest] = results;
    if (results.size > kept && oldest !== undefined) results.delete(oldest);
    clearTimeout(forgetting);
    forgetting = setTimeout(() => results.clear(), keptMs).unref();
  }

  /** The nearest board to start from. A cached result is copied, because folding changes maps in folded. */
  async function baseFor(end: number): Promise<BoardAtSeq> {
    const mark = snapshots.newest({ seq: end });
    const near = [...results]
      .filter((result) => result.seq <= end)
      .toSorted((left, right) => right.seq - left.seq)[0];
    if (near === undefined || near.seq < (mark?.seq ?? 0)) {
      const share = live && createShare(rules.packBoard(live()));
      return loadBoard({ log, snapshots, rules, limit: { seq: end }, share });
    }
    keep(near);
    return near;
  }

  function copyOf({ board, seq }: BoardAtSeq): BoardAtSeq {
    return { board: rules.unpackBoard(rules.packBoard(board)), seq };
  }

  async function make(moment: Since, signal: AbortSignal | undefined): Promise<Board> {
    const end = Math.min(log.lastSeq(), 'seq' in moment ? moment.seq : await log.lastSeqAt(moment.time));
    const base = await baseFor(end);
    if (base.seq >= end) return base.board;
    const folded = results.has(base) ? copyOf(base) : base;
    for await (const entries of log.subscribe({ after: base.seq, whenSlow: 'read-file', signal })) {
      await nextTurn();
      const beyond = entries.findIndex(({ line }) => line.seq > end);
      for (const { line } of beyond < 0 ? entries : entries.slice(0, beyond)) {
        foldOrSkip(rules, folded.board, line);
        folded.seq = line.seq;
      }
      if (beyond >= 0 || folded.seq >= end) break;
    }
    signal?.throwIfAborted();
    keep(folded);
    return folded.board;
  }

  return async (moment, signal) => {
    try {
      return await limit(() => make(moment, signal), signal);
    } catch (error) {
      if (!(error instanceof TooManyWaiting)) throw error;
      throw new Failure('busy', 'Too many past boards are being computed at once.', 'Try again in a moment.');
    }
  };
}
