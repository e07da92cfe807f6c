// Everything that the log tells, folded: pull requests, workers, deploys, tickets, runs, attention, feeds. A
// pure function of the lines: the same lines give the same board, whoever folds them and in how many parts.
// Entities are never changed in place, so that a copy of the maps is a picture of one moment.

import type {
  AttentionItem,
  Feed,
  PullRequestView,
  Deployment as ShownDeployment,
  Run as ShownRun,
  Ticket as ShownTicket,
  WorkerView,
} from '../api/entities.ts';
import type { ProjectPolicies } from '../deploy/policy.ts';
import type { EventLine } from '../log/event-line.ts';
import type { SignalFile } from '../runs/signal-file.ts';

export type Board = {
  /** The last line folded; 0 is none. */
  seq: number;
  at: string | null;
  /** By `<repo in small letters>#<number>`. */
  pullRequests: Map<string, PullRequest>;
  /** By `<orchestrator>/<ticket>`. */
  workers: Map<string, Worker>;
  /** By `<repo in small letters>#<id>`. */
  deployments: Map<string, Deployment>;
  tickets: Map<string, Ticket>;
  runs: Map<string, Run>;
  attention: Map<string, AttentionItem>;
  feeds: Map<string, FeedState>;
  /** By folder: what the projects that are served say about deploys. */
  projects: Map<string, ProjectPolicies & { project: string }>;
  /** Derived from the maps and never stored: who belongs to whom, so that no line has to search. */
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

// The entities, as the log tells them: what the answers of the API show of each, without what is only worked out for an
// answer, and with what only folding needs.

type Shown =
  | 'error'
  | 'cost'
  | 'attempts'
  | 'budget'
  | 'pullRequest'
  | 'pullRequestKey'
  | 'rule'
  | 'waitsFor'
  | 'until'
  | 'contradictions';

export type Worker = Omit<WorkerView, Shown> & {
  /** The file as it was told last, and its hash, by which the watcher knows what the log has. */
  signal: SignalFile | null;
  hash: string | null;
  /** Reasons for attention whose cause was told and is not gone, even where a person resolved the item. */
  raised: string[];
  /** Deployed commits of which it was asked whether they contain the merge, newest last. */
  proofsAsked: string[];
};

export type Run = Omit<ShownRun, 'key'>;
export type Ticket = Omit<ShownTicket, 'key'>;
/** Each state once, in the order in which it was told, with the line that told it first. */
export type Deployment = Omit<ShownDeployment, 'key'>;
/** The last edge of a feed. */
export type FeedState = Omit<Feed, 'key'>;
/** One item per orchestrator, ticket and reason (and feed), however often it is raised, until its cause is gone or a person says so. */
export type { AttentionItem };

/** How a line came: by a delivery, by its replay, by asking, or from this machine. */
export type Via = EventLine['via'];

/** A comment or an environment that links to previews. A deleted comment is kept with `gone`. */
export type PreviewSource = { source: string; links: string[]; at: string | null; gone: boolean };

export type PullRequest = Omit<PullRequestView, 'key' | 'name' | 'readiness'> & {
  /** The last verdict of anyone, until a dismissal. A reconciliation compares with it. */
  verdict: ReviewVerdict | null;
  threads: { id: string; resolved: boolean; at: string | null }[];
  previewSources: PreviewSource[];
  /** When the newest state, head and draft that were told were so; an older line does not take them back. */
  reportedAt: string | null;
  /** When the newest review, check or thread was told; an older word on the merge state does not count. */
  judgedAt: string | null;
  /** The last line that a reconciliation counts as news. */
  asOf: number;
  /** The line that asked for the merge state, until a line answers: one question at a time. */
  askedSeq: number | null;
};
export type PullRequestCheck = PullRequest['checks'][number];
export type ReviewVerdict = NonNullable<PullRequestView['reviewDecision']>;
export type MergeReadiness = PullRequestView['readiness'];

/** Lists are in order and never changed in place: they are read far more often than they change. */
type Index = Map<string, readonly string[]>;

/** Who belongs to whom, derived from the maps (board-links.ts). */
export type BoardLinks = {
  /** Workers that name their pull request, by its key. */
  workersByPullRequest: Index;
  /** Workers that name none, by repository and branch. */
  workersByBranch: Index;
  /** By the commit of their merge. */
  workersByMerge: Index;
  /** Workers whose merge is not known to have shipped, by repository. */
  waitingByRepo: Index;
  pullRequestsByHead: Index;
  pullRequestsByBranch: Index;
  deploymentsByCommit: Index;
  /** The highest deployment ids of a repository, highest first. */
  newestDeployments: Map<string, number[]>;
};
