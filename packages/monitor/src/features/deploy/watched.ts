// What a reconciliation with the code host has to check: active pull requests, and merges that wait for their deployment.

import type { Board } from '../../kernel/board/board.ts';
import { commitKey, pullRequestKey } from '../../kernel/board/keys.ts';
import { draft, type EventDraft } from '../../kernel/log/event-line.ts';
import { isUnseenClaim } from '../pull-requests/own-pull-request.ts';
import { stateIn } from '../pull-requests/poll-differences.ts';
import type { DeployWorker } from '../workers/deploy-fields.ts';
import { isTimedOut, isWaitingForDeploy, mergesOf } from '../workers/deploy-stage.ts';
import { isEnded } from '../workers/status-groups.ts';
import type { Worker } from '../workers/worker.ts';
import { scopeOfWorker } from '../workers/worker-attention.ts';

const DAY_MS = 86_400_000;
/** An open pull request without activity for this long is checked again after new activity. */
const UNTOUCHED_MS = 14 * DAY_MS;
/** After its deadline, a deployment is awaited this much longer. */
const LATE_DEPLOY_MS = DAY_MS;

/** Open pull requests with recent activity, and those that a worker names, even if the log does not have them. */
export function watchedPullRequests(board: Board, now: number): { repo: string; number: number }[] {
  const found = new Map<string, { repo: string; number: number }>();
  for (const [key, { state, repo, number, lastAt }] of board.pullRequests) {
    if (state === 'open' && now - Date.parse(lastAt) < UNTOUCHED_MS) found.set(key, { repo, number });
  }
  for (const worker of board.workers.values()) {
    const { repo, pr } = worker;
    if (repo === null || pr === null || worker.removed || isEnded(worker.status)) continue;
    const key = pullRequestKey(repo, pr.number);
    if (board.pullRequests.get(key)?.state !== 'merged') found.set(key, { repo, number: pr.number });
  }
  return [...found.values()];
}

/** A worker that claims a pull request which was not seen. */
export type UnseenClaim = { repo: string; worker: string; statusSeq: number };

/** In repositories that are known: their newest pull requests are looked through. */
export function unseenClaims(board: Board): UnseenClaim[] {
  return [...board.workers.values()].flatMap((worker) => {
    const { repo, key, statusSeq } = worker;
    return repo !== null && isUnseenClaim(board, worker) ? [{ repo, worker: key, statusSeq }] : [];
  });
}

/** The line that a poll, which began after the claim, found none; undefined if that is known, or no longer true. */
export function claimUnseen(board: Board, { worker: key, statusSeq }: UnseenClaim): EventDraft | undefined {
  const worker = board.workers.get(key);
  if (worker === undefined || worker.statusSeq !== statusSeq || !isUnseenClaim(board, worker))
    return undefined;
  if (worker.unseenSeq !== null && worker.unseenSeq > statusSeq) return undefined;
  return draft('monitor.claim.unseen', scopeOfWorker(worker), { status: worker.status });
}

/** A merge commit that waits for its deployment. */
export type AwaitedDeploy = {
  repo: string;
  sha: string;
  environment: string;
  mergedAt: string;
  acceptDescendants: boolean;
};

/** What belongs to a ticket. */
export type LookupOf = (board: Board) => {
  ofTicket: (
    ticket: string,
  ) =>
    | { worker: Worker | null; judged: DeployWorker | null; pullRequest: { repo: string } | null }
    | undefined;
};

export function awaitedDeploys(board: Board, now: number, lookupOf: LookupOf): AwaitedDeploy[] {
  const found = new Map<string, AwaitedDeploy>();
  const add = (awaited: AwaitedDeploy): void => {
    const key = `${awaited.environment} ${commitKey(awaited.repo, awaited.sha)}`;
    // Where both are awaited, the later commits count for one of them.
    if (found.get(key)?.acceptDescendants !== true) found.set(key, awaited);
  };
  for (const keys of board.links.waitingByRepo.values()) {
    for (const key of keys) {
      const worker = board.workers.get(key);
      if (worker !== undefined) awaitedBy(worker, worker.repo, now).forEach(add);
    }
  }
  heldMerges(board, now, lookupOf).forEach(add);
  return [...found.values()];
}

/** The merges of held tickets that no worker carries: a later commit is no proof for them. */
function heldMerges(board: Board, now: number, lookupOf: LookupOf): AwaitedDeploy[] {
  const { heldTickets } = board.links;
  if (heldTickets.size === 0) return [];
  const lookup = lookupOf(board);
  return [...heldTickets].flatMap((ticket) => {
    const { worker = null, judged = null, pullRequest = null } = lookup.ofTicket(ticket) ?? {};
    if (worker !== null || !judged?.deploy || !pullRequest) return [];
    if (now - Date.parse(judged.deploy.deadline) >= LATE_DEPLOY_MS) return [];
    return awaitedBy(judged, pullRequest.repo, now).map((one) => ({ ...one, acceptDescendants: false }));
  });
}

/** Its merge, and the merges of the pull requests that it was stacked on. */
function awaitedBy(judged: DeployWorker, repo: string | null, now: number): AwaitedDeploy[] {
  const { merge, deploy, policy } = judged;
  if (repo === null || merge === null || deploy === null) return [];
  const isLate = isTimedOut(judged) && now - Date.parse(deploy.deadline) < LATE_DEPLOY_MS;
  if (!isWaitingForDeploy(judged) && !isLate) return [];
  const { environment } = deploy;
  const { acceptDescendants } = policy;
  return mergesOf(judged).map((sha) => ({ repo, sha, environment, mergedAt: merge.at, acceptDescendants }));
}

/** The known states of a deployment; undefined if the deployment is unknown. */
export function knownDeploymentStates(
  board: Board,
  repo: string,
  id: number,
): ReadonlySet<string> | undefined {
  const deployment = board.deployments.get(pullRequestKey(repo, id));
  return (
    deployment && new Set(deployment.states.map(({ state, environment }) => stateIn(state, environment)))
  );
}
