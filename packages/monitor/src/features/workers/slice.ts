// Workers on the board, with their links.
import { repoKey } from '@svc/contract/repo-name';
import type { Board, BoardLinks } from '../../kernel/board/board.ts';
import { branchKey, pullRequestKey } from '../../kernel/board/keys.ts';
import { type Entry, type Index, relink } from '../../kernel/board/links.ts';
import { dropSettled, type Slices } from '../../kernel/board/slice.ts';
import { isTimedOut, isWaitingForDeploy, mergesOf } from './deploy-stage.ts';
import { isOver } from './status-groups.ts';
import type { Worker } from './worker.ts';

declare module '../../kernel/board/board.ts' {
  interface Entities {
    /** By `<orchestrator>/<ticket>`. */
    workers: Worker;
  }

  interface BoardLinks {
    /** Workers that name their pull request, by its key. */
    workersByPullRequest: Index;
    /** Workers by repository and branch. */
    workersByBranch: Index;
    /** Workers by the commits that their change was merged as. */
    workersByMerge: Index;
    /** Workers whose merge is not known to have shipped, by repository. */
    waitingByRepo: Index;
  }
}

const MOST_WORKERS = 5_000;

export const workerSlice = {
  workers: {
    keyOf: ({ key }) => key,
    link: (links, worker) => linkWorker(links, undefined, worker),
    clean: ({ workers }, now) => dropSettled(workers, now, MOST_WORKERS, isOver),
  },
} as const satisfies Partial<Slices>;

export const noWorkerLinks = () => ({
  workersByPullRequest: new Map(),
  workersByBranch: new Map(),
  workersByMerge: new Map(),
  waitingByRepo: new Map(),
});

export function putWorker({ workers, links }: Board, worker: Worker): void {
  linkWorker(links, workers.get(worker.key), worker);
  workers.set(worker.key, worker);
}

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
