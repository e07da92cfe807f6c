// One ticket: its text, why it is in its state, whether it shipped, its trace, its agent's output, its workflow phase, and a
// person's decision on its deploy.
import {
  type ApiAnswer,
  api,
  boundedTicket,
  createLookup,
  type DetailOf,
  deployStep,
  type EventDraft,
  hasTracker,
  heldBack,
  phaseNamed,
  receipt,
  scopeOfWorker,
  shownBounds,
  shownStatus,
  type Ticket,
  trackerOf,
  type Why,
  type Worker,
  why,
  whyTicket,
} from '@svc/core';
import { Failure } from '../errors.ts';
import type { EventLog } from '../log/event-log.ts';
import { readOutput } from '../orchestrate/agents/output.ts';
import type { RunProjects } from '../orchestrate/runs/run-project.ts';
import type { MoveEnding } from '../tracker/move-ticket.ts';
import { gatherTrace } from './gather-trace.ts';
import { type Asked, type Routes, route } from './route.ts';
import { type Append, appendAndWait, boardOf, type StateAccess } from './state-access.ts';

const topics = { retry: 'orchestrator.deploy.retried', accept: 'orchestrator.deploy.accepted' } as const;
type Decision = keyof typeof topics;

export function workerRoutes(options: { state: StateAccess; append: Append; now: () => number }): Routes {
  const { state, now } = options;
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
    route(app, api.decideDeploy, ({ params, body }) => decideDeploy(options, { ...params, ...body }));
  };
}

/** Tried first: an action that the lifecycle ignores does not go into the log. */
export async function decideDeploy(
  options: { state: StateAccess; append: Append; now: () => number },
  asked: Asked<typeof api.decideDeploy>['params'] & Asked<typeof api.decideDeploy>['body'],
): Promise<ApiAnswer<typeof api.decideDeploy>> {
  const { state, now } = options;
  const { ticket, action, by, note, orchestrator } = asked;
  const board = boardOf(state);
  const subject = createLookup(board).ofTicket(ticket, orchestrator);
  if (subject === undefined) throw unknownTicket(ticket);
  const { worker } = subject;
  if (worker === null) throw new Failure('not-allowed-now', `No run works on ${subject.ticket}.`);
  const at = new Date(now()).toISOString();
  const step = deployStep(worker, { kind: 'person', action, by, seq: board.seq + 1, at });
  if (step.worker === worker) throw notNow(action, worker, why(board, worker, now()));
  await appendAndWait(options, draftOf(worker, action, at, { by, ...(note !== undefined && { note }) }));
  const after = state.board();
  return { ok: true as const, action, why: why(after, after.workers.get(worker.key) ?? worker, now()) };
}

export function workerHistoryRoutes(options: {
  state: StateAccess;
  log: Pick<EventLog, 'list'>;
  runsDir: string;
  now: () => number;
}): Routes {
  const { state, log, runsDir, now } = options;
  return (app) => {
    route(app, api.getTrace, async ({ params: { ticket }, query: { orchestrator } }) => {
      const subject = createLookup(boardOf(state)).ofTicket(ticket, orchestrator);
      const trace = await gatherTrace({ log, ticket, orchestrator, subject, now: now() });
      if (trace.lines === 0 && subject === undefined) throw unknownTicket(ticket, orchestrator);
      return trace;
    });
    route(
      app,
      api.getWorkerOutput,
      ({ params: { ticket }, query: { orchestrator: named, after, limit } }) => {
        const worker = createLookup(boardOf(state)).ofTicket(ticket, named)?.worker;
        const orchestrator = named ?? worker?.orchestrator;
        if (orchestrator === undefined) throw unknownTicket(ticket);
        // The file has the name that the run gave the ticket.
        return readOutput({ runsDir, orchestrator, ticket: worker?.ticket ?? ticket, after, limit });
      },
    );
  };
}

/** The worktree is found by the plan of the run, never by a path that a worker reports. */
export function changesRoutes({ state, projects }: { state: StateAccess; projects: RunProjects }): Routes {
  const worktreeOf = async (ticket: string, named: string | undefined) => {
    const { orchestrator, ticket: name } = workerNamed(state, ticket, named);
    const plan = boardOf(state).runs.get(orchestrator)?.plan ?? null;
    if (plan === null)
      throw new Failure(
        'not-allowed-now',
        `svc did not start the run ${orchestrator}, so it does not know the worktree of ${name}.`,
        'Start runs with svc to see their changes: svc orchestrate start',
      );
    const { worktrees } = await projects.of(plan.project);
    return { orchestrator, name, base: plan.base, worktrees };
  };
  return (app) => {
    route(app, api.getChanges, async ({ params: { ticket }, query: { orchestrator: named } }) => {
      const { orchestrator, name, base, worktrees } = await worktreeOf(ticket, named);
      return { ticket: name, orchestrator, ...(await worktrees.changes(name, base)) };
    });
    route(app, api.getFiles, async ({ params: { ticket }, query: { orchestrator: named, query } }) => {
      const { orchestrator, name, worktrees } = await worktreeOf(ticket, named);
      return { ticket: name, orchestrator, ...(await worktrees.files(name, query)) };
    });
  };
}

