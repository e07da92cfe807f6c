// Puts entities on the board together with their links, and finds what belongs together.
import {
  branchKey,
  linkDeployment,
  linked,
  linkPullRequest,
  linkWorker,
  noLinks,
  pullRequestKey,
} from './board-links.ts';
import type { Board, Deployment, PullRequest, Worker } from './board-types.ts';
import { isOlder } from './line-fields.ts';

export function putWorker({ workers, links }: Board, worker: Worker): void {
  linkWorker(links, workers.get(worker.key), worker);
  workers.set(worker.key, worker);
}

export function putPullRequest({ pullRequests, links }: Board, pullRequest: PullRequest): void {
  const key = pullRequestKey(pullRequest.repo, pullRequest.number);
  linkPullRequest(links, pullRequests.get(key), pullRequest);
  pullRequests.set(key, pullRequest);
}

export function putDeployment({ deployments, links }: Board, deployment: Deployment): void {
  const key = pullRequestKey(deployment.repo, deployment.id);
  linkDeployment(links, deployments.get(key), deployment);
  deployments.set(key, deployment);
}

/** Builds all links from the maps. */
export function linkAll(board: Board): void {
  const links = noLinks();
  board.links = links;
  for (const worker of board.workers.values()) linkWorker(links, undefined, worker);
  for (const pullRequest of board.pullRequests.values()) linkPullRequest(links, undefined, pullRequest);
  for (const deployment of board.deployments.values()) linkDeployment(links, undefined, deployment);
}

/**
 * The worker's pull request: the one that it names, else the one of its branch. A branch may have had several:
 * those that ended before the worker began are not its own, and a merged one stands before the others.
 */
export function pullRequestOfWorker(board: Board, worker: Worker): PullRequest | undefined {
  const { repo, pr, branch } = worker;
  if (repo === null) return undefined;
  if (pr !== null) return board.pullRequests.get(pullRequestKey(repo, pr.number));
  if (branch === null) return undefined;
  let best: PullRequest | undefined;
  for (const key of linked(board.links.pullRequestsByBranch, branchKey(repo, branch))) {
    const found = board.pullRequests.get(key);
    if (found === undefined || endedBefore(found, worker)) continue;
    if (best === undefined || isBetter(found, best)) best = found;
  }
  return best;
}

function endedBefore({ merge, closedAt }: PullRequest, { signal }: Worker): boolean {
  return isOlder(merge?.at ?? closedAt, signal?.startedAt ?? null);
}

function isBetter(found: PullRequest, best: PullRequest): boolean {
  const isMerged = found.merge !== null;
  return isMerged === (best.merge !== null) ? found.number > best.number : isMerged;
}

/** The workers whose pull request this may be; `pullRequestOfWorker` decides. */
export function workersNear(board: Board, { repo, number, branch }: PullRequest): readonly string[] {
  const named = linked(board.links.workersByPullRequest, pullRequestKey(repo, number));
  if (branch === null) return named;
  const byBranch = linked(board.links.workersByBranch, branchKey(repo, branch));
  return byBranch.length === 0 ? named : [...named, ...byBranch];
}

/** The workers of a pull request, by key. */
export function workersOfPullRequest(board: Board, pullRequest: PullRequest): Worker[] {
  const key = pullRequestKey(pullRequest.repo, pullRequest.number);
  const workers: Worker[] = [];
  for (const name of workersNear(board, pullRequest)) {
    const worker = board.workers.get(name);
    const own = worker && pullRequestOfWorker(board, worker);
    if (worker && own && pullRequestKey(own.repo, own.number) === key) workers.push(worker);
  }
  return workers;
}
