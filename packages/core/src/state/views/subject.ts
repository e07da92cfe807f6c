// What the board knows about one ticket: its worker, its pull request, its state in the tracker, and the deployments
// of its merge. Names of tickets and repositories are case-insensitive.
import { repoKey } from '../../codehost/repo-name.ts';
import { isSameEnvironment } from '../../deploy/policy.ts';
import { commitKey, linked, pullRequestKey, pullRequestOfWorker } from '../board-entities.ts';

import type { Board, Deployment, PullRequest, Ticket, Worker } from '../board-types.ts';

export type Subject = {
  ticket: string;
  worker: Worker | null;
  /** Workers of other runs for the same ticket. */
  others: Worker[];
  pullRequest: PullRequest | null;
  tracked: Ticket | null;
  /** Deployments in the gating environment of the merge, or of a commit proven to contain it; oldest first. */
  counted: Deployment[];
  /** Deployments of the same commits in other environments. */
  elsewhere: Deployment[];
  /** The newest deployments of other commits in the gating environment, newest first. */
  uncounted: () => Deployment[];
};

/** Finds what belongs together. Created once per board, because it indexes the whole board. */
export type Lookup = {
  ofWorker: (worker: Worker) => Subject;
  /** Undefined when nothing on the board has this name. */
  ofTicket: (ticket: string, orchestrator?: string) => Subject | undefined;
};

/** Finds entities by ticket name, in capitals. */
export type Names = {
  workers: (name: string) => readonly Worker[];
  ticket: (name: string) => Ticket | undefined;
  /** Pull requests that name the ticket. */
  pullRequests: (name: string) => readonly PullRequest[];
};

const PRODUCTION = 'production';

export function createLookup(board: Board): Lookup {
  const names = namesOn(board);
  const ofWorker = (worker: Worker): Subject => {
    const all = names.workers(worker.ticket.toUpperCase());
    return subjectOf(
      board,
      names,
      worker.ticket,
      worker,
      all.filter(({ key }) => key !== worker.key),
    );
  };

  return {
    ofWorker,
    ofTicket(ticket, orchestrator) {
      const name = ticket.toUpperCase();
      const ours = names
        .workers(name)
        .filter((worker) => orchestrator === undefined || worker.orchestrator === orchestrator);
      const newest = ours.toSorted((a, b) => a.lastSeq - b.lastSeq).at(-1);
      if (newest !== undefined) return ofWorker(newest);
      if (orchestrator !== undefined) return undefined;
      const known = names.ticket(name)?.ticket ?? names.pullRequests(name)[0]?.ticket ?? null;
      return known === null ? undefined : subjectOf(board, names, known, null, []);
    },
  };
}

function namesOn(board: Board): Names {
  const workers = Map.groupBy(board.workers.values(), ({ ticket }) => ticket.toUpperCase());
  const tickets = new Map([...board.tickets.values()].map((one) => [one.ticket.toUpperCase(), one]));
  const namedBy = Map.groupBy(board.pullRequests.values(), ({ ticket }) => ticket?.toUpperCase() ?? '');
  return {
    workers: (name) => workers.get(name) ?? [],
    ticket: (name) => tickets.get(name),
    pullRequests: (name) => namedBy.get(name) ?? [],
  };
}

export function subjectOf(
  board: Board,
  names: Names,
  ticket: string,
  worker: Worker | null,
  others: Worker[],
): Subject {
  const name = ticket.toUpperCase();
  const pullRequest = pullRequestFor(board, names, name, worker);
  const repo = repoOf(worker, pullRequest);
  const environment = worker?.deploy?.environment ?? worker?.policy.productionEnvironment ?? PRODUCTION;
  const isThere = (one: Deployment): boolean => isSameEnvironment(one.environment, environment);
  const commits = commitsOf(worker, pullRequest);
  const own = deploymentsOf(board, repo, commits);
  return {
    ticket,
    worker,
    others,
    pullRequest,
    tracked: names.ticket(name) ?? null,
    counted: own.filter(isThere),
    elsewhere: own.filter((one) => !isThere(one)),
    uncounted: () => newestOf(board, repo).filter((one) => isThere(one) && !commits.includes(one.sha)),
  };
}

/** The worker's own pull request, as in the lifecycle; else the last one that names the ticket. */
function pullRequestFor(board: Board, names: Names, name: string, worker: Worker | null): PullRequest | null {
  const own = worker === null ? undefined : pullRequestOfWorker(board, worker);
  if (own !== undefined) return own;
  if (worker !== null && worker.pr !== null) return null;
  const others = names.pullRequests(name).filter((one) => worker === null || mayBeOf(one, worker));
  // A pull request that was closed without a merge counts only if there is no other.
  return others.toSorted((a, b) => rank(a) - rank(b) || a.firstSeq - b.firstSeq).at(-1) ?? null;
}

function deploymentsOf(board: Board, repo: string | null, commits: readonly string[]): Deployment[] {
  if (repo === null) return [];
  return commits
    .flatMap((sha) => linked(board.links.deploymentsByCommit, commitKey(repo, sha)))
    .flatMap((key) => board.deployments.get(key) ?? [])
    .toSorted((a, b) => a.id - b.id);
}

function newestOf(board: Board, repo: string | null): Deployment[] {
  const ids = repo === null ? undefined : board.links.newestDeployments.get(repoKey(repo));
  return (ids ?? []).flatMap((id) => board.deployments.get(pullRequestKey(repo ?? '', id)) ?? []);
}

/** The repository that a worker's merge is deployed from. */
export function repoOf(worker: Worker | null, pullRequest: PullRequest | null): string | null {
  return worker?.repo ?? pullRequest?.repo ?? null;
}

export function nameOfPullRequest({ repo, number }: Pick<PullRequest, 'repo' | 'number'>): string {
  return `${repo}#${number}`;
}

/** The first seven characters, as git prints them. */
export function shortSha(sha: string): string {
  return sha.slice(0, 7);
}

/** The merge commit, and the commits proven to contain it. */
export function commitsOf(worker: Worker | null, pullRequest: PullRequest | null): string[] {
  const sha = (worker?.merge ?? pullRequest?.merge)?.sha ?? null;
  return sha === null ? [] : [sha, ...(worker?.deploy?.containedIn ?? [])];
}

/** From the same repository, and not closed before the worker started. */
function mayBeOf({ repo, state, merge, closedAt }: PullRequest, worker: Worker): boolean {
  if (worker.repo !== null && repoKey(worker.repo) !== repoKey(repo)) return false;
  const ended = Date.parse(merge?.at ?? closedAt ?? '');
  return state === 'open' || ended >= Date.parse(worker.signal?.startedAt ?? '');
}

function rank({ state }: PullRequest): number {
  return state === 'closed' ? 0 : 1;
}
