// The order of tickets according to the tracker: which block which, and which wait for a ticket outside the list.

import type { TrackerRelation } from './api-answer.ts';
import type { Ticket } from './ticket.ts';

export type BlockedTicket = { ticket: string; blockedBy: readonly string[] };
/** An open ticket outside the list that blocks one of it. */
export type OutsideBlocker = { ticket: string; blocker: string; state: string };

export type Dependencies = {
  tickets: BlockedTicket[];
  outside: OutsideBlocker[];
  /** Not known to the tracker. */
  unknown: string[];
};

const over: ReadonlySet<string> = new Set(['completed', 'canceled', 'duplicate']);
const trackerTicket = /^([A-Za-z][A-Za-z0-9]{0,19})-(\d{1,9})$/;

/** The tickets that are not over, those with the newest lines first. */
export function ticketsNotOver<Row extends Pick<Ticket, 'removed' | 'state' | 'lastSeq'>>(
  tickets: Iterable<Row>,
): Row[] {
  return [...tickets]
    .filter((ticket) => !isTicketOver(ticket))
    .toSorted((one, other) => other.lastSeq - one.lastSeq);
}

type OpenTicket = Pick<Ticket, 'ticket' | 'title' | 'removed' | 'state' | 'lastSeq'>;

/** Tickets that a run can be started for, newest first: seen in the tracker, not closed, and in no run that goes on. */
export function openTickets<Row extends OpenTicket>(board: {
  tickets: Iterable<Row>;
  runs: Iterable<{
    state: string;
    tickets: readonly string[];
    plan: { waves: readonly (readonly string[])[] } | null;
  }>;
}): Row[] {
  const taken = new Set(
    [...board.runs]
      .filter(({ state }) => state !== 'completed' && state !== 'canceled')
      .flatMap(({ tickets, plan }) => [...tickets, ...(plan?.waves.flat() ?? [])])
      .map((ticket) => ticket.toUpperCase()),
  );
  return ticketsNotOver(board.tickets).filter(
    ({ ticket, title }) => title !== null && !taken.has(ticket.toUpperCase()),
  );
}

export function isTicketOver({ removed, state }: Pick<Ticket, 'removed' | 'state'>): boolean {
  return removed || over.has(state?.type ?? '');
}

/** `numberedTicket('ABC-12')` is `{ team: 'ABC', number: 12 }`; undefined for anything else. */
export function numberedTicket(ticket: string): { team: string; number: number } | undefined {
  const [, team, digits] = trackerTicket.exec(ticket) ?? [];
  return team === undefined ? undefined : { team: team.toUpperCase(), number: Number(digits) };
}

/** Ticket names are compared ignoring case; the answer has them as they were given. */
export function dependenciesAmong(
  tickets: readonly string[],
  issues: readonly { identifier: string; relations: readonly TrackerRelation[] }[],
): Dependencies {
  const given = new Map(tickets.map((ticket) => [ticket.toLowerCase(), ticket]));
  const known = new Map(issues.map((issue) => [issue.identifier.toLowerCase(), issue]));
  const found: Dependencies = { tickets: [], outside: [], unknown: [] };
  for (const [key, ticket] of given) {
    const issue = known.get(key);
    if (issue === undefined) found.unknown.push(ticket);
    const blockedBy = new Set<string>();
    for (const { type, issue: blocker } of issue?.relations ?? []) {
      if (type !== 'blocks') continue;
      const among = given.get(blocker.identifier.toLowerCase());
      if (among !== undefined) blockedBy.add(among);
      else if (!over.has(blocker.state.type))
        found.outside.push({ ticket, blocker: blocker.identifier, state: blocker.state.name });
    }
    found.tickets.push({ ticket, blockedBy: [...blockedBy] });
  }
  return found;
}
