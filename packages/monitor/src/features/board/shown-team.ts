// What a board shows of the records of each other machine. One machine may publish 2,000 records of 64 KiB, more than a page
// can hold, so the shown records of a machine are bounded together, and what is left out is counted.

import type { Board, Entities } from '../../kernel/board/board.ts';
import type { LeftOut } from './team-entity.ts';

/** Shown of a machine. A worker has about 2 KB. */
export const MOST_SHOWN_BYTES = 1024 * 1024;

/** Records are never changed in place. */
const sizes = new WeakMap<Entities['team'], number>();
const encoder = new TextEncoder();

/** `leftOut`: the machines of which not everything is shown. */
export function shownTeam(board: Pick<Board, 'team'>): {
  records: Board['team'];
  leftOut: LeftOut[];
} {
  const total = new Map<string, number>();
  for (const record of board.team.values())
    total.set(record.machine, (total.get(record.machine) ?? 0) + sizeOf(record));
  const large = [...total].flatMap(([machine, bytes]) => (bytes > MOST_SHOWN_BYTES ? [machine] : []));
  if (large.length === 0) return { records: board.team, leftOut: [] };
  const records = new Map(board.team);
  const leftOut: LeftOut[] = [];
  for (const machine of large) {
    const own = [...board.team.values()].filter((record) => record.machine === machine);
    const of = own.filter(({ value }) => value !== null).length;
    let bytes = 0;
    let shown = 0;
    for (const record of own.toSorted(byImportance)) {
      const size = sizeOf(record);
      if (bytes + size > MOST_SHOWN_BYTES) records.delete(record.id);
      else {
        bytes += size;
        if (record.value !== null) shown += 1;
      }
    }
    if (shown < of) leftOut.push({ machine, shown, of });
  }
  return { records, leftOut };
}

function sizeOf(record: Entities['team']): number {
  const size = sizes.get(record) ?? encoder.encode(JSON.stringify(record)).length;
  sizes.set(record, size);
  return size;
}

/** What needs a person first; the newest first; last what was removed. */
function byImportance(one: Entities['team'], other: Entities['team']): number {
  return rank(one) - rank(other) || other.lastSeq - one.lastSeq;
}

function rank({ kind, value }: Entities['team']): number {
  if (value === null) return 2;
  return kind === 'attention' ? 0 : 1;
}
