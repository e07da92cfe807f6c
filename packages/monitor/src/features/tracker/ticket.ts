// A ticket as the fold keeps it.
import type { Ticket as ShownTicket } from './entity.ts';

export type Ticket = Omit<ShownTicket, 'key'>;

/** A ticket of which only the name is known. */
export function unknownTicket(ticket: string, line: { seq: number; ts: string }): Ticket {
  return {
    ticket,
    title: null,
    url: null,
    state: null,
    assignee: null,
    priority: null,
    labels: [],
    phase: null,
    removed: false,
    reportedAt: null,
    via: 'local',
    lastSeq: line.seq,
    lastAt: line.ts,
  };
}
