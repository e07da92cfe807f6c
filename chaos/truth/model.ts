// What can be proved about every worker of a world, by the specification and the rules for policy and evidence. It
// shares no code with the product and knows the truth of the generator: the commits as a graph, what was merged, what
// runs where. `isPossible`: done would be true. `isCertain`: once everything is known, it must be done.
import { type Containment, createHistory, type History } from './graph.ts';
import { anyOf, createPolicyModel, type Judgement, no, perhaps, sameName, yes } from './model-policy.ts';
import { type Fact, isFact, type Step } from './steps.ts';

interface Verdict {
  run: string;
  ticket: string;
  isDone: Judgement;
}
export interface Model {
  apply: (step: Step) => void;
  workers: () => Verdict[];
  /** May the receipt of the ticket say that it shipped? */
  shipped: (ticket: string) => Judgement;
  /** May the ticket be in the tracker's done state? */
  ticketDone: (ticket: string) => Judgement;
  tickets: () => string[];
}

interface Worker {
  run: string;
  ticket: string;
  repository: string;
  branch: string | null;
  /** The number of the step in which it began. */
  began: number;
  /** Signal files that name another repository: whose pull request is whose becomes open there. */
  claimedRepositories: Set<string>;
  claimedBranches: Set<string>;
  /** The pull request that its signal file names. */
  named: number | null;
  isAccepted: boolean;
  /** Done is terminal: what once was true stays. */
  wasPossible: boolean;
}
interface PullRequest {
  repository: string;
  number: number;
  branch: string;
  from: Extract<Fact, { do: 'open' }>['from'];
  ticket: string | null;
  state: 'open' | 'merged' | 'closed';
  ended: number;
  merge: string | null;
  head: string;
  isKnown: boolean;
  /** Proof was required at a moment between the merge and the decision. */
  needsProof: Judgement;
  /** Environments that were the production environment since the merge. */
  environments: Set<string>;
}
interface Deployment {
  commit: string;
  task: string;
  statuses: { state: string; environment: string }[];
}
interface Repository {
  history: History;
  pullRequests: Map<number, PullRequest>;
  deployments: Map<number, Deployment>;
}

const ATTEMPTS = 3;
const ticketPattern = /[A-Z]+-\d+/;

