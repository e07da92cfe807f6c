// Stacked pull requests: one was merged into the branch of another, which is merged later. If that is squashed, the first
// merge is in no commit of the main branch, but its change is in the squashed one. It counts as merged with it, once git
// has proved that the head of the other pull request contains it, and that the other merge does not come after it: where it
// does, the first merge is in the history and counts by itself, as long as nothing has reverted it there.

import type { Board } from '../../kernel/board/board.ts';
import type { FoldContext } from '../../kernel/board/fold-context.ts';
import { branchKey } from '../../kernel/board/keys.ts';
import { linked } from '../../kernel/board/links.ts';
import { pullRequestOfWorker } from '../pull-requests/own-pull-request.ts';
import type { PullRequest } from '../pull-requests/pull-request.ts';
import { isTimedOut, isWaitingForDeploy } from '../workers/deploy-stage.ts';
import type { Worker } from '../workers/worker.ts';
import { isProvenForOther, refutationOf, withFact, withProofAsked } from './deploy-effects.ts';

/** More would be no stack. */
const MOST_REACHED = 20;

/** Requests the missing proofs, and adds what is proven; a stack may have several levels. */
export function withCarriers(context: FoldContext, worker: Worker): Worker {
  if (!worker.policy.acceptDescendants || !(isWaitingForDeploy(worker) || isTimedOut(worker))) return worker;
  const own = pullRequestOfWorker(context.board, worker);
  if (worker.repo === null || own === undefined || typeof worker.merge?.sha !== 'string') return worker;
  let next = worker;
  // Grows: what carries it may itself have been stacked.
  const reached: Reached[] = [{ pullRequest: own, sha: worker.merge.sha }];
  for (const { pullRequest, sha } of reached)
    for (const other of stackedOn(context.board, pullRequest)) {
      if (reached.length > MOST_REACHED || reached.some((one) => one.pullRequest === other)) continue;
      const step = withCarrier(context, next, sha, other);
      next = step.worker;
      if (step.sha !== null) reached.push({ pullRequest: other, sha: step.sha });
    }
  return next;
}

/** A pull request that has the change, and the commit that brings it along. */
type Reached = { pullRequest: PullRequest; sha: string };

/** Merged pull requests whose branch is the base of this one. */
function stackedOn(board: Board, { repo, number, base }: PullRequest): PullRequest[] {
  if (base === null) return [];
  return linked(board.links.pullRequestsByBranch, branchKey(repo, base))
    .flatMap((key) => board.pullRequests.get(key) ?? [])
    .filter((other) => other.number !== number && typeof other.merge?.sha === 'string');
}

function withCarrier(
  context: FoldContext,
  worker: Worker,
  base: string,
  carrier: PullRequest,
): { worker: Worker; sha: string | null } {
  const { headSha, merge, number: pr } = carrier;
  if (headSha === null || typeof merge?.sha !== 'string') return { worker, sha: null };
  const inHead = withAnswer(context, worker, base, headSha, merge);
  if (inHead.answer !== 'contained') return { worker: inHead.worker, sha: null };
  const inMerge = withAnswer(context, inHead.worker, base, merge.sha, merge);
  if (inMerge.answer === 'contained') return { worker: inMerge.worker, sha: base };
  if (inMerge.answer !== 'absent') return { worker: inMerge.worker, sha: null };
  const { seq, at } = merge;
  const carried = withFact(context, inMerge.worker, { kind: 'carried', pr, sha: merge.sha, seq, at });
  return { worker: carried, sha: merge.sha };
}

type Answer = 'contained' | 'absent' | 'reverted' | 'unknown';

/** Whether the commit has the change of the other one. What is not known yet is asked. */
function withAnswer(
  context: FoldContext,
  worker: Worker,
  base: string,
  sha: string,
  { seq, at }: { seq: number; at: string },
): { worker: Worker; answer: Answer } {
  if (sha === base || worker.deploy?.containedIn.includes(sha) === true)
    return { worker, answer: 'contained' };
  if (isProvenForOther(context.board, worker, sha))
    return { worker: withFact(context, worker, { kind: 'contains', sha, seq, at }), answer: 'contained' };
  const refutation = refutationOf(context.board, worker, `${base}..${sha}`);
  if (refutation !== undefined) return { worker, answer: refutation.reverted ? 'reverted' : 'absent' };
  return { worker: withProofAsked(context, worker, base, sha), answer: 'unknown' };
}
