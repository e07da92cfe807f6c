// A ticket gets another phase.
import { ask, type FoldContext } from '../../kernel/board/fold-context.ts';
import type { Ticket } from './ticket.ts';
import type { TicketPhase } from './ticket-phases.ts';

/** Nobody else knows the state of a local ticket: it follows from its phase. */
export const localStates: Readonly<Record<TicketPhase, NonNullable<Ticket['state']>>> = {
  backlog: { id: null, name: 'Backlog', type: 'backlog' },
  todo: { id: null, name: 'Todo', type: 'unstarted' },
  research: { id: null, name: 'In Progress', type: 'started' },
  planning: { id: null, name: 'In Progress', type: 'started' },
  inProgress: { id: null, name: 'In Progress', type: 'started' },
  inReview: { id: null, name: 'In Review', type: 'started' },
  done: { id: null, name: 'Done', type: 'completed' },
  canceled: { id: null, name: 'Canceled', type: 'canceled' },
};

/** A ticket of the tracker is moved there; the phase of a local one is kept here alone. */
export function moveTicket(context: FoldContext, ticket: string, phase: TicketPhase): void {
  const { board, line } = context;
  const known = board.tickets.get(ticket.toUpperCase());
  if (known?.local === true)
    board.tickets.set(known.ticket, { ...inPhase(known, phase, line), lastSeq: line.seq, lastAt: line.ts });
  else ask(context, ticket, { kind: 'move-ticket', ticket, phase });
}

function inPhase(known: Ticket, phase: TicketPhase, { ts, seq }: FoldContext['line']): Ticket {
  return { ...known, state: localStates[phase], phase: { phase, at: ts, seq } };
}
