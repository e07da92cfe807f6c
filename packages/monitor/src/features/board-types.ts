// The board: the fold of the whole log into pull requests, workers, deploys, tickets, runs, attention and feeds. It is a
// pure function of the lines: the same lines give the same board, in however many parts they are folded.
// Entities are never changed in place, so a copy of the maps is a snapshot.

import type { SignalFile } from '@svc/contract/signal-file';
import type { EventLine } from '../kernel/log/event-line.ts';
import type { DetailOf } from '../kernel/log/topics.ts';
import type { Spent } from './agents/cost.ts';
import type { Waited } from './agents/schemas.ts';
import type {
  AttentionItem,
  Feed,
  PullRequestView,
  Deployment as ShownDeployment,
  Run as ShownRun,
  Session as ShownSession,
  Ticket as ShownTicket,
  WorkerView,
} from './board/entities.ts';
import type { ProjectPolicies, RepoPolicy } from './deploy/policy.ts';
import type { ResultValue, TeamCommand } from './team/command.ts';
import type { SharedValue } from './team/shared.ts';
import type { TicketDigest } from './tracker/ticket-change.ts';

export type Board = {
  /** The last folded line; 0 for none. */
  seq: number;
  at: string | null;
  /** By `<repo in lower case>#<number>`. */
  pullRequests: Map<string, PullRequest>;
  /** By `<orchestrator>/<ticket>`. */
  workers: Map<string, Worker>;
  /** By `<repo in lower case>#<id>`. */
  deployments: Map<string, Deployment>;
  tickets: Map<string, Ticket>;
  /** Tasks that people described, by their key. */
  tasks: Map<string, Task>;
  /** How many local tickets there have ever been: the number of the newest. */
  localTickets: number;
  runs: Map<string, Run>;
  attention: Map<string, AttentionItem>;
  feeds: Map<string, FeedState>;
  /** Agents that people start themselves, by `<agent>/<session id>`. */
  sessions: Map<string, Session>;
  /** The machines of the team, by id, and what the others have published, by `<machine>/<kind>/<key>`. */
  members: Map<string, TeamMachine>;
  team: Map<string, TeamRecord>;
  /** Commands from this machine and to it, by `<machine that asks>/<id>`. */
  commands: Map<string, CommandEntry>;
  /** By the id of the attention item: what a person did with it last, and the item before. */
  undoable: Map<string, Undoable>;
  /** By folder: the deploy policies of the served projects. The file with the list of projects is one of them. */
  projects: Map<string, ProjectPolicies & { project: string }>;
  /** By `repoKey`: repositories that a project has ever required proof for. */
  policies: Map<string, RepoPolicy>;
  /** Indexes derived from the maps and never stored, so no line has to search. */
  links: BoardLinks;
};

/** The fields of a line that a fold reads. */
export type FoldedLine = Pick<
  EventLine,
  | 'seq'
  | 'ts'
  | 'event'
  | 'source'
  | 'via'
  | 'occurredAt'
  | 'scope'
  | 'detail'
  | 'actor'
  | 'reporter'
  | 'repeatOf'
>;

// The entities: what the API returns of each, without fields computed for an answer, and with fields that only the fold
// needs.

type Shown =
  | 'error'
  | 'cost'
  | 'waited'
  | 'attempts'
  | 'budget'
  | 'pullRequest'
  | 'pullRequestKey'
  | 'rule'
  | 'waitsFor'
  | 'until'
  | 'contradictions'
  | 'needs';

export type Worker = Omit<WorkerView, Shown> & {
  /** The last reported signal file, and its hash, by which the watcher knows what the log has. */
  signal: SignalFile | null;
  hash: string | null;
  /**
   * What the first files said: an agent that names a laxer repository later does not loosen the policy, and one that names
   * an earlier start does not get an earlier pull request. The branch stays as it was first, too.
   */
  first: { repo: string | null; startedAt: string | null };
  /** Attention reasons that were raised and whose cause still exists, even if a person resolved the item. */
  raised: string[];
  /** What its agent has of the text of its ticket; null: nothing was given to it. */
  given: TicketDigest | null;
  /** What its agent cost so far. */
  spent: Spent;
  /** How long its agents have waited for people so far. */
  waited: Waited;
  /** The line of the last poll of the code host that found no pull request for its claim. */
  unseenSeq: number | null;
  /** Pairs of commits of which the later one has not the change of the earlier: reverted, or not after it at all. */
  refuted: { pair: string; reverted: boolean }[];
  /** Pairs of commits that were compared for it, `<merge>..<deployed>`, newest last. */
  proofsAsked: string[];
};

