// Whether a pull request could be merged now. The code host decides by rules that it does not tell, so that
// its own word counts most; without it, what is known to stand in the way is told, and else "unknown".
import type { MergeReadiness, PullRequest } from './board-types.ts';
import { standingOf } from './reduce-pull-request.ts';

type Judged = Pick<
  PullRequest,
  | 'state'
  | 'draft'
  | 'mergeable'
  | 'mergeableState'
  | 'base'
  | 'checks'
  | 'reviews'
  | 'reviewDecision'
  | 'unresolvedThreads'
>;

/** Its words for "nothing that is required stands in the way". */
const free = new Set(['clean', 'unstable', 'has_hooks']);

export function mergeReadiness(pullRequest: Judged): MergeReadiness {
  const { state, mergeableState } = pullRequest;
  if (state === 'merged') return { ready: false, reasons: ['it is merged already'] };
  if (state === 'closed') return { ready: false, reasons: ['it is closed'] };
  const hard = hardReasons(pullRequest);
  const standing = standingOf(pullRequest);
  const soft = softReasons(pullRequest, standing.failed);
  const running = standing.running.length > 0 ? [`checks are running: ${listed(standing.running)}`] : [];
  const reasons = [...hard, ...soft, ...running];
  if (hard.length > 0) return { ready: false, reasons };
  if (mergeableState !== null && free.has(mergeableState)) return { ready: true, reasons };
  if (mergeableState === 'blocked')
    return {
      ready: false,
      reasons: reasons.length > 0 ? reasons : ['the code host says that a rule of the repository is not met'],
    };
  if (soft.length > 0) return { ready: false, reasons };
  return { ready: null, reasons: [...running, 'the code host has not said whether it can be merged'] };
}

function hardReasons({ draft, mergeable, mergeableState, base }: Judged): string[] {
  const target = base ?? 'its base branch';
  const reasons: string[] = [];
  if (draft === true || mergeableState === 'draft') reasons.push('it is a draft');
  if (mergeable === false || mergeableState === 'dirty') reasons.push(`it conflicts with ${target}`);
  if (mergeableState === 'behind') reasons.push(`it is behind ${target}`);
  return reasons;
}

function softReasons(pullRequest: Judged, failed: readonly string[]): string[] {
  const { reviews, reviewDecision, unresolvedThreads } = pullRequest;
  const objectors = reviews.filter(({ state }) => state === 'changes_requested');
  const reasons: string[] = [];
  if (failed.length > 0) reasons.push(`checks failed: ${listed(failed)}`);
  if (reviewDecision === 'changes_requested' || (reviewDecision === null && objectors.length > 0)) {
    const names = objectors.map(({ reviewer }) => reviewer);
    reasons.push(names.length > 0 ? `changes are requested by ${listed(names)}` : 'changes are requested');
  }
  const threads = unresolvedThreads.length;
  if (threads > 0)
    reasons.push(threads === 1 ? 'one thread is unresolved' : `${threads} threads are unresolved`);
  return reasons;
}

function listed(names: readonly string[]): string {
  const first = [...new Set(names)];
  return first.length <= 3
    ? first.join(', ')
    : `${first.slice(0, 3).join(', ')} and ${first.length - 3} more`;
}
