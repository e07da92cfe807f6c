// Moves a ticket to the tracker state of a workflow phase. The state's id comes from the project's cache
// (svc.tracker.stateIds); without it, or if the cache is out of date, the team's states are looked up by name. A ticket
// that is already in the state is left alone.
//
//   const mover = createTicketMover({ configs: () => configs, open: (chosen) => openTracker(chosen, means) });
//   await mover.move('ABC-12', 'inReview');  // { outcome: 'moved', from: 'In Progress', to: 'In Review', … }
import { asError } from '@svc/lib/errors';
import { nearest } from '@svc/lib/nearest';
import { Failure, type FailureCode } from '../../../kernel/failure.ts';
import { draft, type EventDraft } from '../../../kernel/log/event-line.ts';
import type { Outcome } from '../../../kernel/outbox/attempt.ts';
import type { Effect } from '../../../kernel/outbox/effect.ts';
import type { Config } from '../../config.ts';
import type { TrackerIssueState, WorkflowState } from '../api-answer.ts';
import { projectOfTicket, stateNamed, targetState } from '../ticket-phase.ts';
import type { TicketPhase } from '../ticket-phases.ts';
import { type ConfiguredTracker, sharedPrefixes, trackerOf } from '../tracker-of.ts';
import { type Tracker, TrackerError } from './tracker.ts';

export type TicketMove = {
  why: string;
  /** Set when something should be configured. */
  remedy: string | null;
} & (
  | { outcome: 'moved'; from: string; to: string; stateId: string }
  /** Display names; null if the tracker was not asked. */
  | { outcome: 'already' | 'skipped'; from: string | null; to: string | null; stateId: string | null }
);

type MovingClient = Pick<Tracker, 'issueState' | 'teamStates' | 'setIssueState' | 'calls'>;

export type TicketMover = {
  /** Throws `TicketNotMoved`, which has whether a retry makes sense. */
  move: (ticket: string, phase: TicketPhase) => Promise<TicketMove>;
  /** Requests made to the tracker so far. */
  requests: () => number;
};

type State = { id: string; name: string };

export function createTicketMover(options: {
  configs: () => readonly Config[];
  /** Called once per tracker. */
  open: (chosen: ConfiguredTracker) => MovingClient;
}): TicketMover {
  const clients = new Map<string, MovingClient>();
  /** The tracker's last answer, by team id. */
  const statesOfTeam = new Map<string, readonly WorkflowState[]>();

  const clientOf = (chosen: ConfiguredTracker): MovingClient => {
    const key = JSON.stringify(chosen);
    const client = clients.get(key) ?? options.open(chosen);
    clients.set(key, client);
    return client;
  };

  /** The team's state of that name. Remembered states are used unless the name is missing. */
  const stateByName = async (
    client: MovingClient,
    { team }: TrackerIssueState,
    wanted: { name: string; phase: TicketPhase },
    afresh: boolean,
  ): Promise<State> => {
    const remembered = afresh ? undefined : stateNamed(statesOfTeam.get(team.id) ?? [], wanted.name);
    if (remembered) return remembered;
    const answer = (await client.teamStates(team.id))?.states ?? [];
    const states = answer.toSorted((one, other) => one.position - other.position);
    statesOfTeam.set(team.id, states);
    const found = stateNamed(states, wanted.name);
    if (found) return found;
    throw unknownState(team.key, states, wanted);
  };

  const execute = async (
    client: MovingClient,
    config: Config,
    ticket: string,
    wanted: { name: string; id: string | undefined; phase: TicketPhase },
  ): Promise<TicketMove> => {
    const issue = await client.issueState(ticket);
    if (!issue) throw noSuchTicket(ticket);
    const from = issue.state.name;
    const already: TicketMove = {
      outcome: 'already',
      from,
      to: from,
      stateId: issue.state.id,
      why: `it is already in ${quoted(from)}`,
      remedy: null,
    };
    // A ticket that was moved to another team has that team's states.
    const { teamId } = config.svc.tracker;
    const cachedId = teamId === null || teamId === issue.team.id ? wanted.id : undefined;
    if (from === wanted.name || issue.state.id === cachedId) return already;
    const moved = async (state: State, outOfDate: boolean): Promise<TicketMove> => {
      if (state.id === issue.state.id) return { ...already, remedy: labelRemedy(state, wanted.name) };
      const to = (await client.setIssueState(issue.id, state.id)) ?? state.name;
      return {
        outcome: 'moved',
        from,
        to,
        stateId: state.id,
        why: outOfDate ? `the cached id of ${quoted(to)} is out of date` : `its phase is ${wanted.phase}`,
        remedy: outOfDate ? 'Run: svc resolve-tracker-ids --force' : null,
      };
    };
    const state =
      cachedId === undefined
        ? await stateByName(client, issue, wanted, false)
        : { id: cachedId, name: wanted.name };
    try {
      return await moved(state, false);
    } catch (error) {
      // The issue existed a moment ago, so it is the state that is gone.
      if (!(error instanceof TrackerError) || error.problem.kind !== 'not-found') throw error;
      return await moved(await stateByName(client, issue, wanted, true), cachedId !== undefined);
    }
  };

  return {
    requests: () => clients.values().reduce((sum, client) => sum + client.calls(), 0),
    async move(ticket, phase) {
      const config = projectOfTicket(options.configs(), ticket);
      if (config === undefined) return withoutProject(ticket, options.configs());
      const target = targetState(config, phase);
      if (target.skip) return skipped(target.why, null);
      const chosen = trackerOf(config);
      if (chosen.provider === undefined) return skipped(chosen.why, chosen.remedy);
      try {
        return await execute(clientOf(chosen), config, ticket, { ...target, phase });
      } catch (error) {
        throw notMovedBy(error);
      }
    },
  };
}

