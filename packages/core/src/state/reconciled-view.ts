// A pull request in the form that a reconciliation compares.
import type { KnownPullRequest } from '../codehost/poll-differences.ts';
import type { PullRequest } from './board-types.ts';
import { ALL_CHECKS } from './reduce-pull-request.ts';

export function knownPullRequest(pullRequest: PullRequest): KnownPullRequest {
  const { state, draft, headSha, verdict, checks, mergeableState, merge, asOf } = pullRequest;
  const whole = checks.find(({ name }) => name === ALL_CHECKS)?.conclusion;
  return {
    state,
    draft: draft ?? undefined,
    headSha: headSha ?? undefined,
    verdict: verdict ?? undefined,
    checks: whole === 'success' || whole === 'failure' ? whole : undefined,
    mergeableState: mergeableState ?? undefined,
    mergeSha: merge?.sha ?? undefined,
    asOf: String(asOf),
  };
}
