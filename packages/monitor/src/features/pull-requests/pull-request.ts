// A pull request as the fold keeps it.
import type { PullRequestView } from './entity.ts';

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
