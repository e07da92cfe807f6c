// The tracker's cloud in memory: its rows, and what a user of its web page could do with them.
import { randomBytes, randomUUID } from 'node:crypto';
import { notFound } from './faults.ts';

/** The states of a new team. */
const usualStates = [
  ['Backlog', 'backlog'],
  ['Todo', 'unstarted'],
  ['In Progress', 'started'],
  ['In Review', 'started'],
  ['Done', 'completed'],
  ['Canceled', 'canceled'],
  ['Duplicate', 'duplicate'],
] as const;

type Given<R, Needed extends keyof R> = Partial<R> & Pick<R, Needed>;

export type TrackerCloud = Tables & {
  /** A team with the usual states, or with those named. */
  addTeam: (given: Given<TeamRow, 'key'> & { states?: readonly (readonly [string, string])[] }) => TeamRow;
  addState: (given: Given<StateRow, 'teamId' | 'name'>) => StateRow;
  addLabel: (given: Given<LabelRow, 'name'>) => LabelRow;
  addUser: (given: Given<UserRow, 'name'>) => UserRow;
  addIssue: (given: Given<IssueRow, 'teamId' | 'title'>) => IssueRow;
  /** Changes an issue, found by id or by name (`ABC-1`). */
  changeIssue: (id: string, change: Partial<IssueRow>) => IssueRow;
  issueOf: (id: string) => IssueRow;
  /** The first issue blocks the second, unless another type is given; both by id or by name. */
  relate: (issue: string, related: string, type?: string) => RelationRow;
  /** On an issue, by id or by name. */
  addComment: (issue: string, given: Given<CommentRow, 'body'>) => CommentRow;
  attach: (issue: string, given: Given<AttachmentRow, 'title' | 'url'>) => AttachmentRow;
  addWebhook: (given: Given<WebhookRow, 'url'>) => WebhookRow;
  statesOf: (teamId: string) => StateRow[];
  identifierOf: (issue: IssueRow) => string;
};

export function createTrackerCloud(now: () => number = Date.now): TrackerCloud {
  const tables: Tables = {
    teams: [],
    states: [],
    labels: [],
    users: [],
    issues: [],
    relations: [],
    comments: [],
    attachments: [],
    webhooks: [],
  };
  const row = () => {
    const time = new Date(now()).toISOString();
    return { id: randomUUID(), createdAt: time, updatedAt: time, archivedAt: null };
  };
  const keep = <R>(table: R[], made: R): R => {
    table.push(made);
    return made;
  };
  const statesOf = (teamId: string) =>
    tables.states.filter((state) => state.teamId === teamId).toSorted((a, b) => a.position - b.position);
  const identifierOf = (issue: IssueRow) => `${teamOf(tables, issue.teamId).key}-${issue.number}`;
  const issueOf = (id: string) => {
    const found = tables.issues.find((issue) => issue.id === id || identifierOf(issue) === id);
    if (!found) throw notFound('Issue');
    return found;
  };

  const cloud: TrackerCloud = {
    ...tables,
    statesOf,
    identifierOf,
    issueOf,
    addTeam({ states = usualStates, ...given }) {
      const team = keep(tables.teams, { ...row(), name: given.key, ...given });
      for (const [name, type] of states) cloud.addState({ teamId: team.id, name, type });
      return team;
    },
    addState: (given) =>
      keep(tables.states, { ...row(), type: 'started', position: tables.states.length, ...given }),
    addLabel: (given) => keep(tables.labels, { ...row(), teamId: null, isGroup: false, ...given }),
    addUser: (given) =>
      keep(tables.users, { id: randomUUID(), email: 'person@example.com', admin: true, ...given }),
    addIssue(given) {
      const number = tables.issues.filter(({ teamId }) => teamId === given.teamId).length + 1;
      const stateId = statesOf(given.teamId)[0]?.id ?? '';
      return keep(tables.issues, { ...row(), ...blankIssue, number, stateId, ...given });
    },
    changeIssue(id, change) {
      return Object.assign(issueOf(id), { updatedAt: new Date(now()).toISOString() }, change);
    },
    relate: (issue, related, type = 'blocks') =>
      keep(tables.relations, {
        ...row(),
        type,
        issueId: issueOf(issue).id,
        relatedIssueId: issueOf(related).id,
      }),
    addComment: (issue, given) =>
      keep(tables.comments, { ...row(), issueId: issueOf(issue).id, userId: null, bot: null, ...given }),
    attach: (issue, given) => keep(tables.attachments, { ...row(), issueId: issueOf(issue).id, ...given }),
    addWebhook: (given) =>
      keep(tables.webhooks, {
        ...row(),
        enabled: true,
        label: null,
        resourceTypes: ['Issue'],
        teamId: null,
        allPublicTeams: typeof given.teamId !== 'string',
        secret: `lin_wh_${randomBytes(16).toString('hex')}`,
        creatorId: '',
        ...given,
      }),
  };
  return cloud;
}

const blankIssue = {
  description: null,
  priority: 0,
  assigneeId: null,
  creatorId: null,
  labelIds: [],
  parentId: null,
  estimate: null,
  dueDate: null,
  cycle: null,
  project: null,
  trashed: null,
};

export function teamOf(tables: Pick<Tables, 'teams'>, id: string): TeamRow {
  const team = tables.teams.find((one) => one.id === id || one.key === id);
  if (!team) throw notFound('Team');
  return team;
}

// What the fake tracker stores: plain rows. Times are ISO 8601.

type Row = { id: string; createdAt: string; updatedAt: string; archivedAt: string | null };

export type TeamRow = Row & { key: string; name: string };
export type StateRow = Row & { teamId: string; name: string; type: string; position: number };
export type LabelRow = Row & { name: string; teamId: string | null; isGroup: boolean };
export type UserRow = { id: string; name: string; email: string; admin: boolean };

export type IssueRow = Row & {
  teamId: string;
  number: number;
  title: string;
  description: string | null;
  stateId: string;
  priority: number;
  assigneeId: string | null;
  creatorId: string | null;
  labelIds: string[];
  parentId: string | null;
  estimate: number | null;
  dueDate: string | null;
  cycle: { id: string; number: number } | null;
  project: { id: string; name: string } | null;
  trashed: boolean | null;
};

/** `issueId` blocks, duplicates or is related to `relatedIssueId`. */
export type RelationRow = Row & { type: string; issueId: string; relatedIssueId: string };

/** Without a user it was written by an integration. */
export type CommentRow = Row & { issueId: string; body: string; userId: string | null; bot: string | null };

type AttachmentRow = Row & { issueId: string; title: string; url: string };

export type WebhookRow = Row & {
  url: string;
  enabled: boolean;
  label: string | null;
  resourceTypes: string[];
  teamId: string | null;
  allPublicTeams: boolean;
  /** Signs deliveries. The tracker returns it once, when the webhook is created. */
  secret: string;
  creatorId: string;
};

export type Tables = {
  teams: TeamRow[];
  states: StateRow[];
  labels: LabelRow[];
  users: UserRow[];
  issues: IssueRow[];
  relations: RelationRow[];
  comments: CommentRow[];
  attachments: AttachmentRow[];
  webhooks: WebhookRow[];
};
