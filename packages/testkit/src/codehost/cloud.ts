// The fake code host's data: repositories and everything in them. Names are not case sensitive, and a renamed
// repository is still found under its old name.
import { createHash } from 'node:crypto';
import type { JsonObject } from '../payloads/example.ts';

/** A found repository, and whether it has moved. */
export type FoundRepo = { repo: RepoRow; moved: boolean };

export type CodehostCloud = ReturnType<typeof createCodehostCloud>;

export function createCodehostCloud(now: () => number) {
  const repos = new Map<string, RepoRow>();
  const formerNames = new Map<string, string>();
  let lastId = 4000;
  const nextId = (): number => (lastId += 1);

  const find = (fullName: string): FoundRepo | undefined => {
    const key = fullName.toLowerCase();
    const repo = repos.get(key);
    if (repo !== undefined) return { repo, moved: false };
    const moved = repos.get(formerNames.get(key) ?? '');
    return moved && { repo: moved, moved: true };
  };

  const repoOf = (fullName: string): RepoRow => {
    const found = find(fullName);
    if (found === undefined) throw new Error(`The fake code host has no repository ${fullName}`);
    return found.repo;
  };

  const changePullRequest = (fullName: string, number: number, change: Partial<PullRequestRow>): void => {
    const row = repoOf(fullName).pullRequests.find((pullRequest) => pullRequest.number === number);
    if (row === undefined) throw new Error(`no pull request ${fullName}#${number}`);
    Object.assign(row, { updatedAt: now() }, change);
  };

  return {
    find,
    repoOf,
    nextId,
    byId: (id: number): RepoRow | undefined => repos.values().find((repo) => repo.id === id),
    addRepo(fullName: string, { admin = true }: { admin?: boolean } = {}): RepoRow {
      const [owner = '', name = ''] = fullName.split('/');
      const lists = {
        hooks: [],
        deliveries: [],
        pullRequests: [],
        deployments: [],
        issues: [],
        checkRuns: [],
        rules: [],
      };
      const settings = { default_branch: 'main' };
      const repo: RepoRow = { id: nextId(), owner, name, admin, commits: new Map(), settings, ...lists };
      repos.set(fullName.toLowerCase(), repo);
      return repo;
    },
    removeRepo: (fullName: string): void => void repos.delete(fullName.toLowerCase()),
    renameRepo(fullName: string, name: string): void {
      const repo = repoOf(fullName);
      repos.delete(fullName.toLowerCase());
      repo.name = name;
      const renamed = fullNameOf(repo).toLowerCase();
      repos.set(renamed, repo);
      formerNames.set(fullName.toLowerCase(), renamed);
    },
    /** A hook from an earlier time, without the ping that a new one sends. */
    addHook(
      fullName: string,
      hook: Partial<Omit<HookRow, 'config'>> & { config: Partial<HookRow['config']> },
    ): HookRow {
      const row: HookRow = {
        id: nextId(),
        active: true,
        events: ['push'],
        createdAt: now(),
        updatedAt: now(),
        ...hook,
        config: { url: '', content_type: 'form', insecure_ssl: '0', ...hook.config },
      };
      repoOf(fullName).hooks.push(row);
      return row;
    },
    addPullRequest(
      fullName: string,
      pullRequest: Partial<PullRequestRow> & { number: number },
    ): PullRequestRow {
      const { number } = pullRequest;
      const row: PullRequestRow = {
        title: `Change number ${number}`,
        state: 'OPEN',
        isDraft: false,
        branch: `change-${number}`,
        base: 'main',
        headSha: shaOf(`${fullName}#${number}`),
        mergeSha: null,
        author: 'kim',
        mergedBy: null,
        mergeable: 'MERGEABLE',
        mergeStateStatus: 'CLEAN',
        reviewDecision: null,
        checks: null,
        createdAt: now(),
        updatedAt: now(),
        closedAt: null,
        mergedAt: null,
        ...pullRequest,
      };
      repoOf(fullName).pullRequests.push(row);
      return row;
    },
    changePullRequest,
    mergePullRequest(fullName: string, number: number): string {
      const mergeSha = shaOf(`merge of ${fullName}#${number}`);
      const ended = { closedAt: now(), mergedAt: now(), mergedBy: 'kim' };
      changePullRequest(fullName, number, { state: 'MERGED', mergeSha, ...ended });
      return mergeSha;
    },
    addDeployment(
      fullName: string,
      deployment: Pick<DeploymentRow, 'sha'> & Partial<DeploymentRow>,
    ): DeploymentRow {
      const row: DeploymentRow = {
        id: nextId(),
        ref: 'main',
        environment: 'production',
        createdAt: now(),
        updatedAt: now(),
        statuses: [],
        ...deployment,
      };
      repoOf(fullName).deployments.push(row);
      return row;
    },
    addIssue(fullName: string, issue: Pick<IssueRow, 'title'> & Partial<IssueRow>): IssueRow {
      const { issues } = repoOf(fullName);
      const row: IssueRow = {
        id: nextId(),
        number: issues.length + 1,
        body: null,
        labels: [],
        state: 'open',
        createdAt: now(),
        updatedAt: now(),
        ...issue,
      };
      issues.push(row);
      return row;
    },
    addCheckRun(
      fullName: string,
      checkRun: Pick<CheckRunRow, 'sha' | 'name'> & Partial<CheckRunRow>,
    ): CheckRunRow {
      const row: CheckRunRow = {
        id: nextId(),
        conclusion: 'failure',
        title: null,
        summary: null,
        steps: [],
        log: null,
        completedAt: now(),
        ...checkRun,
      };
      repoOf(fullName).checkRuns.push(row);
      return row;
    },
    addCommit: (fullName: string, sha: string, ...parents: string[]): void =>
      void repoOf(fullName).commits.set(sha, parents),
    addDeploymentStatus(deployment: DeploymentRow, state: string): DeploymentStatusRow {
      const status = { id: nextId(), state, description: `It is ${state}`, createdAt: now() };
      deployment.statuses.push(status);
      deployment.updatedAt = now();
      return status;
    },
  };
}

