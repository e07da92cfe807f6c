// GET /api/workers/:ticket/why and /receipt: why a ticket is in its state, and whether it shipped.
// POST /api/workers/:ticket/deploy: a person's word on a deploy: retry or accept.
import {
  type ApiAnswer,
  api,
  createLookup,
  deployStep,
  type EventDraft,
  type Receipt,
  receipt,
  scopeOfWorker,
  type Why,
  type Worker,
  why,
  whyTicket,
} from '@svc/core';
import type { FastifyPluginCallback } from 'fastify';
import { Failure } from '../errors.ts';
import { byOf, fieldsOf, textOf } from './request-fields.ts';
import { type Append, boardOf, type StateAccess, say } from './state-access.ts';

const topics = { retry: 'orchestrator.deploy.retried', accept: 'orchestrator.deploy.accepted' } as const;

type Word = keyof typeof topics;
type TicketRoute = { Params: { ticket: string } };

type DeployWordAnswer = ApiAnswer<typeof api.sayDeployWord>;

export function workerRoutes(options: {
  state: StateAccess;
  append: Append;
  now: () => number;
}): FastifyPluginCallback {
  const { state, now } = options;

  /** The word is tried out first: one that the lifecycle would not heed is no news for the log. */
  async function giveWord(ticket: string, body: unknown): Promise<DeployWordAnswer> {
    const given = fieldsOf(body, api.sayDeployWord.body);
    const word = wordIn(given.word);
    const { shape } = api.sayDeployWord.body;
    const by = byOf(given.by);
    const note = textOf('note', given.note, shape.note);
    const board = boardOf(state);
    const subject = createLookup(board).ofTicket(
      ticket,
      textOf('orchestrator', given.orchestrator, shape.orchestrator),
    );
    if (subject === undefined) throw unknownTicket(ticket);
    const { worker } = subject;
    if (worker === null) throw new Failure('not-allowed-now', `No run has a worker for ${subject.ticket}.`);
    const at = new Date(now()).toISOString();
    const step = deployStep(worker, { kind: 'person', word, by, seq: board.seq + 1, at });
    if (step.worker === worker) throw notNow(word, worker, why(board, worker, now()));
    await say(options, draftOf(worker, word, at, { by, ...(note !== undefined && { note }) }));
    const after = state.board();
    return { ok: true, word, why: why(after, after.workers.get(worker.key) ?? worker, now()) };
  }

  return (app, _options, done) => {
    app.get<TicketRoute>('/api/workers/:ticket/why', (request): Why => {
      const { ticket, orchestrator } = askedOf(request);
      return (
        whyTicket(boardOf(state), ticket, now(), orchestrator) ?? raise(unknownTicket(ticket, orchestrator))
      );
    });
    app.get<TicketRoute>('/api/workers/:ticket/receipt', (request): Receipt => {
      const { ticket, orchestrator } = askedOf(request);
      return receipt(boardOf(state), ticket, orchestrator) ?? raise(unknownTicket(ticket, orchestrator));
    });
    app.post<TicketRoute>('/api/workers/:ticket/deploy', (request) =>
      giveWord(ticketIn(request.params.ticket), request.body),
    );
    done();
  };
}

function askedOf({ params, query }: { params: { ticket: string }; query: unknown }) {
  const { orchestrator } = fieldsOf(query, api.getWhy.query);
  return {
    ticket: ticketIn(params.ticket),
    orchestrator: textOf('orchestrator', orchestrator, api.getWhy.query.shape.orchestrator),
  };
}

export function ticketIn(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$/.test(text)) return text;
  throw new Failure('usage', 'The ticket must be written like ABC-12.');
}

function wordIn(value: unknown): Word {
  if (value === 'retry' || value === 'accept') return value;
  throw new Failure('usage', 'word: expected retry or accept.');
}

export function unknownTicket(ticket: string, orchestrator?: string): Failure {
  const where = orchestrator === undefined ? '' : ` in the run ${orchestrator}`;
  return new Failure(
    'unknown-ticket',
    `Nothing is known of ${ticket}${where}: no worker, pull request or ticket has this name.`,
    'See what is: svc board',
  );
}

function notNow(word: Word, { ticket, status }: Worker, { rule, waitsFor }: Why): Failure {
  const waits = waitsFor === null ? '' : ` It waits for ${waitsFor}.`;
  return new Failure(
    'not-allowed-now',
    `There is nothing to ${word}: ${ticket} is ${status}. ${rule}${waits}`,
    `See: svc why ${ticket}`,
  );
}

/** `at` is the machine's clock, which deadlines go by: the line's own time may be ahead of it. */
function draftOf(worker: Worker, word: Word, at: string, detail: Record<string, string>): EventDraft {
  const { deploy } = worker;
  return {
    event: topics[word],
    source: 'cli',
    via: 'local',
    occurredAt: at,
    scope: { ...scopeOfWorker(worker), ...(deploy !== null && { environment: deploy.environment }) },
    detail,
  };
}

function raise(failure: Failure): never {
  throw failure;
}
