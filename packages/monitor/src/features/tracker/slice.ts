// Tickets on the board.
import { dropSettled, type Slices } from '../../kernel/board/slice.ts';
import { isTicketOver } from './dependencies.ts';
import type { Ticket } from './ticket.ts';

declare module '../../kernel/board/board.ts' {
  interface Entities {
    tickets: Ticket;
  }
}

const MOST_TICKETS = 10_000;

export const ticketSlice = {
  tickets: {
    keyOf: ({ ticket }) => ticket,
    clean: ({ tickets }, now) =>
      dropSettled(tickets, now, MOST_TICKETS, (ticket) => ticket.local !== true || isTicketOver(ticket)),
  },
} as const satisfies Partial<Slices>;
