// What a card says in words: the status, the checks of its pull request, its deploy and its cost.

import type { BoardCard, PullRequestView, WorkerView } from '@svc/core';
import { type Standing, standingOf } from '../../parts/meaning.ts';

/** A pull request that was closed keeps its worker's status; the card must not call that a review. */
export function statusOf({ worker, pullRequest }: BoardCard, needsYou: boolean): Standing {
  if (worker === null) return { meaning: needsYou ? 'you' : 'review', words: 'Open, without a worker' };
  const isInReview = worker.status === 'pr-created' || worker.status === 'merging';
  if (isInReview && pullRequest?.state === 'closed')
    return { meaning: 'you', words: 'Closed without a merge' };
  const standing = standingOf(worker);
  return needsYou ? { ...standing, meaning: 'you' } : standing;
}

export function titleOf({ ticket, pullRequest }: Pick<BoardCard, 'ticket' | 'pullRequest'>): string | null {
  return ticket?.title ?? pullRequest?.title ?? null;
}

/** The end of the standard error of an agent that is gone, unless the item of attention says it already. */
export function errorsOf({ worker, attention }: Pick<BoardCard, 'worker' | 'attention'>): string | null {
  if (worker === null || worker.status === 'done' || worker.status === 'canceled') return null;
  const isSaid = attention[0]?.reason === 'worker-dead' || attention[0]?.reason === 'worker-stalled';
  return isSaid ? null : (worker.life.stderr ?? null);
}

const passing = new Set(['success', 'neutral', 'skipped']);

/** Of the head commit, the worst first: `1 failed, 2 running, 3 green`. A pull request without any is unknown. */
export function checksOf({ checks }: Pick<PullRequestView, 'checks'>): Standing {
  if (checks.length === 0) return { meaning: 'unknown', words: 'checks unknown' };
  const running = checks.filter(({ conclusion }) => conclusion === null).length;
  const green = checks.filter(({ conclusion }) => conclusion !== null && passing.has(conclusion)).length;
  const failed = checks.length - running - green;
  const counts = [
    failed > 0 && `${failed} failed`,
    running > 0 && `${running} running`,
    green > 0 && `${green} green`,
  ].filter((count) => count !== false);
  return {
    meaning: failed > 0 ? 'broken' : running > 0 ? 'motion' : 'proven',
    words: counts.join(', '),
  };
}

/** What reviewers said last; null while nobody has said anything that counts. */
export function reviewOf(
  pullRequest: Pick<PullRequestView, 'reviews' | 'reviewDecision' | 'draft'>,
): Standing | null {
  const { reviews, reviewDecision, draft } = pullRequest;
  const said = (state: string): boolean => reviews.some((review) => review.state === state);
  if (draft === true) return { meaning: 'unknown', words: 'draft' };
  if (reviewDecision === 'changes_requested' || (reviewDecision === null && said('changes_requested')))
    return { meaning: 'you', words: 'changes requested' };
  if (reviewDecision === 'approved' || (reviewDecision === null && said('approved')))
    return { meaning: 'proven', words: 'approved' };
  return null;
}

/** Its deploy, once it is merged; null before. */
export function deployOf(
  worker: Pick<WorkerView, 'deploy' | 'status' | 'attempts' | 'budget'>,
): Standing | null {
  const { deploy, attempts, budget } = worker;
  if (deploy === null) return null;
  const { environment, deploymentId, result } = deploy;
  const tries = attempts === 0 ? '' : `, ${attempts} of ${budget} failed`;
  if (result === 'success') return { meaning: 'proven', words: `live in ${environment}` };
  if (result === 'accepted') return { meaning: 'unknown', words: `${environment} accepted by a person` };
  if (result === 'budget-exhausted')
    return { meaning: 'broken', words: `${environment}: ${attempts} of ${budget} deploys failed` };
  if (result === 'timeout') return { meaning: 'broken', words: `${environment}: no success in time` };
  if (worker.status === 'deploy-failed')
    return { meaning: 'broken', words: `${environment}: ${attempts} of ${budget} deploys failed` };
  return deploymentId === null
    ? { meaning: 'unknown', words: `${environment}: none has started${tries}` }
    : { meaning: 'motion', words: `${environment}: under way${tries}` };
}

/** Lines that the first item of attention says already. */
export function isSaidBy(item: BoardCard['attention'][number] | undefined, what: 'deploy'): boolean {
  return item?.reason.startsWith(`${what}-`) ?? false;
}
