// What reviewers say: the last word of each, and the threads that wait for an answer.
import { textAt } from '../receive/payload-fields.ts';
import type { FoldedLine } from './board-shape.ts';
import { isOlder, shortTextAt, upstreamTime, withEntry } from './line-fields.ts';
import type { PullRequest, ReviewVerdict } from './pull-request.ts';
import { withJudgement } from './pull-request-judgement.ts';

const MOST_REVIEWERS = 100;
const MOST_THREADS = 200;

export function withReview(known: PullRequest, line: FoldedLine): PullRequest {
  const isDismissed = line.event === 'codehost.pr_review.dismissed';
  const state = isDismissed ? 'dismissed' : textAt(line.detail, 'state')?.toLowerCase();
  const verdict = verdictIn(state);
  if (line.event === 'codehost.pr_review.edited' || (verdict === undefined && !isDismissed)) return known;
  const reviewer = shortTextAt(line.detail, 'reviewer');
  // A poll tells what all reviews come to, and so names nobody.
  if (reviewer === undefined) {
    const decided = { ...known, reviewDecision: verdict ?? null, verdict: verdict ?? null, asOf: line.seq };
    return withJudgement(decided, judgementIn(verdict));
  }
  const review = { reviewer, state: verdict ?? 'dismissed', at: upstreamTime(line), seq: line.seq };
  const before = known.reviews.find((other) => other.reviewer === reviewer);
  if (before !== undefined && isStale(before, review)) return known;
  const isLastWord = known.reviews.every((other) => !isOlder(review.at, other.at));
  const reviews = withEntry(known.reviews, (other) => other.reviewer === reviewer, review, MOST_REVIEWERS);
  const reviewed: PullRequest = {
    ...known,
    reviews,
    reviewDecision: null,
    verdict: isLastWord ? (verdict ?? null) : known.verdict,
    asOf: line.seq,
  };
  return withJudgement(reviewed, judgementIn(verdict));
}

type Review = PullRequest['reviews'][number];

/** Told before, or of a moment before. What was dismissed was said before that, whatever the clock says. */
function isStale(before: Review, review: Review): boolean {
  if (isOlder(review.at, before.at)) return true;
  if (review.at === null || review.at !== before.at) return false;
  return before.state === 'dismissed' || before.state === review.state;
}

function verdictIn(state: string | undefined): ReviewVerdict | undefined {
  return state === 'approved' || state === 'changes_requested' ? state : undefined;
}

function judgementIn(verdict: ReviewVerdict | undefined): 'favourable' | 'unfavourable' | 'either' {
  if (verdict === undefined) return 'either';
  return verdict === 'approved' ? 'favourable' : 'unfavourable';
}

export function withThread(known: PullRequest, line: FoldedLine): PullRequest {
  const id = shortTextAt(line.detail, 'threadId');
  if (id === undefined) return known;
  const resolved = line.event === 'codehost.pr_review_thread.resolved';
  const before = known.threads.find((thread) => thread.id === id);
  const at = upstreamTime(line);
  const isSame = before?.resolved === resolved;
  if (before !== undefined && (isOlder(at, before.at) || (isSame && !isOlder(before.at, at)))) return known;
  const threads = withEntry(known.threads, (thread) => thread.id === id, { id, resolved, at }, MOST_THREADS);
  if (isSame) return { ...known, threads };
  const unresolvedThreads = threads.filter((thread) => !thread.resolved).map((thread) => thread.id);
  return withJudgement({ ...known, threads, unresolvedThreads }, resolved ? 'favourable' : 'unfavourable');
}
