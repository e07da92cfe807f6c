// A pull request as the log tells it.
import type { EventLine } from '../log/event-line.ts';

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