/** An issue without a label for its state is only open, whatever its phase is. */
function labelRemedy({ id }: State, name: string): string | null {
  return id === 'open'
    ? `To see this phase there, create the label: gh label create ${JSON.stringify(name)}`
    : null;
}

function skipped(why: string, remedy: string | null): TicketMove {
  return { outcome: 'skipped', from: null, to: null, stateId: null, why, remedy };
}

// Work without a tracker is not a failure; the answer reports that nothing was moved.
function withoutProject(ticket: string, configs: readonly Config[]): TicketMove {
  const prefix = ticket.slice(0, ticket.lastIndexOf('-'));
  if (sharedPrefixes(configs).has(prefix.toUpperCase()))
    return skipped(
      `several projects have tickets like ${ticket}, so it is unclear whose it is`,
      'In each project run: svc config set svc.project.ticketPrefix <PREFIX>',
    );
  return skipped(
    `no project that the daemon serves has tickets like ${ticket}`,
    `In its project run: svc config set svc.tracker.teamKey ${prefix}`,
  );
}

function noSuchTicket(ticket: string): TicketNotMoved {
  return new TicketNotMoved(
    'tracker-error',
    `The issue tracker has no ticket ${ticket}, or the owner of the API token cannot see it.`,
    'Name an existing ticket: svc ticket phase <phase> <ticket>',
    { permanent: true },
  );
}

function unknownState(
  team: string,
  states: readonly State[],
  { name, phase }: { name: string; phase: TicketPhase },
): TicketNotMoved {
  const names = states.map((state) => state.name);
  const likely = nearest(name, names);
  // It will be pasted into a shell, and the names come from the tracker.
  const pasted = likely !== undefined && /^[\w .-]+$/.test(likely) ? JSON.stringify(likely) : '<state>';
  return new TicketNotMoved(
    'config-invalid',
    `Team ${team} of the issue tracker has no state ${quoted(name)} (svc.tracker.stateMap.${phase}). Its states: ${names.slice(0, 50).map(quoted).join(', ')}.`,
    `Name one of them: svc config set svc.tracker.stateMap.${phase} ${pasted}`,
    { permanent: true },
  );
}

/** Names come from outside: they must not contain terminal control sequences. */
function quoted(name: string): string {
  return `"${name.slice(0, 100).replaceAll(/\p{Cc}/gu, '?')}"`;
}

// Why a ticket could not be moved, and whether and when the outbox retries it.

