// Which pull request belongs to a worker, and which workers to a pull request.

import { DELETED_FORK, repoKey } from '@svc/contract/repo-name';
import { claimsPullRequest } from '@svc/contract/worker-statuses';
import type { Board } from '../../kernel/board/board.ts';
import { branchKey, pullRequestKey } from '../../kernel/board/keys.ts';
import { linked } from '../../kernel/board/links.ts';
import type { Worker } from '../workers/worker.ts';
import type { PullRequest } from './pull-request.ts';

/**
 * The worker's pull request: the one that it names, if it is really its own, else the one of its branch. A branch may
 * have had several: those that ended before the worker started do not count, the one that its merge was judged by goes
 * first, and then a merged one.
 */
export function pullRequestOfWorker(board: Board, worker: Worker): PullRequest | undefined {
  const { repo, pr, branch } = worker;
  if (repo === null) return undefined;
  if (pr !== null) {
    const named = board.pullRequests.get(pullRequestKey(repo, pr.number));
    if (named !== undefined && isOwn(named, worker)) return named;
  }
  if (branch === null) return undefined;
  let best: PullRequest | undefined;
  for (const key of linked(board.links.pullRequestsByBranch, branchKey(repo, branch))) {
    const found = board.pullRequests.get(key);
    if (found === undefined || endedBefore(found, worker)) continue;
    if (best === undefined || isBetter(found, best, worker)) best = found;
  }
  return best;
}

/** The number in a signal file is a claim of its agent: the branch or the ticket has to agree, and the time. */
export function isOwn(pullRequest: PullRequest, worker: Worker): boolean {
  const { branch, ticket } = pullRequest;
  const isOwnBranch = branch !== null && branch === worker.branch && isFromHere(pullRequest);
  const isOwnTicket =
    ticket !== null && ticket.toUpperCase() === worker.ticket.toUpperCase() && !isDeletedFork(pullRequest);
  return (isOwnBranch || isOwnTicket) && !endedBefore(pullRequest, worker);
}

/** From the same repository, and not closed before the worker started. */
export function mayBeOf({ repo, state, merge, closedAt }: PullRequest, worker: Worker): boolean {
  if (worker.repo !== null && repoKey(worker.repo) !== repoKey(repo)) return false;
  return state === 'open' || endOf({ merge, closedAt }) > Date.parse(worker.first.startedAt ?? '');
}

/** Nobody can say whose it was. */
function isDeletedFork({ headRepo }: PullRequest): boolean {
  return headRepo?.endsWith(DELETED_FORK) === true;
}

/** A branch of a fork is not the branch with that name in this repository. */
export function isFromHere({ repo, headRepo }: PullRequest): boolean {
  return headRepo === null || repoKey(headRepo) === repoKey(repo);
}

function endedBefore(pullRequest: PullRequest, { first }: Worker): boolean {
  return endOf(pullRequest) <= Date.parse(first.startedAt ?? '');
}

/** The latest moment that it may have ended at: the code host's times are whole seconds. */
function endOf({ merge, closedAt }: Pick<PullRequest, 'merge' | 'closedAt'>): number {
  return Date.parse(merge?.at ?? closedAt ?? '') + 1_000;
}

function isBetter(found: PullRequest, best: PullRequest, { merge }: Worker): boolean {
  const rankOf = (one: PullRequest): number =>
    one.merge === null ? 0 : merge !== null && one.merge.sha === merge.sha ? 2 : 1;
  return rankOf(found) === rankOf(best) ? found.number > best.number : rankOf(found) > rankOf(best);
}

/** Workers that may own this pull request; `pullRequestOfWorker` decides. */
export function workersNear(board: Board, { repo, number, branch }: PullRequest): readonly string[] {
  const named = linked(board.links.workersByPullRequest, pullRequestKey(repo, number));
  if (branch === null) return named;
  const byBranch = linked(board.links.workersByBranch, branchKey(repo, branch));
  return byBranch.length === 0 ? named : [...new Set([...named, ...byBranch])].toSorted();
}

/** The workers of a pull request, in the order of their keys. */
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

/** It was seen if the worker's own is known, or one that names its ticket, unless the worker names another. */
function hasSeenPullRequest(board: Board, worker: Worker): boolean {
  if (pullRequestOfWorker(board, worker) !== undefined) return true;
  if (worker.pr !== null) return false;
  const name = worker.ticket.toUpperCase();
  return board.pullRequests
    .values()
    .some((one) => one.ticket?.toUpperCase() === name && mayBeOf(one, worker));
}

/** The worker says that it has opened a pull request, and nothing has shown one. */
export function isUnseenClaim(board: Board, worker: Worker): boolean {
  const { removed, status, merge } = worker;
  return !removed && merge === null && claimsPullRequest(status) && !hasSeenPullRequest(board, worker);
}
