// Puts entities on the board together with their links, and finds what belongs together.

import { repoKey } from '../codehost/repo-name.ts';
import { isTimedOut, isWaitingForDeploy } from '../deploy/standing.ts';
import type { Board, BoardLinks, Deployment, FoldedLine, PullRequest, Worker } from './board-types.ts';

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

// Who belongs to whom, kept beside the maps so that no line has to search through them. Derived: the maps
// alone say what is true, and `linkAll` builds the same links again.

/** Lists are in order and never changed in place: they are read far more often than they change. */
type Index = Map<string, readonly string[]>;

const NEWEST_KEPT = 50;

export function noLinks(): BoardLinks {
  return {
    workersByPullRequest: new Map(),
    workersByBranch: new Map(),
    workersByMerge: new Map(),
    waitingByRepo: new Map(),
    pullRequestsByHead: new Map(),
    pullRequestsByBranch: new Map(),
    deploymentsByCommit: new Map(),
    newestDeployments: new Map(),
  };
}

/** `pullRequestKey('Acme/Web', 42)` is `acme/web#42`; the same for deployments and their ids. */
export function pullRequestKey(repo: string, number: number): string {
  return `${repoKey(repo)}#${number}`;
}

export function commitKey(repo: string, sha: string): string {
  return `${repoKey(repo)}@${sha}`;
}

export function branchKey(repo: string, branch: string): string {
  return `${repoKey(repo)}:${branch}`;
}

type Place = [index: Index, key: string];

function linkWorker(links: BoardLinks, before: Worker | undefined, after: Worker | undefined): void {
  if (before !== undefined && after !== undefined && standsAlike(before, after)) return;
  const key = (after ?? before)?.key ?? '';
  relink(key, before && placesOfWorker(links, before), after && placesOfWorker(links, after));
}

function standsAlike(one: Worker, other: Worker): boolean {
  return (
    one.repo === other.repo &&
    one.branch === other.branch &&
    one.pr?.number === other.pr?.number &&
    one.merge?.sha === other.merge?.sha &&
    isWaiting(one) === isWaiting(other)
  );
}

function isWaiting(worker: Worker): boolean {
  return isWaitingForDeploy(worker) || isTimedOut(worker);
}

function placesOfWorker(links: BoardLinks, worker: Worker): Place[] {
  const { repo, pr, branch, merge } = worker;
  const places: Place[] = [];
  if (typeof merge?.sha === 'string') places.push([links.workersByMerge, merge.sha]);
  if (repo === null) return places;
  if (pr !== null) places.push([links.workersByPullRequest, pullRequestKey(repo, pr.number)]);
  else if (branch !== null) places.push([links.workersByBranch, branchKey(repo, branch)]);
  if (isWaiting(worker)) places.push([links.waitingByRepo, repoKey(repo)]);
  return places;
}

function linkPullRequest(links: BoardLinks, before: PullRequest | undefined, after: PullRequest): void {
  if (
    before?.headSha === after.headSha &&
    before.branch === after.branch &&
    before.headRepo === after.headRepo
  )
    return;
  const key = pullRequestKey(after.repo, after.number);
  relink(key, before && placesOfPullRequest(links, before), placesOfPullRequest(links, after));
}

/** A branch of a fork is not the branch of that name here. */
function placesOfPullRequest(links: BoardLinks, { repo, headSha, branch, headRepo }: PullRequest): Place[] {
  const places: Place[] = [];
  if (headSha !== null) places.push([links.pullRequestsByHead, commitKey(repo, headSha)]);
  const isHere = headRepo === null || repoKey(headRepo) === repoKey(repo);
  if (branch !== null && isHere) places.push([links.pullRequestsByBranch, branchKey(repo, branch)]);
  return places;
}

function linkDeployment(links: BoardLinks, before: Deployment | undefined, after: Deployment): void {
  if (before !== undefined) return;
  const { repo, sha, id } = after;
  relink(pullRequestKey(repo, id), undefined, [[links.deploymentsByCommit, commitKey(repo, sha)]]);
  const newest = links.newestDeployments.get(repoKey(repo)) ?? [];
  const index = newest.findIndex((other) => other < id);
  const inserted = newest.toSpliced(index === -1 ? newest.length : index, 0, id).slice(0, NEWEST_KEPT);
  links.newestDeployments.set(repoKey(repo), inserted);
}

function relink(key: string, before: readonly Place[] = [], after: readonly Place[] = []): void {
  for (const [index, name] of before) {
    const keys = index.get(name)?.filter((other) => other !== key) ?? [];
    if (keys.length === 0) index.delete(name);
    else index.set(name, keys);
  }
  for (const [index, name] of after) {
    const keys = index.get(name);
    index.set(name, keys === undefined ? [key] : keys.toSpliced(placeOf(key, keys), 0, key));
  }
}

function placeOf(key: string, keys: readonly string[]): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

const none: readonly string[] = [];

/** The keys in an order that does not depend on how the links came to be. */
export function linked(index: Index, name: string): readonly string[] {
  return index.get(name) ?? none;
}

// Reads what a line says: an empty text is absent, a long one is cut, and times are compared.

const LONGEST_TEXT = 1000;
/** `2026-01-01T00:00:00Z` */
const PLAIN = 20;

export function short(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  return text.length <= LONGEST_TEXT ? text : text.slice(0, LONGEST_TEXT);
}

const MOST_TEXTS = 1000;

/** The texts of a list without empty ones. */
export function textsIn(texts: readonly string[] = []): string[] {
  return texts.slice(0, MOST_TEXTS).filter((text) => text !== '');
}

type When = Pick<FoldedLine, 'occurredAt' | 'ts'>;

/** When it happened upstream where that is known, else when it was accepted. */
export function timeOf(line: When): string {
  return line.occurredAt ?? line.ts;
}

/**
 * When it happened upstream, for telling late lines from new ones; null when that was not told. Never later
 * than the line was accepted: a time in the future would make everything after it look late.
 */
export function upstreamTime(line: When): string | null {
  if (line.occurredAt === undefined) return null;
  return isOlder(line.ts, line.occurredAt) ? line.ts : line.occurredAt;
}

/** Whether the times tell that one came before the other; unknown and equal times tell nothing. */
export function isOlder(one: string | null, other: string | null): boolean {
  if (one === null || other === null || one === other) return false;
  // Up to the second, times in UTC compare as texts: almost all are told apart by that, at a tenth of the cost.
  const isPlain = one.endsWith('Z') && other.endsWith('Z') && one.length >= PLAIN && other.length >= PLAIN;
  if (isPlain && !one.startsWith(other.slice(0, PLAIN - 1))) return one < other;
  return Date.parse(one) < Date.parse(other);
}

/** The later of two times; the second when they do not tell. */
export function later(one: string | null, other: string | null): string | null {
  if (other === null) return one;
  return isOlder(other, one) ? one : other;
}

/** The list with the entry that `isSame` finds replaced, or with the new one at its end; oldest go first. */
export function withEntry<Entry>(
  entries: readonly Entry[],
  isSame: (entry: Entry) => boolean,
  entry: Entry,
  most: number,
): Entry[] {
  const index = entries.findIndex(isSame);
  if (index >= 0) return entries.with(index, entry);
  return entries.length < most ? [...entries, entry] : [...entries.slice(1 - most), entry];
}
