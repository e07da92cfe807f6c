// The labels of a pull request: its checks and its review.
import type { StateLabel } from '../../kernel/board/label.ts';
import type { PullRequestView } from './entity.ts';
import { checkSummary, reviewVerdictOf } from './pull-request-verdict.ts';

/** Checks of the head commit, worst first: `1 failed, 2 running, 3 passed`. Without any checks it is unknown. */
export function checksLabel(pullRequest: Pick<PullRequestView, 'checks'>): StateLabel {
  const { failed, running, passed, whole } = checkSummary(pullRequest);
  const single = {
    failed: failed.length - Number(whole === 'failed'),
    passed: passed - Number(whole === 'passed'),
  };
  const words = [
    whole === 'failed' && 'checks failed',
    single.failed > 0 && `${single.failed} failed`,
    running.length > 0 && `${running.length} running`,
    single.passed > 0 && `${single.passed} passed`,
    whole === 'passed' &&
      (single.failed + running.length + single.passed > 0 ? 'others passed' : 'checks passed'),
  ].filter((part) => part !== false);
  if (words.length === 0) return { meaning: 'unknown', words: 'checks unknown' };
  const meaning = failed.length > 0 ? 'broken' : running.length > 0 ? 'motion' : 'proven';
  return { meaning, words: words.join(', ') };
}

/** The current review decision; null without one. */
export function reviewLabel(
  pullRequest: Pick<PullRequestView, 'reviews' | 'reviewDecision' | 'draft'>,
): StateLabel | null {
  if (pullRequest.draft === true) return { meaning: 'unknown', words: 'draft' };
  const verdict = reviewVerdictOf(pullRequest);
  if (verdict === null) return null;
  return verdict === 'approved'
    ? { meaning: 'proven', words: 'approved' }
    : { meaning: 'you', words: 'changes requested' };
}
