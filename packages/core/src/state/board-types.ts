// Everything that the log tells, folded: pull requests, workers, deploys, tickets, runs, attention, feeds. A
// pure function of the lines: the same lines give the same board, whoever folds them and in how many parts.
// Entities are never changed in place, so that a copy of the maps is a picture of one moment.

import type { DeploymentState, DeployWorker } from '../deploy/deploy-worker.ts';
import type { ProjectPolicies } from '../deploy/policy.ts';
import type { EventLine } from '../log/event-line.ts';
import type { Blockers, RunPlan } from '../orchestrate/plan.ts';
import type { ReactionCause, Reactions } from '../orchestrate/reaction-causes.ts';
import type { SignalFile, WorkerPhase } from '../runs/signal-file.ts';
import type { TicketPhase } from './effect.ts';

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

// A worker as the log tells it: what its signal file said last, what is believed, and how its merge ships.

export type Worker = DeployWorker & {
  /** `<orchestrator>/<ticket>`. */
  key: string;
  orchestrator: string;
  ticket: string;
  name: string;
  statusSince: string;
  /** The line that made the status what it is. */
  statusSeq: number;
  phase: WorkerPhase | null;
  repo: string | null;
  branch: string | null;
  wave: number | null;
  pr: { number: number; url: string | null } | null;
  /** The file as it was told last, and its hash, by which the watcher knows what the log has. */
  signal: SignalFile | null;
  hash: string | null;
  life: {
    state: 'alive' | 'dead' | 'unknown';
    since: string;
    seq: number;
    /** Dead, but a new process is about to be started for it. */
    reviving?: true;
    /** Of a dead one: the last lines of its standard error. */
    stderr?: string;
  };
  corrupt: { path: string; problem: string; seq: number } | null;
  /** The signal file is gone. */
  removed: boolean;
  /** Of its merged commit; null until one was begun. */
  verification: {
    state: 'running' | 'passed' | 'failed';
    sha: string | null;
    summary: string | null;
    /** A failure that blocks nothing. */
    advisory: boolean;
    /** What was filed about a failure; null while nothing was. */
    remediation: string | null;
    seq: number;
  } | null;
  /** When a person last said that it is to be started anew. */
  retriedAt: string | null;
  /** What it was told of its pull request, since its dispatch or since a person said retry. */
  reactions: Reactions;
  /** An agent is to be started for what it was told; null when one was, or when a commit came. */
  recall: { cause: ReactionCause; at: string; seq: number } | null;
  /** Agents that were started for that: they are no revivals. */
  recalls: number;
  /** Reasons for attention whose cause was told and is not gone, even where a person resolved the item. */
  raised: string[];
  /** Deployed commits of which it was asked whether they contain the merge, newest last. */
  proofsAsked: string[];
  lastSeq: number;
  lastAt: string;
};

// A run of the orchestrator as the log tells it.

export type Run = {
  orchestrator: string;
  name: string | null;
  /** Unknown: there are workers, but nobody told that a run began. */
  state: 'running' | 'paused' | 'completed' | 'canceled' | 'unknown';
  startedAt: string | null;
  endedAt: string | null;
  tickets: string[];
  /** How it was started; null for a run that somebody else conducts. */
  plan: RunPlan | null;
  /** What blocks a ticket, by ticket, where that was told. */
  blockedBy: Blockers | null;
  maxParallel: number | null;
  waves: { wave: number; state: 'started' | 'completed' | 'blocked'; tickets: string[]; seq: number }[];
  lastSeq: number;
  lastAt: string;
};

// A ticket as the log tells it: what the tracker says, and the phase that our workflow is in.

export type Ticket = {
  ticket: string;
  title: string | null;
  url: string | null;
  state: { id: string | null; name: string | null; type: string | null } | null;
  assignee: string | null;
  priority: number | null;
  labels: string[];
  phase: { phase: TicketPhase; at: string; seq: number } | null;
  removed: boolean;
  /** When the newest that the tracker told was so; an older line does not take it back. */
  toldAt: string | null;
  /** How the tracker's last word came; `local` while it has said nothing. */
  via: Via;
  lastSeq: number;
  lastAt: string;
};

// A pull request as the log tells it.

