// The text of a ticket, and its workflow phase.
import type { FoldSteps } from '../../kernel/board/fold-context.ts';
import { boardOf, type StateAccess } from '../../kernel/board/state-access.ts';
import { Failure } from '../../kernel/failure.ts';
import type { ApiAnswer } from '../../kernel/http/api-route.ts';
import type { Asked } from '../../kernel/http/route.ts';
import type { EventDraft } from '../../kernel/log/event-line.ts';
import type { api } from '../api.ts';
import type { Config } from '../config.ts';
import { workerOfTicket } from '../workers/current-worker.ts';
import { isLatePhase } from './fold-tickets.ts';
import type { MoveEnding } from './io/move-ticket.ts';
import type { Ticket } from './ticket.ts';
import { phaseNamed } from './ticket-phase.ts';
import type { TicketContent } from './ticket-text.ts';
import { boundedTicket, shownBounds } from './ticket-text.ts';
import { hasTracker, trackerOf } from './tracker-of.ts';

type TicketProject = { config: Config; readTicket: (ticket: string) => Promise<TicketContent | null> };

export type TicketText = {
  state: StateAccess;
  /** Rejects with the problem in the project's configuration. */
  projects: { of: (folder: string) => Promise<TicketProject> };
  folderOf: (ticket: string) => string | undefined;
};

/** From the tracker of the project whose run has the ticket, else of the project with its prefix. */
export async function readTicketText(
  { state, projects, folderOf }: TicketText,
  ticket: string,
): Promise<ApiAnswer<typeof api.getTicket>> {
  const board = boardOf(state);
  const orchestrator = workerOfTicket(board, ticket)?.orchestrator ?? '';
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
}

const MOVED_WITHIN_MS = 15_000;

export type PhaseChanges = Pick<FoldSteps, 'heldBack'> & {
  state: StateAccess;
  /** Resolves when the event is durable. */
  report: (draft: EventDraft) => Promise<{ seq: number }>;
  /** The outcome of an effect within a time; undefined when it has not started. */
  outcomeOf: (key: string, timeoutMs: number) => Promise<MoveEnding | undefined>;
  timeoutMs?: number;
};

/**
 * The new phase goes into the log and its effect through the outbox. The answer waits a while for the effect, so the
 * caller learns the result.
 */
export async function setPhase(
  { state, report, outcomeOf, heldBack, timeoutMs = MOVED_WITHIN_MS }: PhaseChanges,
  {
    ticket,
    phase: name,
    orchestrator,
  }: Asked<typeof api.setTicketPhase>['params'] & Asked<typeof api.setTicketPhase>['body'],
): Promise<ApiAnswer<typeof api.setTicketPhase>> {
  const named = phaseNamed(name);
  if (!named.ok) throw new Failure('usage', `phase: ${named.problem}`);
  const { phase, skill } = named;
  const before = boardOf(state).tickets.get(ticket);
  const held = phase === 'done' ? heldBack(boardOf(state), ticket) : null;
  const isLate = isLatePhase(boardOf(state), { orchestrator, ticket }, phase);
  const { seq } = await report({
    event: 'workflow.ticket.phase_changed',
    source: 'cli',
    via: 'local',
    scope: { ticket, ...(orchestrator !== undefined && { orchestrator }) },
    detail: { to: phase, ...(skill !== undefined && { skill }) },
  });
  if (held !== null)
    return { ticket, phase, outcome: 'held' as const, from: null, to: null, why: held, remedy: null };
  if (isLate) {
    const why = 'its pull request is merged already';
    return { ticket, phase, outcome: 'skipped' as const, from: null, to: null, why, remedy: null };
  }
  if (before?.local === true) {
    await state.reached(seq);
    return { ticket, phase, ...movedHere(before, boardOf(state).tickets.get(ticket)) };
  }
  const ending = await outcomeOf(`${seq}:move-ticket:${ticket}`, timeoutMs);
  return { ticket, phase, ...resultOf(ending) };
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