export type Run = Omit<ShownRun, 'key'>;
export type Ticket = Omit<ShownTicket, 'key'>;
export type Session = Omit<ShownSession, 'key'>;
/** Each state once, in the order of the events, with its first event. */
export type Deployment = Omit<ShownDeployment, 'key'>;
/** The last reported state of a feed. */
export type FeedState = Omit<Feed, 'key'>;
/** One item per orchestrator, ticket and reason (and feed), however often it is raised, until its cause is gone or a person resolves it. */
export type { AttentionItem };

/** `before` is the item as it was. */
export type Undoable = {
  id: string;
  action: 'acknowledge' | 'snooze' | 'hand-over' | 'resolve';
  by: string;
  seq: number;
  before: AttentionItem;
};

/** `filingAt`: its ticket may have been created since. */
export type Task = {
  key: string;
  /** The line that asked for it. */
  seq: number;
  title: string;
  /** Kept for a local ticket; otherwise until the tracker has it. */
  body: string;
  local: boolean;
  project: string;
  base: string | null;
  agent: string | null;
  model: string | null;
  mode: string | null;
  by: string;
  ticket: string | null;
  url: string | null;
  state: 'requested' | 'filed' | 'started' | 'refused';
  filingAt: string | null;
  /** Why no run was started, and the fix. */
  reason: string | null;
  remedy: string | null;
} & Last;

type Last = { lastSeq: number; lastAt: string };
export type TeamMachine = DetailOf<'team.roster.changed'>['machines'][number] & Last;
type OrGone<Shared> = Shared extends { kind: infer Kind; value: infer Value }
  ? { kind: Kind; value: Value | null }
  : never;
/** `value` null: it no longer exists. */
export type TeamRecord = OrGone<SharedValue> & {
  id: string;
  machine: string;
  key: string;
  version: number;
} & Last;

export type CommandEntry = {
  key: string;
  id: string;
  direction: 'sent' | 'received';
  from: string;
  to: string;
  command: TeamCommand;
  at: string;
  expiresAt: string;
  state: 'open' | ResultValue['state'];
  why: string | null;
  remedy: string | null;
  endedAt: string | null;
  /** Received: the machine that asked has the result, or no longer asks. */
  closed: boolean;
} & Last;

/** A comment or environment that links to previews. A deleted comment is kept with `gone`. */
export type PreviewSource = { source: string; links: string[]; at: string | null; gone: boolean };

export type PullRequest = Omit<PullRequestView, 'key' | 'name' | 'readiness'> & {
  /** The last verdict of any reviewer, until a dismissal. A reconciliation compares with it. */
  verdict: ReviewVerdict | null;
  threads: { id: string; resolved: boolean; at: string | null }[];
  previewSources: PreviewSource[];
  /** The upstream time of the newest state, head and draft; an older line does not overwrite them. */
  reportedAt: string | null;
  /** The upstream time of the newest review, check or thread; an older merge state does not count. */
  judgedAt: string | null;
  /** The last line that a reconciliation counts as a change. */
  asOf: number;
  /** The line that requested the merge state, until a line reports it: one request at a time. */
  askedSeq: number | null;
};
export type PullRequestCheck = PullRequest['checks'][number];
export type ReviewVerdict = NonNullable<PullRequestView['reviewDecision']>;
export type MergeReadiness = PullRequestView['readiness'];

/** Lists are in order and never changed in place: they are read far more often than they change. */
type Index = Map<string, readonly string[]>;

/** Indexes derived from the maps (board-entities.ts). */
export type BoardLinks = {
  /** Workers that name their pull request, by its key. */
  workersByPullRequest: Index;
  /** Workers by repository and branch. */
  workersByBranch: Index;
  /** Workers by the commits that their change was merged as. */
  workersByMerge: Index;
  /** Workers whose merge is not known to have shipped, by repository. */
  waitingByRepo: Index;
  pullRequestsByHead: Index;
  pullRequestsByBranch: Index;
  deploymentsByCommit: Index;
  /** The highest deployment ids of a repository, highest first. */
  newestDeployments: Map<string, number[]>;
};

/** The entities that the board shows. */
export const boardKinds = [
  'workers',
  'pullRequests',
  'deployments',
  'tickets',
  'runs',
  'attention',
  'feeds',
  'sessions',
  'members',
  'team',
] as const;
export type BoardKind = (typeof boardKinds)[number];
