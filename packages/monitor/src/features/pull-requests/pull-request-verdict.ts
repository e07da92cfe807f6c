// What the checks and the reviews of a pull request say together. Pure and without a schema, so that a web page may import
// it: every surface gives the same answer.
import type { PullRequest, ReviewVerdict } from './pull-request.ts';

/** The name under which a poll reports the combined result of all checks. */
export const ALL_CHECKS = 'all checks';
const passing = new Set(['success', 'neutral', 'skipped']);

export function isPassing(conclusion: string): boolean {
  return passing.has(conclusion);
}

type CheckSummary = {
  failed: string[];
  running: string[];
  passed: number;
  /** A poll's result for all of them, which is counted above as one. */
  whole: 'passed' | 'failed' | null;
};

/** The combined result. A poll's result replaces what single suites reported before it. */
export function checkSummary({ checks }: Pick<PullRequest, 'checks'>): CheckSummary {
  const whole = checks.find(({ name }) => name === ALL_CHECKS);
  const since = whole === undefined ? checks : [whole, ...checks.filter(({ seq }) => seq > whole.seq)];
  const summary: CheckSummary = { failed: [], running: [], passed: 0, whole: null };
  for (const { name, conclusion } of since) {
    if (conclusion === null) summary.running.push(name);
    else if (isPassing(conclusion)) summary.passed += 1;
    else summary.failed.push(name);
  }
  if (whole?.conclusion) summary.whole = isPassing(whole.conclusion) ? 'passed' : 'failed';
  return summary;
}

type Judged = Pick<PullRequest, 'reviews' | 'reviewDecision'>;

/** The combined verdict: the decision that a poll found, else one objection outweighs any approval. */
export function reviewVerdictOf({
  reviewDecision,
  reviews,
}: {
  reviewDecision: Judged['reviewDecision'];
  reviews: readonly Pick<Judged['reviews'][number], 'state'>[];
}): ReviewVerdict | null {
  if (reviewDecision !== null) return reviewDecision;
  if (reviews.some(({ state }) => state === 'changes_requested')) return 'changes_requested';
  return reviews.some(({ state }) => state === 'approved') ? 'approved' : null;
}

// Pull requests that wait for a person. The board does not know who was requested as a reviewer: a pull request without
// a verdict waits, requested or not. After changes were requested, it waits for the worker until a reviewer submits
// again or is dismissed; a push in between does not mean that it is ready again.

/** Open, not a draft, no failed check, and neither approved nor changes requested. */
export function waitsForPerson(pullRequest: PullRequest): boolean {
  return (
    pullRequest.state === 'open' &&
    pullRequest.draft !== true &&
    checkSummary(pullRequest).failed.length === 0 &&
    reviewVerdictOf(pullRequest) === null
  );
}

/** What counts against `maxAwaitingReview`; pass in the pull requests of the project's workers. */
export function awaitingReview(pullRequests: Iterable<PullRequest>): PullRequest[] {
  return [...pullRequests].filter(waitsForPerson);
}
