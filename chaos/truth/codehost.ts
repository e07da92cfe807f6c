// The code host of a world, for the drivers: what it delivers for each fact, and what it answers when it is polled, in
// the vendor's formats. A fact that refers to something that does not exist is dropped.
import { createHistory, type History } from './graph.ts';
import { sameName } from './model-policy.ts';
import type { Commit, Fact } from './steps.ts';

export interface Delivery {
  type: 'pull_request' | 'deployment' | 'deployment_status';
  payload: Record<string, unknown>;
}
interface PullRequest {
  open: Extract<Fact, { do: 'open' }>;
  state: 'OPEN' | 'CLOSED' | 'MERGED';
  head: string;
  merge: string | null;
  createdAt: string;
  endedAt: string | null;
}
interface Deployment {
  deployment: Extract<Fact, { do: 'deployment' }>;
  createdAt: string;
  updatedAt: string;
  statuses: { id: number; state: string; environment: string; created_at: string }[];
}
interface Repository {
  name: string;
  history: History;
  pullRequests: Map<number, PullRequest>;
  deployments: Map<number, Deployment>;
}
/** As the API answers. */
interface PolledDeployment {
  deployment: {
    id: number;
    sha: string;
    ref: string;
    task: string;
    environment: string;
    created_at: string;
    updated_at: string;
  };
  statuses: Deployment['statuses'];
}
interface PolledPullRequest {
  number: number;
  title: string;
  state: PullRequest['state'];
  mergedAt: string | null;
  mergeCommit: { oid: string } | null;
  author: { login: string };
  createdAt: string;
  updatedAt: string;
  closedAt: string | null;
  headRefName: string;
  headRefOid: string;
  headRepository: { nameWithOwner: string } | null;
  isCrossRepository: boolean;
  baseRefName: string;
}
export interface Codehost {
  happen: (fact: Fact) => void;
  /** Undefined for a commit, and for a fact that was dropped. */
  delivery: (fact: number) => Delivery | undefined;
  repositories: () => string[];
  history: (repository: string) => History;
  polledPullRequests: (repository: string) => PolledPullRequest[];
  polledDeployments: (repository: string) => PolledDeployment[];
  /** Empty for a commit that does not exist. */
  sha: (repository: string, id: string) => string;
}

