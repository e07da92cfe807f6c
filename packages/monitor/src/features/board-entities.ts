// Puts entities on the board with their links, and finds what belongs together.
import { DELETED_FORK, repoKey } from '@svc/contract/repo-name';
import type {
  Board,
  BoardLinks,
  Deployment,
  FoldedLine,
  PullRequest,
  Ticket,
  Worker,
} from './board-types.ts';
import { isTimedOut, isWaitingForDeploy, mergesOf } from './deploy/deploy-worker.ts';

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
function isFromHere({ repo, headRepo }: PullRequest): boolean {
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

// Indexes beside the maps, so no line has to search through them. They are derived: `linkAll` rebuilds the same links
// from the maps.

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

type Entry = [index: Index, key: string];

function linkWorker(links: BoardLinks, before: Worker | undefined, after: Worker | undefined): void {
  if (before !== undefined && after !== undefined && hasSameLinks(before, after)) return;
  const key = (after ?? before)?.key ?? '';
  relink(key, before && entriesOfWorker(links, before), after && entriesOfWorker(links, after));
}

function hasSameLinks(one: Worker, other: Worker): boolean {
  return (
    one.repo === other.repo &&
    one.branch === other.branch &&
    one.pr?.number === other.pr?.number &&
    one.merge?.sha === other.merge?.sha &&
    one.deploy?.carriedBy === other.deploy?.carriedBy &&
    isWaiting(one) === isWaiting(other)
  );
}

function isWaiting(worker: Worker): boolean {
  return isWaitingForDeploy(worker) || isTimedOut(worker);
}

function entriesOfWorker(links: BoardLinks, worker: Worker): Entry[] {
  const { repo, pr, branch } = worker;
  const entries = mergesOf(worker).map((sha): Entry => [links.workersByMerge, sha]);
  if (repo === null) return entries;
  if (pr !== null) entries.push([links.workersByPullRequest, pullRequestKey(repo, pr.number)]);
  if (branch !== null) entries.push([links.workersByBranch, branchKey(repo, branch)]);
  if (isWaiting(worker)) entries.push([links.waitingByRepo, repoKey(repo)]);
  return entries;
}

function linkPullRequest(links: BoardLinks, before: PullRequest | undefined, after: PullRequest): void {
  if (
    before?.headSha === after.headSha &&
    before.branch === after.branch &&
    before.headRepo === after.headRepo
  )
    return;
  const key = pullRequestKey(after.repo, after.number);
  relink(key, before && entriesOfPullRequest(links, before), entriesOfPullRequest(links, after));
}

function entriesOfPullRequest(links: BoardLinks, pullRequest: PullRequest): Entry[] {
  const { repo, headSha, branch } = pullRequest;
  const entries: Entry[] = [];
  if (headSha !== null) entries.push([links.pullRequestsByHead, commitKey(repo, headSha)]);
  if (branch !== null && isFromHere(pullRequest))
    entries.push([links.pullRequestsByBranch, branchKey(repo, branch)]);
  return entries;
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

function relink(key: string, before: readonly Entry[] = [], after: readonly Entry[] = []): void {
  for (const [index, name] of before) {
    const keys = index.get(name)?.filter((other) => other !== key) ?? [];
    if (keys.length === 0) index.delete(name);
    else index.set(name, keys);
  }
  for (const [index, name] of after) {
    const keys = index.get(name);
    index.set(name, keys === undefined ? [key] : keys.toSpliced(positionOf(key, keys), 0, key));
  }
}

function positionOf(key: string, keys: readonly string[]): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

const noKeys: readonly string[] = [];

/** The keys, sorted. */
export function linked(index: Index, name: string): readonly string[] {
  return index.get(name) ?? noKeys;
}

// Reads texts and times of a line: an empty text is absent, a long one is cut.

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

/** When it happened upstream, if known, else when it was accepted. */
export function timeOf(line: When): string {
  return line.occurredAt ?? line.ts;
}

/**
 * When it happened upstream, to distinguish late lines from new ones; null when unknown. Never later than the line was
 * accepted: a time in the future would make every later line look late.
 */
export function upstreamTime(line: When): string | null {
  if (line.occurredAt === undefined) return null;
  return isOlder(line.ts, line.occurredAt) ? line.ts : line.occurredAt;
}

/** Whether one time is known to be before the other; false for unknown and equal times. */
export function isOlder(one: string | null, other: string | null): boolean {
  if (one === null || other === null || one === other) return false;
  // UTC times compare as texts up to the second: that decides almost all cases, at a tenth of the cost.
  const isPlain = one.endsWith('Z') && other.endsWith('Z') && one.length >= PLAIN && other.length >= PLAIN;
  if (isPlain && !one.startsWith(other.slice(0, PLAIN - 1))) return one < other;
  return Date.parse(one) < Date.parse(other);
}

/** The later of two times; the second if that is not known. */
export function later(one: string | null, other: string | null): string | null {
  if (other === null) return one;
  return isOlder(other, one) ? one : other;
}

/** Replaces the entry that `isSame` finds, or appends the new one; the oldest are dropped above `most`. */
export function withEntry<Item>(
  entries: readonly Item[],
  isSame: (entry: Item) => boolean,
  entry: Item,
  most: number,
): Item[] {
  const index = entries.findIndex(isSame);
  if (index >= 0) return entries.with(index, entry);
  return entries.length < most ? [...entries, entry] : [...entries.slice(1 - most), entry];
}

/** A ticket of which only the name is known. */
export function unknownTicket(ticket: string, line: { seq: number; ts: string }): Ticket {
  return {
    ticket,
    title: null,
    url: null,
    state: null,
    assignee: null,
    priority: null,
    labels: [],
    phase: null,
    removed: false,
    reportedAt: null,
    via: 'local',
    lastSeq: line.seq,
    lastAt: line.ts,
  };
}
