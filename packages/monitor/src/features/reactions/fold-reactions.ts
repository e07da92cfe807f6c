// Notifies the workers of our runs about failed checks and reviews, and cancels a pending agent start once a new commit
// was pushed.

import type { Board } from '../../kernel/board/board.ts';
import { ask, type FoldContext } from '../../kernel/board/fold-context.ts';
import { pullRequestKey } from '../../kernel/board/keys.ts';
import { isIn } from '../../kernel/log/typed-line.ts';
import type { PullRequestChange } from '../pull-requests/fold-pull-request.ts';
import { pullRequestOfWorker, workersOfPullRequest } from '../pull-requests/own-pull-request.ts';
import type { PullRequest } from '../pull-requests/pull-request.ts';
import type { JudgementLine } from '../pull-requests/reduce-pull-request.ts';
import { MOST_REACTIONS } from '../workers/reaction-causes.ts';
import { putWorker } from '../workers/slice.ts';
import { isPreMerge } from '../workers/status-groups.ts';
import type { Worker } from '../workers/worker.ts';
import { withOwnAttention } from '../workers/worker-attention.ts';
import { type Reaction, reactionText, reactionTo, reactionToChecks } from './reactions.ts';

/** After a review or check that changed the pull request. */
export function reactToJudgement(
  context: FoldContext<JudgementLine['event']>,
  pullRequest: PullRequest,
): void {
  const { board, line } = context;
  if (!isIn(line, 'codehost.check_suite') && !isIn(line, 'codehost.pr_review')) return;
  for (const worker of workersOfPullRequest(board, pullRequest)) {
    if (!isNotified(board, worker)) continue;
    const notified = withReaction(context, worker, pullRequest, reactionTo(line, pullRequest));
    const next = withOwnAttention(context, notified);
    if (next !== worker) putWorker(board, next);
  }
}

/** For a worker that has just been linked to its pull request. */
export function withKnownReactions(context: FoldContext, worker: Worker): Worker {
  const pullRequest = pullRequestOfWorker(context.board, worker);
  if (pullRequest === undefined || !isNotified(context.board, worker)) return worker;
  return withReaction(context, worker, pullRequest, reactionToChecks(pullRequest));
}

/** A new commit was pushed: an agent that was to be started for the previous one is no longer needed. */
export function reactToPush(context: FoldContext, { known, next }: PullRequestChange): void {
  if (known === undefined || next.headSha === known.headSha) return;
  for (const worker of workersOfPullRequest(context.board, next)) {
    if (worker.recall === null && worker.raised.length === 0) continue;
    putWorker(context.board, withOwnAttention(context, { ...worker, recall: null }));
  }
}

/** Only in runs that we orchestrate, and only before the merge. */
function isNotified(board: Board, { orchestrator, status, merge, removed }: Worker): boolean {
  const run = board.runs.get(orchestrator);
  if (run === undefined || run.plan === null || (run.state !== 'running' && run.state !== 'paused'))
    return false;
  return isPreMerge(status) && merge === null && !removed;
}

function withReaction(
  context: FoldContext,
  worker: Worker,
  pullRequest: PullRequest,
  reaction: Reaction | undefined,
): Worker {
  if (reaction === undefined) return worker;
  const { cause, id, sha, reviewId, url } = reaction;
  const before = worker.reactions[cause];
  if (before.includes(id) || before.length > MOST_REACTIONS) return worker;
  const number = before.length + 1;
  const { key, orchestrator, ticket } = worker;
  const { repo } = pullRequest;
  if (number <= MOST_REACTIONS)
    ask(context, `${key}:${cause}:${pullRequestKey(repo, pullRequest.number)}`, {
      kind: 'message-worker',
      orchestrator,
      ticket,
      cause,
      number,
      repo,
      pr: pullRequest.number,
      sha,
      reviewId,
      url,
      text: reactionText(reaction, pullRequest, number),
    });
  return { ...worker, reactions: { ...worker.reactions, [cause]: [...before, id] } };
}
