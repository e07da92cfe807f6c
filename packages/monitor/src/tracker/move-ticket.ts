// Moves a ticket to the tracker state of a workflow phase. The state's id comes from the project's cache
// (svc.tracker.stateIds); without it, or where the cache is out of date, the team's states are asked for by name.
// A ticket that is there already is left alone.
//
//   const mover = createTicketMover({ configs: () => configs, clientFor: (token) => createTrackerClient({ token, … }) });
//   await mover.move('ABC-12', 'inReview');  // { outcome: 'moved', from: 'In Progress', to: 'In Review', … }
import {
  type Config,
  nearest,
  projectOfTicket,
  stateNamed,
  type TicketPhase,
  type TrackerIssueState,
  targetState,
  type WorkflowState,
} from '@svc/core';
import type { TrackerClient } from './client.ts';
import { notMovedBy, TicketNotMoved } from './ticket-not-moved.ts';
import { TrackerError } from './tracker-error.ts';

export type TicketMove = {
  why: string;
  /** Set when something should be configured. */
  remedy: string | null;
} & (
  | { outcome: 'moved'; from: string; to: string; stateId: string }
  /** Display names; null where the tracker was not asked. */
  | { outcome: 'already' | 'skipped'; from: string | null; to: string | null; stateId: string | null }
);

type MovingClient = Pick<TrackerClient, 'issueState' | 'teamStates' | 'setIssueState' | 'calls'>;

export type TicketMover = {
  /** Throws `TicketNotMoved`, which says whether trying again makes sense. */
  move: (ticket: string, phase: TicketPhase) => Promise<TicketMove>;
  /** Requests made to the tracker so far. */
  requests: () => number;
};

type State = { id: string; name: string };

export function createTicketMover(options: {
  configs: () => readonly Config[];
  /** Called once per token. */
  clientFor: (token: string) => MovingClient;
}): TicketMover {
  const clients = new Map<string, MovingClient>();
  /** By team id: what the tracker answered last. */
  const statesOfTeam = new Map<string, readonly WorkflowState[]>();

  const clientOf = (token: string): MovingClient => {
    const client = clients.get(token) ?? options.clientFor(token);
    clients.set(token, client);
    return client;
  };

  /** The team's state of that name. What is remembered counts until it does not have the name. */
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

  const carryOut = async (
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
      why: `it is in ${quoted(from)} already`,
      remedy: null,
    };
    // A ticket that went to another team has that team's states.
    const { teamId } = config.svc.tracker;
    const cachedId = teamId === null || teamId === issue.team.id ? wanted.id : undefined;
    if (from === wanted.name || issue.state.id === cachedId) return already;
    const moved = async (state: State, outOfDate: boolean): Promise<TicketMove> => {
      if (state.id === issue.state.id) return already;
      const to = (await client.setIssueState(issue.id, state.id))?.state.name ?? state.name;
      return {
        outcome: 'moved',
        from,
        to,
        stateId: state.id,
        why: outOfDate ? `the cached id of ${quoted(to)} is out of date` : `its phase is ${wanted.phase}`,
        remedy: outOfDate ? 'Run: resolve-tracker-ids.sh --force' : null,
      };
    };
    const state =
      cachedId === undefined
        ? await stateByName(client, issue, wanted, false)
        : { id: cachedId, name: wanted.name };
    try {
      return await moved(state, false);
    } catch (error) {
      // The issue was there a moment ago, so it is the state that is gone.
      if (!(error instanceof TrackerError) || error.problem.kind !== 'not-found') throw error;
      return await moved(await stateByName(client, issue, wanted, true), cachedId !== undefined);
    }
  };

  return {
    requests: () => clients.values().reduce((sum, client) => sum + client.calls(), 0),
    async move(ticket, phase) {
      const config = projectOfTicket(options.configs(), ticket);
      if (config === undefined) return withoutProject(ticket);
      const target = targetState(config, phase);
      if (target.skip) return skipped(target.why, null);
      const { apiToken } = config.svc.tracker;
      if (apiToken === undefined) return withoutToken();
      try {
        return await carryOut(clientOf(apiToken), config, ticket, { ...target, phase });
      } catch (error) {
        throw notMovedBy(error);
      }
    },
  };
}

function skipped(why: string, remedy: string | null): TicketMove {
  return { outcome: 'skipped', from: null, to: null, stateId: null, why, remedy };
}

// Work without a tracker is no failure; that nothing was moved is said.
function withoutProject(ticket: string): TicketMove {
  const prefix = ticket.slice(0, ticket.lastIndexOf('-'));
  return skipped(
    `no project that the daemon serves has tickets like ${ticket}`,
    `In its project run: svc config set svc.tracker.teamKey ${prefix}`,
  );
}

function withoutToken(): TicketMove {
  return skipped(
    'its project has no API token for the issue tracker',
    'Store one: svc config set svc.tracker.apiToken - < token.txt',
  );
}

function noSuchTicket(ticket: string): TicketNotMoved {
  return new TicketNotMoved(
    'tracker-error',
    `The issue tracker has no ticket ${ticket}, or the owner of the API token cannot see it.`,
    'Name a ticket that there is: svc ticket phase <phase> <ticket>',
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
  // It is meant to be pasted into a shell, and the names are the tracker's.
  const pasted = likely !== undefined && /^[\w .-]+$/.test(likely) ? JSON.stringify(likely) : '<state>';
  return new TicketNotMoved(
    'config-invalid',
    `Team ${team} of the issue tracker has no state ${quoted(name)} (svc.tracker.stateMap.${phase}). There are: ${names.slice(0, 50).map(quoted).join(', ')}.`,
    `Name one of them: svc config set svc.tracker.stateMap.${phase} ${pasted}`,
    { permanent: true },
  );
}

/** Names come from outside: nothing of them may steer a terminal. */
function quoted(name: string): string {
  return `"${name.slice(0, 100).replaceAll(/\p{Cc}/gu, '?')}"`;
}
