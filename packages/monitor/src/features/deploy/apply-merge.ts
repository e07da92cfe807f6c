// What the merge of a pull request means for the workers that it belongs to, or is merged with.

import { repoKey } from '@svc/contract/repo-name';
import type { FoldContext } from '../../kernel/board/fold-context.ts';
import { linked } from '../../kernel/board/links.ts';
import type { PullRequestChange } from '../pull-requests/fold-pull-request.ts';
import { pullRequestOfWorker, workersOfPullRequest } from '../pull-requests/own-pull-request.ts';
import { putWorker } from '../workers/slice.ts';
import { withOwnAttention } from '../workers/worker-attention.ts';
import { withFact } from './deploy-effects.ts';
import { withPolicy } from './fold-policy.ts';
import { withKnownDeployments, withKnownFacts } from './known-facts.ts';
import { withCarriers } from './stacked.ts';

function isNewMerge({ known, next, isRelinked }: PullRequestChange): boolean {
  return next.merge !== null && (isRelinked || next.merge !== known?.merge);
}

export function applyMerge(context: FoldContext, change: PullRequestChange): void {
  const { merge } = change.next;
  if (merge === null || !isNewMerge(change)) return;
  for (const worker of workersOfPullRequest(context.board, change.next)) {
    const merged = withFact(context, withPolicy(context.board, worker), { kind: 'merged', ...merge });
    if (merged !== worker)
      putWorker(
        context.board,
        withOwnAttention(context, withKnownDeployments(context, withCarriers(context, merged))),
      );
  }
}

/** A worker that names one that is not its own after all may own another one, which was merged before. */
export function applyOthers(
  context: FoldContext,
  { known, next: { number, state }, isRelinked, near }: PullRequestChange,
): void {
  const { board } = context;
  if (state === known?.state && !isRelinked) return;
  for (const key of new Set(near)) {
    const worker = board.workers.get(key);
    if (worker === undefined || worker.merge !== null) continue;
    const own = pullRequestOfWorker(board, worker);
    if (own === undefined || own.merge === null || own.number === number) continue;
    putWorker(board, withOwnAttention(context, withKnownFacts(context, withPolicy(board, worker))));
  }
}

/** Workers whose pull requests were merged into the branch of this one are merged with it. */
export function applyToStack(context: FoldContext, change: PullRequestChange): void {
  const { board } = context;
  const { repo, branch } = change.next;
  if (!isNewMerge(change)) return;
  for (const key of linked(board.links.waitingByRepo, repoKey(repo))) {
    const worker = board.workers.get(key);
    if (worker === undefined || branch === null) continue;
    const carried = withCarriers(context, worker);
    if (carried === worker) continue;
    putWorker(board, withOwnAttention(context, withKnownDeployments(context, carried)));
  }
}