export function createCodehost(options: {
  /** The full id of a commit; made when the commit happens. */
  shaOf: (repository: string, commit: Commit) => string;
  now: () => string;
}): Codehost {
  const { now } = options;
  const repositories = new Map<string, Repository>();
  const deliveries = new Map<number, Delivery>();
  const shas = new Map<string, string>();

  function repositoryOf(name: string): Repository {
    const key = sameName(name);
    const before = repositories.get(key);
    if (before !== undefined) return before;
    const made = { name, history: createHistory(), pullRequests: new Map(), deployments: new Map() };
    repositories.set(key, made);
    return made;
  }

  function sha(repository: string, id: string): string {
    return shas.get(`${sameName(repository)} ${id}`) ?? '';
  }

  function headRepository({ from, repository }: PullRequest['open']): string | null {
    if (from === 'deleted-fork') return null;
    return from === 'fork' ? `evil/${repository.split('/')[1] ?? ''}` : repository;
  }

  function ownerOf({ from, repository }: PullRequest['open']): string {
    return from === 'here' ? (repository.split('/')[0] ?? '') : 'evil';
  }

  function titleOf({ ticket, number }: PullRequest['open']): string {
    return ticket === null ? `Change ${number}` : `${ticket} Change ${number}`;
  }

  function asDelivered(pullRequest: PullRequest): Record<string, unknown> {
    const { open, state, head, merge, createdAt, endedAt } = pullRequest;
    const { repository, number, branch, base } = open;
    const full = headRepository(open);
    const login = ownerOf(open);
    return {
      number,
      state: state === 'OPEN' ? 'open' : 'closed',
      merged: state === 'MERGED',
      merged_at: state === 'MERGED' ? endedAt : null,
      closed_at: endedAt,
      // Before a merge the field holds a test merge.
      merge_commit_sha: merge === null ? sha(repository, head) : sha(repository, merge),
      draft: false,
      title: titleOf(open),
      html_url: `https://github.com/${repository}/pull/${number}`,
      created_at: createdAt,
      updated_at: endedAt ?? createdAt,
      head: {
        ref: branch,
        sha: sha(repository, head),
        label: `${login}:${branch}`,
        user: { login },
        repo: full === null ? null : { full_name: full },
      },
      base: { ref: base, repo: { full_name: repository } },
      user: { login: open.from === 'here' ? 'kim' : 'evil', type: 'User' },
    };
  }

  function pullRequestDelivery(pullRequest: PullRequest, action: string): Delivery {
    const { repository, number } = pullRequest.open;
    return {
      type: 'pull_request',
      payload: {
        action,
        number,
        pull_request: asDelivered(pullRequest),
        repository: { full_name: repository },
      },
    };
  }

  function asDeployment({ deployment, createdAt, updatedAt }: Deployment) {
    const { id, commit, environment, task, repository } = deployment;
    return {
      id,
      sha: sha(repository, commit),
      ref: 'main',
      task,
      environment,
      created_at: createdAt,
      updated_at: updatedAt,
    };
  }

  function deliveryOf(fact: Fact): Delivery | undefined {
    const { name, history, pullRequests, deployments } = repositoryOf(fact.repository);
    switch (fact.do) {
      case 'commit':
        if (history.has(fact.id)) return undefined;
        history.add(fact);
        if (history.has(fact.id))
          shas.set(`${sameName(fact.repository)} ${fact.id}`, options.shaOf(name, fact));
        return undefined;
      case 'open': {
        if (!history.has(fact.head) || pullRequests.has(fact.number)) return undefined;
        const made: PullRequest = {
          open: fact,
          state: 'OPEN',
          head: fact.head,
          merge: null,
          createdAt: now(),
          endedAt: null,
        };
        pullRequests.set(fact.number, made);
        return pullRequestDelivery(made, 'opened');
      }
      case 'merge':
      case 'close': {
        const pullRequest = pullRequests.get(fact.number);
        if (pullRequest?.state !== 'OPEN') return undefined;
        if (fact.do === 'merge') {
          if (!history.has(fact.commit) || !history.has(fact.head)) return undefined;
          pullRequest.merge = fact.commit;
          pullRequest.head = fact.head;
        }
        pullRequest.state = fact.do === 'merge' ? 'MERGED' : 'CLOSED';
        pullRequest.endedAt = now();
        return pullRequestDelivery(pullRequest, 'closed');
      }
      case 'deployment': {
        if (!history.has(fact.commit) || deployments.has(fact.id)) return undefined;
        const made = { deployment: fact, createdAt: now(), updatedAt: now(), statuses: [] };
        deployments.set(fact.id, made);
        return {
          type: 'deployment',
          payload: {
            action: 'created',
            deployment: asDeployment(made),
            repository: { full_name: name },
          },
        };
      }
      case 'status': {
        const deployment = deployments.get(fact.deployment);
        if (deployment === undefined) return undefined;
        const { state, environment } = fact;
        const status = { id: fact.fact + 900_000, state, environment, created_at: now() };
        deployment.statuses.push(status);
        deployment.updatedAt = now();
        return {
          type: 'deployment_status',
          payload: {
            action: 'created',
            deployment_status: { ...status, updated_at: status.created_at },
            deployment: asDeployment(deployment),
            repository: { full_name: name },
          },
        };
      }
    }
  }

  return {
    happen(fact) {
      const delivery = deliveryOf(fact);
      if (delivery !== undefined) deliveries.set(fact.fact, delivery);
    },
    delivery: (fact) => deliveries.get(fact),
    repositories: () => [...repositories.values()].map(({ name }) => name),
    history: (name) => repositoryOf(name).history,
    polledPullRequests: (name) =>
      [...repositoryOf(name).pullRequests.values()].map(
        ({ open, state, head, merge, createdAt, endedAt }) => {
          const full = headRepository(open);
          return {
            number: open.number,
            title: titleOf(open),
            url: `https://github.com/${name}/pull/${open.number}`,
            state,
            isDraft: false,
            merged: state === 'MERGED',
            mergedAt: state === 'MERGED' ? endedAt : null,
            mergedBy: null,
            mergeCommit: merge === null ? null : { oid: sha(name, merge) },
            author: { login: open.from === 'here' ? 'kim' : 'evil' },
            createdAt,
            updatedAt: endedAt ?? createdAt,
            closedAt: endedAt,
            headRefName: open.branch,
            headRefOid: sha(name, head),
            headRepository: full === null ? null : { nameWithOwner: full },
            headRepositoryOwner: { login: ownerOf(open) },
            isCrossRepository: open.from !== 'here',
            baseRefName: open.base,
            mergeable: 'UNKNOWN',
            mergeStateStatus: 'UNKNOWN',
            reviewDecision: null,
            commits: { nodes: [{ commit: { oid: sha(name, head), statusCheckRollup: null } }] },
          };
        },
      ),
    polledDeployments: (name) =>
      [...repositoryOf(name).deployments.values()].map((deployment) => ({
        deployment: asDeployment(deployment),
        statuses: deployment.statuses,
      })),
    sha,
  };
}
