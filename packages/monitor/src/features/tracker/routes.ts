// GET /api/tickets/:ticket and POST /api/tickets/:ticket/phase.
import { type Routes, route } from '../../kernel/http/route.ts';
import { api } from '../api.ts';
import { type PhaseChanges, readTicketText, setPhase, type TicketText } from './service.ts';

export function trackerRoutes(options: TicketText & PhaseChanges): Routes {
  return (app) => {
    route(app, api.getTicket, ({ params }) => readTicketText(options, params.ticket));
    route(app, api.setTicketPhase, ({ params, body }) => setPhase(options, { ...params, ...body }));
  };
}
