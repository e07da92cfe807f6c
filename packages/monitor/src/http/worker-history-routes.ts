// GET /api/workers/:ticket/trace: the way of a ticket through time, from its lines in the index.
// GET /api/workers/:ticket/output: what its agent said, newest first asked, then on from a byte.
import { api, createLookup, safeSegment, type Trace, type WorkerOutput } from '@svc/core';
import type { FastifyPluginCallback } from 'fastify';
import { Failure } from '../errors.ts';
import type { EventLog } from '../log/event-log.ts';
import { readOutput } from '../orchestrate/agents/read-output.ts';
import { gatherTrace } from './gather-trace.ts';
import { fieldsOf, textOf } from './request-fields.ts';
import { boardOf, type StateAccess } from './state-access.ts';
import { ticketIn, unknownTicket } from './worker-routes.ts';

const DEFAULT_LINES = 200;
const MOST_LINES = 1_000;

type TicketRoute = { Params: { ticket: string } };

export function workerHistoryRoutes(options: {
  state: StateAccess;
  log: Pick<EventLog, 'list'>;
  runsDir: string;
  now: () => number;
}): FastifyPluginCallback {
  const { state, log, runsDir, now } = options;
  return (app, _options, done) => {
    app.get<TicketRoute>('/api/workers/:ticket/trace', async (request): Promise<Trace> => {
      const ticket = ticketIn(request.params.ticket);
      const given = fieldsOf(request.query, api.getTrace.query);
      const orchestrator = textOf('orchestrator', given.orchestrator, api.getTrace.query.shape.orchestrator);
      const subject = createLookup(boardOf(state)).ofTicket(ticket, orchestrator);
      const trace = await gatherTrace({ log, ticket, orchestrator, subject, now: now() });
      if (trace.lines === 0 && subject === undefined) throw unknownTicket(ticket, orchestrator);
      return trace;
    });
    app.get<TicketRoute>('/api/workers/:ticket/output', (request): Promise<WorkerOutput> => {
      const ticket = ticketIn(request.params.ticket);
      const given = fieldsOf(request.query, api.getWorkerOutput.query);
      const named = textOf('orchestrator', given.orchestrator, api.getWorkerOutput.query.shape.orchestrator);
      if (named !== undefined && !safeSegment(named))
        throw new Failure('usage', `${JSON.stringify(named)} is not the name of a run.`);
      const after = wholeNumber('after', given.after, 0, Number.MAX_SAFE_INTEGER);
      const limit = wholeNumber('limit', given.limit, 1, MOST_LINES) ?? DEFAULT_LINES;
      const worker = createLookup(boardOf(state)).ofTicket(ticket, named)?.worker;
      const orchestrator = named ?? worker?.orchestrator;
      if (orchestrator === undefined) throw unknownTicket(ticket);
      // The file has the name that the run gave the ticket.
      return readOutput({ runsDir, orchestrator, ticket: worker?.ticket ?? ticket, after, limit });
    });
    done();
  };
}

function wholeNumber(name: string, value: unknown, least: number, most: number): number | undefined {
  if (value === undefined) return undefined;
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new Failure('usage', `${name}: expected a whole number from ${least} to ${most}.`);
}