/** How a line came: by a delivery, by its replay, by asking, or from this machine. */
export type Via = EventLine['via'];

export type PullRequestCheck = {
  /** One suite of an app, or all checks of a commit as a poll found them. */
  name: string;
  /** Null for all checks together. */
  suiteId: number | null;
  /** Null while it runs. */
  conclusion: string | null;
  at: string | null;
  seq: number;
};

/** A comment or an environment that links to previews. A deleted comment is kept with `gone`. */
export type PreviewSource = { source: string; links: string[]; at: string | null; gone: boolean };

export type ReviewVerdict = 'approved' | 'changes_requested';

export type PullRequest = {
  repo: string;
  number: number;
  title: string | null;
  url: string | null;
  author: string | null;
  branch: string | null;
  /** Where the branch is, when that was told: a fork has branches of the same names. */
  headRepo: string | null;
  base: string | null;
  ticket: string | null;
  state: 'open' | 'closed' | 'merged';
  draft: boolean | null;
  /** The code host's own words; null while it has not said. */
  mergeable: boolean | null;
  mergeableState: string | null;
  headSha: string | null;
  /** Of the head commit. */
  checks: PullRequestCheck[];
  /** The last word of each reviewer, by deliveries: a poll names nobody. */
  reviews: { reviewer: string; state: string; at: string | null; seq: number }[];
  /** As a poll found them decided; deliveries tell them one by one. */
  reviewDecision: ReviewVerdict | null;
  /** The last verdict of anyone, until a dismissal. A reconciliation compares with it. */
  verdict: ReviewVerdict | null;
  threads: { id: string; resolved: boolean; at: string | null }[];
  unresolvedThreads: string[];
  previewSources: PreviewSource[];
  previews: string[];
  openedAt: string | null;
  merge: { sha: string | null; at: string; seq: number; via: string } | null;
  closedAt: string | null;
  /** When the newest state, head and draft that were told were so; an older line does not take them back. */
  toldAt: string | null;
  /** When the newest review, check or thread was told; an older word on the merge state does not count. */
  judgedAt: string | null;
  /** The last line that a reconciliation counts as news. */
  asOf: number;
  /** The line that asked for the merge state, until a line answers: one question at a time. */
  askedSeq: number | null;
  firstSeq: number;
  /** How the first line came, and how the last one did. */
  firstVia: Via;
  via: Via;
  lastSeq: number;
  lastAt: string;
};

/** Whether it could be merged now, and what stands in the way; unknown is an answer. */
export type MergeReadiness = { ready: boolean | null; reasons: string[] };

// A deployment as the log tells it: each state once, in the order in which it was told.

export type Deployment = {
  repo: string;
  id: number;
  sha: string;
  ref: string | null;
  environment: string;
  /** Whether its deployer calls the environment one of production; null when that was not told. */
  production: boolean | null;
  state: DeploymentState;
  /** When the newest state was told to be so, and not when it first was. */
  stateAt: string;
  /** Each with the line that told it first. */
  states: { state: DeploymentState; at: string; seq: number; via: string }[];
  environmentUrl: string | null;
  logUrl: string | null;
  description: string | null;
  lastSeq: number;
  lastAt: string;
};

// Something that needs a person: one item per orchestrator, ticket and reason (and feed), however often it is
// raised, until its cause is gone or a person says so.

export type AttentionItem = {
  /** `<orchestrator or ->/<ticket or feed or ->/<reason>`. */
  id: string;
  orchestrator: string | null;
  ticket: string | null;
  feed: string | null;
  reason: string;
  message: string;
  remedy: string | null;
  severity: string;
  /** Who said it last: the daemon itself, or a program of the user that reported it. */
  reportedBy: 'svc' | 'helper';
  openedAt: string;
  openedSeq: number;
  /** The lines that raised it, newest last, at most 20. */
  evidence: number[];
  times: number;
  acknowledged: { by: string; at: string } | null;
  snoozedUntil: string | null;
  /** To whom it was given last, and by whom; null while it is nobody's in particular. */
  handedOver: { to: string; by: string; at: string; note: string | null } | null;
};

// A feed as the log tells it: its last edge.

export type FeedState = {
  feed: string;
  grade: string;
  since: string;
  reason: string | null;
  remedy: string | null;
  lastSeq: number;
};

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
