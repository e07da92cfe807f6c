// Who goes by a name, kept up to date change by change: making it anew for a large board takes milliseconds.
import type { Board } from '../board-shape.ts';
import type { Names } from './subject.ts';

type Index = Map<string, Set<string>>;
type Named = { ticket: string | null };

export type NameIndex = Names & {
  /** An entity came, changed or went. */
  note: (
    kind: 'tickets' | 'pullRequests',
    key: string,
    before: Named | undefined,
    after: Named | undefined,
  ) => void;
};

/** It knows no workers: nobody looks for one by the name of another's ticket. */
export function createNameIndex(board: Board): NameIndex {
  const tickets: Index = new Map();
  const pullRequests: Index = new Map();
  return {
    workers: () => [],
    ticket(name) {
      const key = [...(tickets.get(name) ?? [])].at(-1);
      return key === undefined ? undefined : board.tickets.get(key);
    },
    pullRequests: (name) =>
      [...(pullRequests.get(name) ?? [])].flatMap((key) => board.pullRequests.get(key) ?? []),
    note(kind, key, before, after) {
      const index = kind === 'tickets' ? tickets : pullRequests;
      move(index, key, nameOf(before), nameOf(after));
    },
  };
}

function nameOf(entity: Named | undefined): string | null {
  return entity?.ticket?.toUpperCase() ?? null;
}

function move(index: Index, key: string, from: string | null, to: string | null): void {
  if (from === to) return;
  if (from !== null) {
    const keys = index.get(from);
    keys?.delete(key);
    if (keys?.size === 0) index.delete(from);
  }
  if (to === null) return;
  const keys = index.get(to);
  if (keys === undefined) index.set(to, new Set([key]));
  else keys.add(key);
}
