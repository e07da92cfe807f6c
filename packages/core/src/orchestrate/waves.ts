// Waves from a graph: a ticket is in the wave after its last blocker.

export type BlockedTicket = { ticket: string; blockedBy: readonly string[] };

export type BlockerWaves =
  | { ok: true; waves: string[][] }
  /** `cycle` starts and ends with the same ticket; each is blocked by the next. */
  | { ok: false; cycle: string[]; problem: string };

/**
 * `wavesFromBlockers([{ ticket: 'A-2', blockedBy: ['A-1'] }, { ticket: 'A-1', blockedBy: [] }])` is
 * `[['A-1'], ['A-2']]`. Within a wave the order is the given one. A blocker that is not in the list is ignored: the
 * caller decides what that means.
 */
export function wavesFromBlockers(tickets: readonly BlockedTicket[]): BlockerWaves {
  const blockers = new Map<string, Set<string>>();
  for (const { ticket } of tickets) blockers.set(ticket, new Set());
  for (const { ticket, blockedBy } of tickets)
    for (const blocker of blockedBy) if (blockers.has(blocker)) blockers.get(ticket)?.add(blocker);
  const waves: string[][] = [];
  const left = new Set(blockers.keys());
  while (left.size > 0) {
    const free = [...left].filter((ticket) => !hasAny(left, blockers.get(ticket)));
    if (free.length === 0) return cycleIn(left, blockers);
    for (const ticket of free) left.delete(ticket);
    waves.push(free);
  }
  return { ok: true, waves };
}

function hasAny(left: ReadonlySet<string>, blockers: ReadonlySet<string> = new Set()): boolean {
  for (const blocker of blockers) if (left.has(blocker)) return true;
  return false;
}

/** Every remaining ticket has a remaining blocker, so following them leads back to one of them. */
function cycleIn(
  left: ReadonlySet<string>,
  blockers: ReadonlyMap<string, ReadonlySet<string>>,
): BlockerWaves {
  const path: string[] = [];
  let [at] = left;
  while (at !== undefined && !path.includes(at)) {
    path.push(at);
    at = [...(blockers.get(at) ?? [])].find((blocker) => left.has(blocker));
  }
  const cycle = at === undefined ? path : [...path.slice(path.indexOf(at)), at];
  return { ok: false, cycle, problem: `the tickets block each other in a cycle: ${cycle.join(' → ')}` };
}