/** From the tracker of the project whose run has the ticket, else of the project with its prefix. */
export function ticketTextRoutes(options: {
  state: StateAccess;
  projects: Pick<RunProjects, 'of'>;
  folderOf: (ticket: string) => string | undefined;
}): Routes {
  const { state, projects, folderOf } = options;
  return (app) =>
    route(app, api.getTicket, async ({ params: { ticket } }) => {
      const board = boardOf(state);
      const orchestrator = createLookup(board).ofTicket(ticket)?.worker?.orchestrator ?? '';
      const folder = board.runs.get(orchestrator)?.plan?.project ?? folderOf(ticket);
      const setUp = 'Set the tracker up: svc init, in the folder of the project.';
      if (folder === undefined)
        throw notReadable('no project of the daemon has tickets with this prefix, or several have', setUp);
      const { config, readTicket } = await projects.of(folder);
      const content = await readTicket(ticket);
      if (content !== null) return boundedTicket(content, shownBounds);
      const tracker = trackerOf(config);
      throw hasTracker(config) && tracker.provider === undefined
        ? notReadable(tracker.why, tracker.remedy)
        : notReadable('its project has no issue tracker', setUp);

      function notReadable(reason: string, remedy: string): Failure {
        return new Failure('not-configured', `The text of ${ticket} cannot be read: ${reason}.`, remedy);
      }
    });
}

export function workerNamed(state: StateAccess, ticket: string, orchestrator: string | undefined): Worker {
  const worker = createLookup(boardOf(state)).ofTicket(ticket, orchestrator)?.worker;
  if (!worker) throw unknownTicket(ticket, orchestrator);
  return worker;
}

function unknownTicket(ticket: string, orchestrator?: string, machine?: string): Failure {
  const run = orchestrator === undefined ? '' : ` in the run ${orchestrator}`;
  const where = machine === undefined ? run : `${run} on ${machine}`;
  return new Failure(
    'unknown-ticket',
    `Unknown ticket ${ticket}${where}: no agent, pull request or ticket has this name.`,
    `List the tickets: svc board${machine === undefined ? '' : ' --team'}`,
  );
}

function notNow(action: Decision, { ticket, status }: Worker, { rule, waitsFor }: Why): Failure {
  const waits = waitsFor === null ? '' : ` Waiting for ${waitsFor}.`;
  return new Failure(
    'not-allowed-now',
    `Nothing to ${action}: ${ticket} is ${shownStatus(status)}. ${rule}${waits}`,
    `See why: svc why ${ticket}`,
  );
}

/** `at` is the machine's clock, which deadlines use: the event's own time may be ahead of it. */
function draftOf(
  worker: Worker,
  action: Decision,
  at: string,
  detail: DetailOf<(typeof topics)[Decision]>,
): EventDraft {
  const { deploy } = worker;
  return {
    event: topics[action],
    source: 'cli',
    via: 'local',
    occurredAt: at,
    scope: { ...scopeOfWorker(worker), ...(deploy !== null && { environment: deploy.environment }) },
    detail,
  };
}

const MOVED_WITHIN_MS = 15_000;

/**
 * The new phase goes into the log and its effect through the outbox. The response waits a while for the effect, so the
 * caller learns the result.
 */
export function phaseRoutes(options: {
  state: StateAccess;
  /** Resolves when the event is durable. */
  report: (draft: EventDraft) => Promise<{ seq: number }>;
  /** The outcome of an effect within a time; undefined when it has not started. */
  outcomeOf: (key: string, timeoutMs: number) => Promise<MoveEnding | undefined>;
  timeoutMs?: number;
}): Routes {
  const { state, report, outcomeOf, timeoutMs = MOVED_WITHIN_MS } = options;
  return (app) =>
    route(app, api.setTicketPhase, async ({ params: { ticket }, body }) => {
      const named = phaseNamed(body.phase);
      if (!named.ok) throw new Failure('usage', `phase: ${named.problem}`);
      const { phase, skill } = named;
      const before = boardOf(state).tickets.get(ticket);
      const held = phase === 'done' ? heldBack(boardOf(state), ticket) : null;
      const { seq } = await report({
        event: 'workflow.ticket.phase_changed',
        source: 'cli',
        via: 'local',
        scope: { ticket, ...(body.orchestrator !== undefined && { orchestrator: body.orchestrator }) },
        detail: { to: phase, ...(skill !== undefined && { skill }) },
      });
      if (held !== null)
        return { ticket, phase, outcome: 'held' as const, from: null, to: null, why: held, remedy: null };
      if (before?.local === true) {
        await state.reached(seq);
        return { ticket, phase, ...movedHere(before, boardOf(state).tickets.get(ticket)) };
      }
      const ending = await outcomeOf(`${seq}:move-ticket:${ticket}`, timeoutMs);
      return { ticket, phase, ...resultOf(ending) };
    });
}

/** Nobody but svc keeps the state of a local ticket. */
function movedHere(before: Ticket, after: Ticket = before) {
  const [from, to] = [before.state?.name ?? null, after.state?.name ?? null];
  const outcome = from === to ? ('already' as const) : ('moved' as const);
  return { outcome, from, to, why: 'svc keeps the state of a local ticket', remedy: null };
}

function resultOf(
  ending: MoveEnding | undefined,
): Omit<ApiAnswer<typeof api.setTicketPhase>, 'ticket' | 'phase'> {
  if (ending?.state === 'ended') {
    const { outcome, from, to, why: reason, remedy } = ending.move;
    return { outcome, from, to, why: reason, remedy };
  }
  if (ending?.state === 'given-up') throw ending.error;
  const reason = ending?.error.message ?? 'it is still queued in the outbox';
  return { outcome: 'pending', from: null, to: null, why: reason, remedy: null };
}
