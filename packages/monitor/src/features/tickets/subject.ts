// What the board knows about one ticket: its worker, its pull request, its state in the tracker, and the deployments
// of its merge. Names of tickets and repositories are case-insensitive.
import { repoKey } from '@svc/contract/repo-name';
import type { Board } from '../../kernel/board/board.ts';
import { commitKey, pullRequestKey } from '../../kernel/board/keys.ts';
import { linked } from '../../kernel/board/links.ts';
import type { Deployment } from '../deploy/deployment.ts';
import { factsOfCommit } from '../deploy/known-facts.ts';
import { deployStep, isDeployTask } from '../deploy/lifecycle.ts';
import { deployPolicyForWork, isSameEnvironment } from '../deploy/policy.ts';
import { isOwn, mayBeOf, pullRequestOfWorker } from '../pull-requests/own-pull-request.ts';
import type { PullRequest } from '../pull-requests/pull-request.ts';
import type { Ticket } from '../tracker/ticket.ts';
import { currentWorker } from '../workers/current-worker.ts';
import type { DeployWorker } from '../workers/deploy-fields.ts';
import { mergesOf } from '../workers/deploy-stage.ts';
import type { Worker } from '../workers/worker.ts';

export type Subject = {
  ticket: string;
  worker: Worker | null;
  /** Workers of other runs for the same ticket. */
  others: Worker[];
  pullRequest: PullRequest | null;
  /** A pull request that the worker names, although it is not its own. */
  foreign: PullRequest | null;
  /** The deploy lifecycle's verdict: of the worker, or of the pull request if no run has a worker for the ticket. */
  judged: DeployWorker | null;
  tracked: Ticket | null;
  /** Deployments of the merge, or of a commit proven to contain it, with their states in the gating environment. */
  counted: Deployment[];
  /** The same deployments with their states in other environments, and what was no deploy. */
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
      const current = currentWorker(ours);
      if (current !== undefined) return ofWorker(current);
      if (orchestrator !== undefined) return undefined;
      const known = names.ticket(name)?.ticket ?? names.pullRequests(name)[0]?.ticket ?? null;
      return known === null ? undefined : subjectOf(board, names, known, null, []);
    },
  };
}

/** Undefined when nothing on the board has this name. */
export function ticketNamed(board: Board, ticket: string, orchestrator?: string): Subject | undefined {
  return createLookup(board).ofTicket(ticket, orchestrator);
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
  const judged = worker ?? (pullRequest && judgedWithoutWorker(board, ticket, pullRequest));
  const { environment } = judged?.deploy ?? { environment: judged?.policy.productionEnvironment ?? '' };
  const isThere = (state: Deployment['states'][number]): boolean =>
    isSameEnvironment(state.environment, environment);
  const commits = commitsOf(worker, pullRequest);
  const own = deploymentsOf(board, repo, commits);
  return {
    ticket,
    worker,
    others,
    pullRequest,
    foreign: worker && foreignTo(board, worker),
    judged,
    tracked: names.ticket(name) ?? null,
    counted: own.flatMap((one) => (isDeployTask(one.task) ? withStates(one, isThere) : [])),
    elsewhere: own.flatMap((one) => withStates(one, (state) => !isDeployTask(one.task) || !isThere(state))),
    uncounted: () =>
      newestOf(board, repo).filter((one) => one.states.some(isThere) && !commits.includes(one.sha)),
  };
}

function foreignTo({ pullRequests }: Board, worker: Worker): PullRequest | null {
  const { repo, pr } = worker;
  const named = repo === null || pr === null ? undefined : pullRequests.get(pullRequestKey(repo, pr.number));
  return named === undefined || isOwn(named, worker) ? null : named;
}

/** The deployment with these of its states; nothing if it has none of them. */
function withStates(
  deployment: Deployment,
  isWanted: (state: Deployment['states'][number]) => boolean,
): Deployment[] {
  const states = deployment.states.filter(isWanted);
  const environment = states.at(-1)?.environment;
  return environment === undefined ? [] : [{ ...deployment, environment, states }];
}

/** The same lifecycle for a pull request that no run works on. Only deployments of the merge commit itself count. */
function judgedWithoutWorker(board: Board, ticket: string, { repo, merge }: PullRequest): DeployWorker {
  const policy = deployPolicyForWork(board, repo, ticket, merge);
  const open: DeployWorker = { status: 'pr-created', claim: null, policy, merge: null, deploy: null };
  if (merge === null) return open;
  const deployed = merge.sha === null ? [] : factsOfCommit(board, repo, merge.sha);
  const facts = deployed.toSorted((one, other) => one.seq - other.seq);
  return [{ kind: 'merged', ...merge } as const, ...facts].reduce(
    (judged, fact) => deployStep(judged, fact).worker,
    open,
  );
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
  if (worker?.merge) return [...mergesOf(worker), ...(worker.deploy?.containedIn ?? [])];
  const sha = pullRequest?.merge?.sha ?? null;
  return sha === null ? [] : [sha];
}

function rank({ state }: PullRequest): number {
  return state === 'closed' ? 0 : 1;
}
