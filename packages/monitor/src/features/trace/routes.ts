// GET /api/workers/:ticket/trace: the timeline of a ticket.
import { boardOf, type StateAccess } from '../../kernel/board/state-access.ts';
import { type Routes, route } from '../../kernel/http/route.ts';
import type { EventLog } from '../../kernel/log/event-log.ts';
import { api } from '../api.ts';
import { createLookup } from '../tickets/subject.ts';
import { unknownTicket } from '../workers/service.ts';
import { gatherTrace } from './gather-trace.ts';

export function traceRoutes({
  state,
  log,
  now,
}: {
  state: StateAccess;
  log: Pick<EventLog, 'list'>;
  now: () => number;
}): Routes {
  return (app) =>
    route(app, api.getTrace, async ({ params: { ticket }, query: { orchestrator } }) => {
      const subject = createLookup(boardOf(state)).ofTicket(ticket, orchestrator);
      const trace = await gatherTrace({ log, ticket, orchestrator, subject, now: now() });
      if (trace.lines === 0 && subject === undefined) throw unknownTicket(ticket, orchestrator);
      return trace;
    });
}
