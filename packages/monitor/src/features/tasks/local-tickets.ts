// Local tickets: their text is in the log.
import type { Board } from '../../kernel/board/board.ts';
import type { TicketProvider } from '../tracker/io/read-ticket.ts';
import type { TicketWords } from './task.ts';

function isLocalTicket(board: Pick<Board, 'tickets'>, ticket: string): boolean {
  return board.tickets.get(ticket.toUpperCase())?.local === true;
}

/** Title and body of a local ticket; undefined for any other. */
export function localTicketText(board: Pick<Board, 'tasks'>, ticket: string): TicketWords | undefined {
  const name = ticket.toUpperCase();
  const task = board.tasks.values().find((one) => one.local && one.ticket === name);
  return task && { title: task.title, body: task.body };
}

export function localTickets(board: () => Pick<Board, 'tasks' | 'tickets'>): TicketProvider {
  return {
    has: (_config, ticket) => isLocalTicket(board(), ticket),
    async read(_config, ticket) {
      const words = localTicketText(board(), ticket);
      if (words === undefined) return undefined;
      const state = board().tickets.get(ticket.toUpperCase())?.state?.name ?? null;
      const none = { url: null, author: null, labels: [], links: [], comments: [], commentCount: 0 };
      return { ...none, ...words, state };
    },
    unknown: async () => [],
  };
}
