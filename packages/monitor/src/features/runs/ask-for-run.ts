// A label or an assignment in the tracker asks for a run.
import { ask, type FoldContext } from '../../kernel/board/fold-context.ts';
import { draft } from '../../kernel/log/event-line.ts';
import type { IssueLine } from '../tracker/fold-tickets.ts';
import type { Ticket } from '../tracker/ticket.ts';
import { ticketWritten } from '../tracker/tracker-of.ts';
import { decideDispatch } from './dispatch.ts';

export function askForRun(
  context: FoldContext<IssueLine['event']>,
  before: Ticket | undefined,
  after: Ticket,
): void {
  const { board, line } = context;
  const { ticket } = after;
  const decision = decideDispatch(board.projects, before, after, line);
  if (decision === undefined || ticketWritten(ticket) !== ticket) return;
  if (decision.start) {
    const { start: _, ...run } = decision;
    return ask(context, ticket, { kind: 'start-run', ticket, ...run, at: line.ts });
  }
  const { repo, by, because, reason, remedy, invited } = decision;
  const detail = { because, ...(by !== null && { by }), line: line.seq, reason, remedy, invited };
  const refused = draft('workflow.ticket.dispatch_refused', { ticket, repo }, detail);
  ask(context, `dispatch/${ticket}`, { kind: 'append', draft: refused });
}
