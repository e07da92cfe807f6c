// The tickets of a script's projects, at one of the trackers: teams of Linear, or issues of repositories whose states are
// labels or the status of a project.
import { fullNameOf, labelOf, type ProjectRow } from '../codehost/cloud.ts';
import type { FakeCodehost } from '../codehost/fake-codehost.ts';
import type { FakeTracker } from './fake-tracker.ts';

export const TRACKER_TOKEN = 'tracker-token';

export type TeamStates = Record<'begin' | 'work' | 'review' | 'done' | 'canceled', string>;

/** The names that svc expects if it is given no others. */
export const usualTeamStates = {
  begin: 'Backlog',
  work: 'In Progress',
  review: 'In Review',
  done: 'Done',
  canceled: 'Canceled',
} as const satisfies TeamStates;

type NewTeam = {
  /** The repository whose issues are its tickets. */
  repo: string;
  states: TeamStates;
  /** Whether the project's file has the ids of the states. */
  cached?: boolean;
  /** Whether the states are those of a project instead of labels. */
  inProject?: boolean;
};

/** What the project's file and its secrets file contain. */
type TeamSettings = {
  project: { repository?: object; tracker: object };
  secrets: { tracker: object } | undefined;
};

export type Tickets = {
  addTeam: (key: string, team: NewTeam) => TeamSettings;
  newTicket: (teamKey: string, title: string) => string;
  /** The display name of the ticket's state. */
  stateOf: (ticket: string) => string;
  all: () => { ticket: string; title: string }[];
  /** Requests to the tracker that are not requests to the code host. */
  calls: () => number;
  /** Until `restore`, no ticket can be moved. */
  refuse: () => void;
  restore: () => void;
};

const REFUSAL = { kind: 'server-error', status: 503 } as const;
const REFUSALS = 1_000;

export function linearTickets(tracker: FakeTracker): Tickets {
  const { cloud } = tracker;
  const types = { begin: 'backlog', work: 'started', review: 'started', done: 'completed' };
  return {
    addTeam(key, { states, cached = false }) {
      const typed = Object.entries({ ...types, canceled: 'canceled' }).map(
        ([name, type]) => [states[name as keyof TeamStates], type] as const,
      );
      const { id: teamId } = cloud.addTeam({ key, states: typed });
      const stateIds = Object.fromEntries(cloud.statesOf(teamId).map(({ name, id }) => [name, id]));
      return {
        project: { tracker: { teamKey: key, ...(cached && { teamId, stateIds }) } },
        secrets: { tracker: { apiToken: TRACKER_TOKEN, teamKey: key } },
      };
    },
    newTicket(teamKey, title) {
      const team = cloud.teams.find(({ key }) => key === teamKey);
      return cloud.identifierOf(cloud.addIssue({ teamId: team?.id ?? '', title }));
    },
    stateOf(ticket) {
      const { stateId } = cloud.issueOf(ticket);
      return cloud.states.find(({ id }) => id === stateId)?.name ?? 'none';
    },
    all: () => cloud.issues.map((issue) => ({ ticket: cloud.identifierOf(issue), title: issue.title })),
    calls: () => tracker.calls().length,
    refuse: () => tracker.failNext(REFUSAL, { times: REFUSALS }),
    restore: tracker.restore,
  };
}

export function githubTickets(codehost: FakeCodehost): Tickets {
  const { cloud, issues } = codehost;
  const teams = new Map<string, { repo: string; states: TeamStates; project: ProjectRow | undefined }>();
  const teamOf = (key: string) => {
    const team = teams.get(key);
    if (team === undefined) throw new Error(`no team ${key}`);
    return team;
  };
  return {
    addTeam(key, { repo, states, cached = false, inProject = false }) {
      const row = cloud.find(repo)?.repo ?? cloud.addRepo(repo);
      const { done, canceled, ...open } = states;
      const project = inProject ? cloud.addProject(row.owner, Object.values(states)) : undefined;
      teams.set(key, { repo, states, project });
      if (!inProject) for (const name of Object.values(open)) labelOf(row, name, cloud.nextId);
      const reasons = new Map([
        [done, 'completed'],
        [canceled, 'not_planned'],
      ]);
      const idOf = (name: string): string => {
        const reason = reasons.get(name);
        if (project === undefined) return reason === undefined ? `label:${name}` : `closed:${reason}`;
        const option = project.statuses.find((one) => one.name === name)?.id;
        return `status:PVT_${project.id}/PVTSSF_${project.fieldId}/${option}${reason ? `:${reason}` : ''}`;
      };
      const stateIds = Object.fromEntries(Object.values(states).map((name) => [name, idOf(name)]));
      const tracker = {
        provider: 'github',
        ...(project && { githubProject: `${row.owner}/${project.number}` }),
        ...(cached && { teamId: fullNameOf(row), stateIds }),
      };
      return { project: { repository: { org: row.owner, name: row.name }, tracker }, secrets: undefined };
    },
    newTicket(teamKey, title) {
      const { repo, states, project } = teamOf(teamKey);
      const labels = project === undefined ? [states.begin] : [];
      const { number } = cloud.addIssue(repo, { title, labels });
      if (project !== undefined) void issues.setStatus(project, repo, number, states.begin);
      return `${teamKey}-${number}`;
    },
    /** All states that the issue shows: more than one is wrong. */
    stateOf(ticket) {
      const [key = '', number] = ticket.split('-');
      const { repo, states, project } = teamOf(key);
      const { row } = issues.find(repo, Number(number));
      const item = project?.items.find(({ issueId }) => issueId === row.id);
      const status = project?.statuses.find(({ id }) => id === item?.status)?.name ?? 'none';
      const shown = project === undefined ? row.labels : [status];
      const end = row.stateReason === 'completed' ? states.done : states.canceled;
      if (row.state === 'closed') return [...new Set([...shown, end])].join(' and ');
      const isEnded = shown.includes(states.done) || shown.includes(states.canceled);
      return `${shown.join(' and ')}${isEnded ? ', open' : ''}`;
    },
    all: () =>
      [...teams].flatMap(([key, { repo }]) =>
        cloud.repoOf(repo).issues.map(({ number, title }) => ({ ticket: `${key}-${number}`, title })),
      ),
    calls: () => 0,
    refuse: () => codehost.failNext(REFUSAL, { on: /\/issues\/\d/, times: REFUSALS }),
    restore: codehost.restore,
  };
}
