// Tickets on the board.
import { dropSettled, type Slices } from '../../kernel/board/slice.ts';
import { isTicketOver } from './dependencies.ts';
import type { Ticket } from './ticket.ts';

declare module '../../kernel/board/board.ts' {
  interface Entities {
    tickets: Ticket;
  }

  interface BoardLinks {
    /** Tickets that were reported as done without proof; some may have moved since. */
    heldTickets: Set<string>;
  }
}

const MOST_TICKETS = 10_000;

export const ticketSlice = {
  tickets: {
    keyOf: ({ ticket }) => ticket,
    link: ({ heldTickets }, { ticket, phase }) => void (phase?.held && heldTickets.add(ticket)),
    clean: ({ tickets }, now) =>
      dropSettled(tickets, now, MOST_TICKETS, (ticket) => ticket.local !== true || isTicketOver(ticket)),
  },
} as const satisfies Partial<Slices>;

export const noTicketLinks = () => ({ heldTickets: new Set<string>() });