export function fullNameOf({ owner, name }: RepoRow): string {
  return `${owner}/${name}`;
}

function shaOf(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}

// What the fake code host stores: plain rows. Times are milliseconds.

export type HookConfig = { url: string; content_type: string; insecure_ssl: string; secret?: string };

export type HookRow = {
  id: number;
  active: boolean;
  events: string[];
  config: HookConfig;
  createdAt: number;
  updatedAt: number;
};

/** `id` is larger than a JavaScript number can hold exactly, as the published schema (int64) allows. */
export type DeliveryRow = {
  id: bigint;
  hookId: number;
  guid: string;
  deliveredAt: number;
  redelivery: boolean;
  durationMs: number;
  status: string;
  statusCode: number;
  event: string;
  action: string | null;
  url: string;
  requestHeaders: Record<string, string>;
  payload: JsonObject;
  responseHeaders: Record<string, string>;
  responseBody: string;
};

export type PullRequestRow = {
  number: number;
  title: string;
  state: 'OPEN' | 'CLOSED' | 'MERGED';
  isDraft: boolean;
  branch: string;
  base: string;
  headSha: string;
  mergeSha: string | null;
  author: string;
  mergedBy: string | null;
  mergeable: 'MERGEABLE' | 'CONFLICTING' | 'UNKNOWN';
  mergeStateStatus: string;
  reviewDecision: 'APPROVED' | 'CHANGES_REQUESTED' | 'REVIEW_REQUIRED' | null;
  checks: 'SUCCESS' | 'FAILURE' | 'PENDING' | 'ERROR' | 'EXPECTED' | null;
  createdAt: number;
  updatedAt: number;
  closedAt: number | null;
  mergedAt: number | null;
};

export type DeploymentStatusRow = { id: number; state: string; description: string; createdAt: number };

export type DeploymentRow = {
  id: number;
  sha: string;
  ref: string;
  environment: string;
  createdAt: number;
  updatedAt: number;
  statuses: DeploymentStatusRow[];
};

export type IssueRow = {
  id: number;
  number: number;
  title: string;
  body: string | null;
  labels: string[];
  state: 'open' | 'closed';
  createdAt: number;
  updatedAt: number;
};

export type CheckRunRow = {
  /** Also the id of its job. */
  id: number;
  sha: string;
  name: string;
  conclusion: string;
  title: string | null;
  summary: string | null;
  steps: { name: string; number: number; conclusion: string }[];
  /** Null if it is no longer stored. */
  log: string | null;
  completedAt: number;
};

export type RepoRow = {
  id: number;
  owner: string;
  name: string;
  /** Whether the token's owner is an admin of it. */
  admin: boolean;
  hooks: HookRow[];
  /** Oldest first. */
  deliveries: DeliveryRow[];
  pullRequests: PullRequestRow[];
  deployments: DeploymentRow[];
  issues: IssueRow[];
  checkRuns: CheckRunRow[];
  /** Its settings, with the names of the REST API. */
  settings: Record<string, unknown>;
  /** The active rules of its main branch. */
  rules: object[];
  /** The parents of each commit that a test compares. */
  commits: Map<string, readonly string[]>;
};
