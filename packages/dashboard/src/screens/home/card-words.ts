// The texts of a card: status, checks, review and deploy.

import type { BoardCard, PullRequestView, WorkerView } from '@svc/core';
import { isShipped } from '@svc/core/browser';
import { type StateLabel, workerLabel } from '../../parts/meaning.ts';

/** The worker of a closed pull request still reports "in review"; the card must not show that. */
export function statusOf({ worker, pullRequest }: BoardCard, needsYou: boolean): StateLabel {
  if (worker === null) return { meaning: needsYou ? 'you' : 'review', words: 'Open, no agent' };
  const isInReview = worker.status === 'pr-created' || worker.status === 'merging';
  if (isInReview && pullRequest?.state === 'closed')
    return { meaning: 'you', words: 'Closed without merging' };
  const label = workerLabel(worker);
  return needsYou ? { ...label, meaning: 'you' } : label;
}

/** A title of the own tracker comes before what another machine of the team says. */
export function titleOf(card: Pick<BoardCard, 'ticket' | 'pullRequest' | 'worker'>): string | null {
  const { ticket, pullRequest, worker } = card;
  return ticket?.title ?? pullRequest?.title ?? worker?.title ?? null;
}

/** The end of the standard error of an agent that exited, unless the attention item shows it already. */
export function errorsOf({ worker, attention }: Pick<BoardCard, 'worker' | 'attention'>): string | null {
  if (worker === null || isShipped(worker) || worker.status === 'canceled') return null;
  const isShown = attention[0]?.reason === 'worker-dead' || attention[0]?.reason === 'worker-stalled';
  return isShown ? null : (worker.process.stderr ?? null);
}

const passing = new Set(['success', 'neutral', 'skipped']);

/** Checks of the head commit, worst first: `1 failed, 2 running, 3 passed`. Without any checks it is unknown. */
export function checksOf({ checks }: Pick<PullRequestView, 'checks'>): StateLabel {
  if (checks.length === 0) return { meaning: 'unknown', words: 'checks unknown' };
  const running = checks.filter(({ conclusion }) => conclusion === null).length;
  const passed = checks.filter(({ conclusion }) => conclusion !== null && passing.has(conclusion)).length;
  const failed = checks.length - running - passed;
  const counts = [
    failed > 0 && `${failed} failed`,
    running > 0 && `${running} running`,
    passed > 0 && `${passed} passed`,
  ].filter((count) => count !== false);
  return {
    meaning: failed > 0 ? 'broken' : running > 0 ? 'motion' : 'proven',
    words: counts.join(', '),
  };
}

/** The current review decision; null without one. */
export function reviewOf(
  pullRequest: Pick<PullRequestView, 'reviews' | 'reviewDecision' | 'draft'>,
): StateLabel | null {
  const { reviews, reviewDecision, draft } = pullRequest;
  const has = (state: string): boolean => reviews.some((review) => review.state === state);
  if (draft === true) return { meaning: 'unknown', words: 'draft' };
  if (reviewDecision === 'changes_requested' || (reviewDecision === null && has('changes_requested')))
    return { meaning: 'you', words: 'changes requested' };
  if (reviewDecision === 'approved' || (reviewDecision === null && has('approved')))
    return { meaning: 'proven', words: 'approved' };
  return null;
}

/** The deploy of a merged pull request; null before the merge. */
export function deployOf(
  worker: Pick<WorkerView, 'deploy' | 'status' | 'attempts' | 'budget'>,
): StateLabel | null {
  const { deploy, attempts, budget } = worker;
  if (deploy === null) return null;
  const { environment, deploymentId, result } = deploy;
  const failures = `${attempts} of ${budget} attempts failed`;
  const more = attempts === 0 ? '' : `, ${failures}`;
  if (result === 'success') return { meaning: 'proven', words: `live in ${environment}` };
  if (result === 'accepted') return { meaning: 'unknown', words: `${environment}: accepted by a person` };
  if (result === 'timeout') return { meaning: 'broken', words: `${environment}: timed out` };
  if (result === 'budget-exhausted' || worker.status === 'deploy-failed')
    return { meaning: 'broken', words: `${environment}: ${failures}` };
  return deploymentId === null
    ? { meaning: 'unknown', words: `${environment}: not started${more}` }
    : { meaning: 'motion', words: `${environment}: in progress${more}` };
}

/** Whether the first attention item already shows it. */
export function isShownBy(item: BoardCard['attention'][number] | undefined, what: 'deploy'): boolean {
  return item?.reason.startsWith(`${what}-`) ?? false;
}
