// Why a ticket is in its state, and whether it shipped.
import { boardOf, type StateAccess } from '../../kernel/board/state-access.ts';
import { type Routes, route } from '../../kernel/http/route.ts';
import { api } from '../api.ts';
import { receipt } from '../tickets/receipt.ts';
import { unknownTicket } from '../workers/service.ts';
import { whyTicket } from './why.ts';

export function whyRoutes({ state, now }: { state: StateAccess; now: () => number }): Routes {
  return (app) => {
    route(app, api.getWhy, ({ params: { ticket }, query: { orchestrator, machine } }) => {
      const known = whyTicket(boardOf(state), ticket, now(), orchestrator, machine);
      if (known === undefined) throw unknownTicket(ticket, orchestrator, machine);
      return known;
    });
    route(app, api.getReceipt, ({ params: { ticket }, query: { orchestrator } }) => {
      const known = receipt(boardOf(state), ticket, orchestrator);
      if (known === undefined) throw unknownTicket(ticket, orchestrator);
      return known;
    });
  };
}
