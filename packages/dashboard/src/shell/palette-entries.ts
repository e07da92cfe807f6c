// The entries of the palette: screens and everything on the board, with the text they are found by.
import type { LiveBoard } from '../live/board-store.ts';
import { screenAt, screenList } from './link-to.ts';

export type PaletteEntry = {
  id: string;
  group: 'Screens' | 'Attention' | 'Tickets' | 'Runs' | 'Pull requests';
  name: string;
  /** Shown beside the name; comes from outside, like the name. */
  note: string;
} & ReturnType<typeof screenAt>;

export function paletteEntries(
  board: Pick<LiveBoard, 'workers' | 'tickets' | 'runs' | 'pullRequests' | 'attention'>,
): PaletteEntry[] {
  const tickets = new Map<string, PaletteEntry>();
  const ticket = (name: string, note: string, run?: string): void => {
    const id = `ticket ${name.toUpperCase()}`;
    if (tickets.has(id)) return;
    tickets.set(id, {
      id,
      group: 'Tickets',
      name,
      note,
      ...screenAt('/tickets/$ticket', { run }, { ticket: name }),
    });
  };
  const titles = new Map(
    [...board.tickets.values()].map((one) => [one.ticket.toUpperCase(), one.title ?? '']),
  );
  for (const worker of newestFirst(board.workers.values()))
    ticket(worker.ticket, titles.get(worker.ticket.toUpperCase()) ?? '', worker.orchestrator);
  for (const one of newestFirst(board.tickets.values()))
    if (!one.removed) ticket(one.ticket, one.title ?? '');
  return [
    ...screenList.map(({ to, name, keys }) => ({
      id: `screen ${to}`,
      group: 'Screens' as const,
      name,
      note: `g ${keys[0]}`,
      ...screenAt(to),
    })),
    ...tickets.values(),
    ...[...board.attention.values()].map(({ id, ticket: of, feed, reason, message }) => ({
      id: `attention ${id}`,
      group: 'Attention' as const,
      name: `${of ?? feed ?? 'svc'}: ${message}`,
      note: reason,
      ...screenAt('/attention', { id }),
    })),
    ...newestFirst(board.runs.values()).map(({ orchestrator, name, state }) => ({
      id: `run ${orchestrator}`,
      group: 'Runs' as const,
      name: name ?? orchestrator,
      note: name === null ? state : `${orchestrator}, ${state}`,
      ...screenAt('/runs/$run', {}, { run: orchestrator }),
    })),
    ...newestFirst(board.pullRequests.values()).map(({ key, name, title, state, ticket: of }) => ({
      id: `pull-request ${key}`,
      group: 'Pull requests' as const,
      name,
      note: `${title ?? ''} (${state})`,
      ...(of === null ? screenAt('/', { q: name }) : screenAt('/tickets/$ticket', {}, { ticket: of })),
    })),
  ];
}

function newestFirst<Entity extends { lastSeq: number }>(entities: Iterable<Entity>): Entity[] {
  return [...entities].toSorted((one, other) => other.lastSeq - one.lastSeq);
}

/** The most entries shown per group; typing narrows them down. */
export const MOST_OF_GROUP = 8;

/**
 * The entries that contain every typed word, by group; those whose name starts with it first.
 * `found(entries, 'tid 12')` has `TID-12`.
 */
export function found(
  entries: readonly PaletteEntry[],
  typed: string,
): Map<PaletteEntry['group'], PaletteEntry[]> {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = entries
    .map((entry, index) => ({ entry, index, rank: rankOf(entry, words) }))
    .filter(({ rank }) => rank !== null)
    .toSorted((one, other) => (one.rank ?? 0) - (other.rank ?? 0) || one.index - other.index);
  const groups = new Map<PaletteEntry['group'], PaletteEntry[]>();
  for (const { entry } of hits) {
    const group = groups.get(entry.group) ?? [];
    groups.set(entry.group, group);
    if (group.length < MOST_OF_GROUP) group.push(entry);
  }
  return groups;
}

/** 0: the name starts with it; 1: the name contains it; 2: elsewhere; null: no match. */
function rankOf({ name, note }: PaletteEntry, words: readonly string[]): number | null {
  const [inName, inNote] = [name.toLowerCase(), note.toLowerCase()];
  let rank = 0;
  for (const word of words) {
    if (inName.startsWith(word)) continue;
    if (inName.includes(word)) rank = Math.max(rank, 1);
    else if (inNote.includes(word)) rank = 2;
    else return null;
  }
  return rank;
}
