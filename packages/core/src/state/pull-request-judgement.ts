// A review, a check or a thread may change whether a pull request can be merged. Where it makes the code
// host's last word stale, that word is dropped: unknown is better than wrong.
import type { PullRequest } from './pull-request.ts';

const staleAfter = {
  favourable: new Set(['blocked', 'unstable']),
  unfavourable: new Set(['clean', 'unstable', 'has_hooks']),
  /** A dismissed review: which of the two it was is not told. */
  either: new Set(['blocked', 'clean', 'unstable', 'has_hooks']),
};

export function withJudgement(pullRequest: PullRequest, judgement: keyof typeof staleAfter): PullRequest {
  const { mergeableState } = pullRequest;
  const isStale = mergeableState !== null && staleAfter[judgement].has(mergeableState);
  return isStale ? { ...pullRequest, mergeableState: null } : pullRequest;
}