export function createModel(): Model {
  const policies = createPolicyModel();
  const repositories = new Map<string, Repository>();
  const workers = new Map<string, Worker>();
  const facts = new Map<number, Fact>();
  /** By `run/ticket repository#number`: decided without proof, because none was required. */
  const settled = new Map<string, Judgement>();
  const ticketsByPhase = new Map<string, Judgement>();
  let position = 0;

  function repositoryOf(name: string): Repository {
    const key = sameName(name);
    const before = repositories.get(key);
    if (before !== undefined) return before;
    const repository = { history: createHistory(), pullRequests: new Map(), deployments: new Map() };
    repositories.set(key, repository);
    return repository;
  }

  function happen(fact: Fact): void {
    const { history, pullRequests, deployments } = repositoryOf(fact.repository);
    switch (fact.do) {
      case 'commit':
        history.add(fact);
        break;
      case 'open':
        if (!history.has(fact.head) || pullRequests.has(fact.number)) break;
        pullRequests.set(fact.number, {
          repository: sameName(fact.repository),
          number: fact.number,
          branch: fact.branch,
          from: fact.from,
          ticket: fact.ticket,
          head: fact.head,
          state: 'open',
          ended: Number.POSITIVE_INFINITY,
          merge: null,
          isKnown: false,
          needsProof: no,
          environments: new Set(),
        });
        break;
      case 'merge': {
        const pullRequest = pullRequests.get(fact.number);
        if (pullRequest?.state !== 'open' || !history.has(fact.commit) || !history.has(fact.head)) break;
        pullRequest.state = 'merged';
        pullRequest.ended = position;
        pullRequest.merge = fact.commit;
        pullRequest.head = fact.head;
        break;
      }
      case 'close': {
        const pullRequest = pullRequests.get(fact.number);
        if (pullRequest?.state !== 'open') break;
        pullRequest.state = 'closed';
        pullRequest.ended = position;
        break;
      }
      case 'deployment':
        if (history.has(fact.commit) && !deployments.has(fact.id))
          deployments.set(fact.id, { commit: fact.commit, task: fact.task, statuses: [] });
        break;
      case 'status':
        deployments
          .get(fact.deployment)
          ?.statuses.push({ state: fact.state, environment: fact.environment.toLowerCase() });
        break;
    }
  }

  function hear(fact: Fact): void {
    if (fact.do !== 'merge') return;
    const pullRequest = repositoryOf(fact.repository).pullRequests.get(fact.number);
    if (pullRequest?.merge === fact.commit) pullRequest.isKnown = true;
  }

  function isOwn(worker: Worker, pullRequest: PullRequest): Judgement {
    // A claim never makes a pull request the worker's; if its first file names no branch, a later one may.
    if (pullRequest.ended < worker.began) return no;
    const byBranch = worker.branch !== null && pullRequest.branch === worker.branch;
    const mayBeByBranch = worker.branch === null && worker.claimedBranches.has(pullRequest.branch);
    const byTicket =
      pullRequest.ticket === worker.ticket || ticketPattern.exec(pullRequest.branch)?.[0] === worker.ticket;
    if (!byBranch && !byTicket) return mayBeByBranch && pullRequest.from === 'here' ? perhaps : no;
    const isHere = pullRequest.repository === sameName(worker.repository);
    // The branch of a fork is another branch, and its title is text of others: it may count as the ticket or not.
    if (pullRequest.from !== 'here') return byTicket && pullRequest.from === 'fork' && isHere ? perhaps : no;
    // A ticket that agrees is needed where the branch does not; who finds the pull request by it is left open.
    if (isHere) return byBranch || worker.named === pullRequest.number ? yes : perhaps;
    // A branch of the same name elsewhere is another branch, unless the worker says that it works there.
    return byTicket || worker.claimedRepositories.has(pullRequest.repository) ? perhaps : no;
  }

  /** By ancestry, or because the pull request went into another one, which is in it. */
  function contains(
    repository: Repository,
    commit: string,
    merge: string,
    seen: ReadonlySet<number> = new Set(),
  ): Containment {
    let best = repository.history.contains(commit, merge);
    // Ancestry with a revert in between says that it was taken out: no other way brings it back.
    if (best !== 'none' || repository.history.ancestors(commit).has(merge)) return best;
    for (const next of repository.pullRequests.values()) {
      if (next.merge === null || seen.has(next.number) || next.merge === merge) continue;
      const inNext = repository.history.contains(next.head, merge);
      if (inNext === 'none') continue;
      const further = contains(repository, commit, next.merge, new Set([...seen, next.number]));
      if (further === 'none') continue;
      if (inNext === 'certain' && further === 'certain') return 'certain';
      best = 'possible';
    }
    return best;
  }

  function isDeployed(pullRequest: PullRequest): Judgement {
    const repository = repositoryOf(pullRequest.repository);
    const { environments, isUnknown } = policies.of(pullRequest.repository);
    if (pullRequest.merge === null) return no;
    let judgement: Judgement = no;
    let failures = 0;
    for (const deployment of repository.deployments.values()) {
      if (deployment.task !== 'deploy') continue;
      const inCommit = contains(repository, deployment.commit, pullRequest.merge);
      if (inCommit === 'none') continue;
      const there = deployment.statuses.filter((status) => pullRequest.environments.has(status.environment));
      if (there.some((status) => status.state === 'failure' || status.state === 'error')) failures += 1;
      const successes = there.filter((status) => status.state === 'success');
      if (successes.length === 0) continue;
      // While the policy may be unknown, or the environment is one of several, it is not settled what counts.
      const isCertain =
        inCommit === 'certain' &&
        !isUnknown.isPossible &&
        environments.size === 1 &&
        successes.some((status) => environments.has(status.environment));
      judgement = anyOf([judgement, isCertain ? yes : perhaps]);
    }
    // After three failed deployments a person decides.
    return failures >= ATTEMPTS && judgement.isPossible ? perhaps : judgement;
  }

  function settledName(worker: Worker, pullRequest: PullRequest): string {
    return `${worker.run}/${worker.ticket} ${pullRequest.repository}#${pullRequest.number}`;
  }

  /** Follows the policy of every merge from the merge on, until it is decided that no proof is needed. */
  function follow(): void {
    for (const [name, repository] of repositories) {
      const policy = policies.of(name);
      for (const pullRequest of repository.pullRequests.values()) {
        if (pullRequest.state !== 'merged') continue;
        const borrowed = { isCertain: false, isPossible: policy.isBorrowed.isPossible };
        pullRequest.needsProof = anyOf([pullRequest.needsProof, policy.isRequired, borrowed]);
        for (const environment of policy.environments) pullRequest.environments.add(environment);
        for (const worker of workers.values()) {
          const key = settledName(worker, pullRequest);
          const before = settled.get(key) ?? no;
          // The product may learn of a merge at any time, because it asks the code host whenever it likes.
          const isPossible =
            !pullRequest.needsProof.isCertain && !policy.isBorrowed.isCertain && !policy.isUnknown.isCertain;
          // Before it is the worker's, nothing is judged.
          const isCertain =
            pullRequest.isKnown &&
            isOwn(worker, pullRequest).isCertain &&
            !pullRequest.needsProof.isPossible &&
            !policy.isUnknown.isPossible;
          settled.set(key, anyOf([before, { isPossible, isCertain }]));
        }
      }
    }
  }

  function judge(worker: Worker): Judgement {
    const own: { ownership: Judgement; isShipped: Judgement; isMerged: boolean }[] = [];
    for (const repository of repositories.values())
      for (const pullRequest of repository.pullRequests.values()) {
        const ownership = isOwn(worker, pullRequest);
        if (!ownership.isPossible) continue;
        const isMerged = pullRequest.state === 'merged';
        const withoutProof = settled.get(settledName(worker, pullRequest)) ?? no;
        own.push({
          ownership,
          isMerged,
          isShipped: isMerged ? anyOf([withoutProof, isDeployed(pullRequest)]) : no,
        });
      }
    const isPossible = worker.isAccepted || own.some((candidate) => candidate.isShipped.isPossible);
    // With several pull requests it is left open which of them is the worker's, unless all agree.
    // A file that names another repository may hide the worker's own.
    const isElsewhere = [...worker.claimedRepositories].some((name) => name !== sameName(worker.repository));
    const isCertain =
      !isElsewhere &&
      own.some((candidate) => candidate.ownership.isCertain) &&
      own.every((candidate) => candidate.isMerged && candidate.isShipped.isCertain);
    return { isCertain: isCertain && isPossible, isPossible };
  }

  function workersOf(ticket: string): Worker[] {
    return [...workers.values()].filter((worker) => worker.ticket === ticket);
  }

  function verdictOf(worker: Worker): Judgement {
    const { isCertain, isPossible } = judge(worker);
    return { isCertain, isPossible: isPossible || worker.wasPossible };
  }

  /** A ticket that nobody works on has its pull requests by name alone. */
  function nobody(ticket: string, repository: string): Worker {
    return {
      run: '',
      ticket,
      repository,
      branch: null,
      began: -1,
      claimedRepositories: new Set(),
      claimedBranches: new Set(),
      named: null,
      isAccepted: false,
      wasPossible: false,
    };
  }

  return {
    apply(step) {
      position += 1;
      if (policies.apply(step)) return;
      if (isFact(step)) {
        facts.set(step.fact, step);
        happen(step);
      } else if (step.do === 'deliver') {
        const fact = facts.get(step.fact);
        if (fact !== undefined) hear(fact);
      } else if (step.do === 'poll') for (const fact of facts.values()) hear(fact);
      else if (step.do === 'worker') {
        const key = `${step.run}/${step.ticket}`;
        if (!workers.has(key))
          workers.set(key, {
            run: step.run,
            ticket: step.ticket,
            repository: step.repository,
            branch: step.branch,
            began: position,
            claimedRepositories: new Set(),
            claimedBranches: new Set(),
            named: null,
            isAccepted: false,
            wasPossible: false,
          });
      } else if (step.do === 'claim' || step.do === 'accept') {
        const worker = workers.get(`${step.run}/${step.ticket}`);
        if (worker !== undefined && step.do === 'accept') worker.isAccepted = true;
        if (worker !== undefined && step.do === 'claim') {
          worker.named = step.pullRequest ?? worker.named;
          if (step.repository !== undefined) worker.claimedRepositories.add(sameName(step.repository));
          if (step.branch !== undefined) worker.claimedBranches.add(step.branch);
        }
      } else if (step.do === 'phase') {
        const [worker] = workersOf(step.ticket);
        const policy = worker === undefined ? undefined : policies.of(worker.repository);
        const isFree =
          policy === undefined ||
          (!policy.isRequired.isCertain && !policy.isBorrowed.isCertain && !policy.isUnknown.isCertain);
        ticketsByPhase.set(
          step.ticket,
          anyOf([ticketsByPhase.get(step.ticket) ?? no, isFree ? perhaps : no]),
        );
      }
      follow();
      for (const worker of workers.values()) worker.wasPossible ||= judge(worker).isPossible;
    },
    workers: () =>
      [...workers.values()].map((worker) => ({
        run: worker.run,
        ticket: worker.ticket,
        isDone: verdictOf(worker),
      })),
    shipped(ticket) {
      const newest = workersOf(ticket).toSorted((left, right) => right.began - left.began)[0];
      if (newest !== undefined) return verdictOf(newest);
      return anyOf([...repositories.keys()].map((name) => judge(nobody(ticket, name))));
    },
    ticketDone: (ticket) =>
      anyOf([ticketsByPhase.get(ticket) ?? no, ...workersOf(ticket).map((worker) => verdictOf(worker))]),
    tickets: () => [...new Set([...workers.values()].map((worker) => worker.ticket))],
  };
}
