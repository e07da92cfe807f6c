// The order of the workers table. What needs somebody comes first; what is not known comes last either way.
import { workerStatuses } from '@svc/core/browser';
import type { Meaning } from '../../parts/meaning.ts';
import type { RunTicket } from './run-model.ts';

export type SortBy = 'ticket' | 'status' | 'age' | 'cost';
export type Sort = { by: SortBy; down: boolean };

const urgency: readonly Meaning[] = ['you', 'broken', 'motion', 'review', 'proven', 'unknown'];

export function sortTickets(tickets: readonly RunTicket[], { by, down }: Sort): RunTicket[] {
  const sign = down ? -1 : 1;
  return tickets.toSorted((one, other) => {
    const [a, b] = [valueOf(one, by), valueOf(other, by)];
    if (a === null || b === null) return a === b ? byName(one, other) : a === null ? 1 : -1;
    return sign * (a - b) || byName(one, other);
  });
}

function valueOf(ticket: RunTicket, by: SortBy): number | null {
  if (by === 'cost') return ticket.costUsd;
  if (by === 'age') return ticket.since === null ? null : -Date.parse(ticket.since);
  if (by === 'ticket') return null;
  if (ticket.status === null) return null;
  const place = workerStatuses.findIndex((status) => status === ticket.status);
  return urgency.indexOf(ticket.standing.meaning) * 100 + (place < 0 ? 99 : place);
}

/** `A-2` comes before `A-10`. */
function byName(one: RunTicket, other: RunTicket): number {
  return one.ticket.localeCompare(other.ticket, 'en', { numeric: true });
}
