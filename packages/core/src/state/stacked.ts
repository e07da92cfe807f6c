// Stacked pull requests: one was merged into the branch of another, which is merged later. If that is squashed, the first
// merge is in no commit of the main branch, but its change is in the squashed one. It counts as merged with it, once git
// has proved that the head of the other pull request contains it.
import { isTimedOut, isWaitingForDeploy } from '../deploy/deploy-worker.ts';
import { branchKey, linked, pullRequestKey, pullRequestOfWorker } from './board-entities.ts';
import type { Board, PullRequest, Worker } from './board-types.ts';
import { isProvenForOther, withFact, withProofAsked } from './deploy-effects.ts';
import type { FoldContext } from './fold-context.ts';

/** Requests the missing proofs, and adds what is proven; a stack may have several levels. */
export function withCarriers(context: FoldContext, worker: Worker): Worker {
  if (!worker.policy.acceptDescendants || !(isWaitingForDeploy(worker) || isTimedOut(worker))) return worker;
  let next = worker;
  // A carrier may itself have been stacked: what is added is looked at too.
  for (let level = 0; ; level += 1) {
    const merged = mergedPullRequests(context.board, next)[level];
    if (merged === undefined) return next;
    for (const other of stackedOn(context.board, merged.pullRequest))
      next = withCarrier(context, next, merged.sha, other);
  }
}

type Merged = { pullRequest: PullRequest; sha: string };

/** The worker's own pull request, and those that carry it, each with the commit that it was merged as. */
function mergedPullRequests(board: Board, worker: Worker): Merged[] {
  const { repo, merge, deploy } = worker;
  const own = pullRequestOfWorker(board, worker);
  if (repo === null || own === undefined || typeof merge?.sha !== 'string') return [];
  const carriers = (deploy?.carriedBy ?? []).flatMap(({ pr, sha }): Merged[] => {
    const pullRequest = board.pullRequests.get(pullRequestKey(repo, pr));
    return pullRequest ? [{ pullRequest, sha }] : [];
  });
  return [{ pullRequest: own, sha: merge.sha }, ...carriers];
}

/** Merged pull requests whose branch is the base of this one. */
function stackedOn(board: Board, { repo, number, base }: PullRequest): PullRequest[] {
  if (base === null) return [];
  return linked(board.links.pullRequestsByBranch, branchKey(repo, base))
    .flatMap((key) => board.pullRequests.get(key) ?? [])
    .filter((other) => other.number !== number && typeof other.merge?.sha === 'string');
}

function withCarrier(context: FoldContext, worker: Worker, base: string, carrier: PullRequest): Worker {
  const { headSha, merge, number: pr } = carrier;
  if (headSha === null || typeof merge?.sha !== 'string') return worker;
  const { seq, at } = merge;
  const isProven = headSha === base || worker.deploy?.containedIn.includes(headSha) === true;
  if (!isProven && !isProvenForOther(context.board, worker, headSha))
    return withProofAsked(context, worker, base, headSha);
  const proven = withFact(context, worker, { kind: 'contains', sha: headSha, seq, at });
  return withFact(context, proven, { kind: 'carried', pr, sha: merge.sha, seq, at });
}
