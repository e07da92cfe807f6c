// Pull requests that wait for a person. The board does not know whom a review was asked of: a pull request that
// nobody has judged yet waits, asked for or not. After changes were requested it is the worker's turn, until a
// reviewer speaks again or is dismissed; a push in between does not tell that it is ready again.
import type { PullRequest, ReviewVerdict } from '../state/pull-request.ts';
import { standingOf } from '../state/pull-request-checks.ts';

type Judged = Pick<PullRequest, 'reviews' | 'reviewDecision'>;

/** Open, no draft, no failed check, and nobody has approved it or asked for changes. */
export function waitsForPerson(pullRequest: PullRequest): boolean {
  return (
    pullRequest.state === 'open' &&
    pullRequest.draft !== true &&
    standingOf(pullRequest).failed.length === 0 &&
    reviewVerdictOf(pullRequest) === null
  );
}

/** What counts against `maxAwaitingReview`; pass in the pull requests of the project's workers. */
export function awaitingReview(pullRequests: Iterable<PullRequest>): PullRequest[] {
  return [...pullRequests].filter(waitsForPerson);
}

/** What the reviews come to: as a poll found them decided, else one objection stands before any approval. */
export function reviewVerdictOf({ reviewDecision, reviews }: Judged): ReviewVerdict | null {
  if (reviewDecision !== null) return reviewDecision;
  if (reviews.some(({ state }) => state === 'changes_requested')) return 'changes_requested';
  return reviews.some(({ state }) => state === 'approved') ? 'approved' : null;
}
