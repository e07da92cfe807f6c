// Who belongs to whom, kept beside the maps so that no line has to search through them. Derived: the maps
// alone say what is true, and `linkAll` builds the same links again.
import { repoKey } from '../codehost/repo-name.ts';
import { isTimedOut, isWaitingForDeploy } from '../deploy/standing.ts';
import type { BoardLinks, Deployment, PullRequest, Worker } from './board-types.ts';

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

export function linkWorker(links: BoardLinks, before: Worker | undefined, after: Worker | undefined): void {
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

export function linkPullRequest(
  links: BoardLinks,
  before: PullRequest | undefined,
  after: PullRequest,
): void {
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

export function linkDeployment(links: BoardLinks, before: Deployment | undefined, after: Deployment): void {
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