export class TicketNotMoved extends Failure {
  /** A retry would change nothing: a person has to do something first. */
  readonly permanent: boolean;
  /** How long the tracker asks to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: FailureCode,
    message: string,
    remedy: string | undefined,
    options: { permanent: boolean; retryAfterMs?: number; cause?: unknown },
  ) {
    super(code, message, remedy, { cause: options.cause });
    this.name = 'TicketNotMoved';
    this.permanent = options.permanent;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Separates what the tracker refused permanently from what it may accept later. Anything else is a bug. */
function notMovedBy(error: unknown): unknown {
  if (!(error instanceof TrackerError)) return error;
  const { problem, code, message, remedy } = error;
  switch (problem.kind) {
    case 'unauthorised':
    case 'forbidden':
    case 'not-found':
      return new TicketNotMoved(code, message, remedy, { permanent: true, cause: error });
    case 'rate-limited':
      return new TicketNotMoved(code, message, remedy, {
        permanent: false,
        retryAfterMs: problem.retryAfterMs,
        cause: error,
      });
    case 'unavailable':
    case 'malformed':
    case 'graphql':
      return new TicketNotMoved(code, message, remedy, { permanent: false, cause: error });
  }
}

// Executes the outbox's effect that moves a ticket, and logs the move. The outbox runs the moves of one ticket one
// after the other, in the order they were requested. A second execution finds the ticket already moved; if the daemon
// dies between the move and its line, the line is missing and the tracker's own event reports the move.

/** How many endings are kept for callers. */
const KEPT = 500;

export type MoveTicketEffect = Extract<Effect, { kind: 'move-ticket' }>;

export type MoveEnding =
  | { state: 'ended'; move: TicketMove }
  | { state: 'given-up' | 'retrying'; error: Error };

export type TicketMoves = {
  /** The outbox's handler of `move-ticket`. */
  handle: (effect: MoveTicketEffect) => Promise<Outcome>;
  /** The result of the last attempt at an effect, by its key; undefined before the first. */
  endingOf: (key: string) => MoveEnding | undefined;
};

export function moveTicketHandler(
  mover: Pick<TicketMover, 'move'>,
  /** Appends a line once per delivery id. */
  append: (draft: EventDraft) => Promise<unknown>,
): TicketMoves {
  const endings = createMemory<MoveEnding>();
  /** Moved, but the log could not be written. */
  const unlogged = createMemory<TicketMove>();

  const execute = async ({ key, ticket, phase }: MoveTicketEffect): Promise<TicketMove> => {
    const move = unlogged.get(key) ?? (await mover.move(ticket, phase));
    if (move.outcome !== 'moved') return move;
    unlogged.set(key, move);
    const { from, to, stateId } = move;
    await append(
      draft(
        'workflow.ticket.state_moved',
        { ticket },
        { from, to, stateId, phase },
        { deliveryId: `outbox:${key}:moved` },
      ),
    );
    unlogged.delete(key);
    return move;
  };

  return {
    endingOf: endings.get,
    async handle(effect) {
      try {
        const move = await execute(effect);
        endings.set(effect.key, { state: 'ended', move });
        return { done: sentence(move) };
      } catch (thrown) {
        const error = asError(thrown);
        const isFinal = error instanceof TicketNotMoved && error.permanent;
        endings.set(effect.key, { state: isFinal ? 'given-up' : 'retrying', error });
        if (!(error instanceof TicketNotMoved)) throw error;
        const { message, remedy, permanent, retryAfterMs } = error;
        return { failed: [message, remedy ?? ''].join(' ').trim(), permanent, retryAfterMs };
      }
    },
  };
}

function sentence({ outcome, from, to, why, remedy }: TicketMove): string {
  const result = outcome === 'moved' ? `moved from ${from} to ${to}` : outcome;
  return `${result}: ${why}${remedy === null ? '' : `. ${remedy}`}`;
}

/** A map that forgets the oldest. */
function createMemory<Value>() {
  const values = new Map<string, Value>();
  return {
    get: (key: string): Value | undefined => values.get(key),
    delete: (key: string): void => void values.delete(key),
    set(key: string, value: Value): void {
      values.delete(key);
      values.set(key, value);
      const [oldest] = values.keys();
      if (values.size > KEPT && oldest !== undefined) values.delete(oldest);
    },
  };
}
