// GET /api/workers/:ticket/trace: the timeline of a ticket.

import { api, createLookup } from '@svc/core';
import { type Routes, route } from '../../http/route.ts';
import type { EventLog } from '../../log/event-log.ts';
import { boardOf, type StateAccess } from '../../state/state-access.ts';
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
