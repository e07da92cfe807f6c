// The fake code host's data: repositories and everything in them, organizations and their projects. Names are not case
// sensitive, and a renamed repository is still found under its old name.
import { createHash } from 'node:crypto';
import type { JsonObject } from '../payloads/examples.ts';

/** The owner of the tokens. */
export const viewer = 'kim';

/** A found repository, and whether it has moved. */
export type FoundRepo = { repo: RepoRow; moved: boolean };

export type CodehostCloud = ReturnType<typeof createCodehostCloud>;

export function createCodehostCloud(now: () => number) {
  const repos = new Map<string, RepoRow>();
  const formerNames = new Map<string, string>();
  const organizations = new Map<string, OrganizationRow>();
  const projects: ProjectRow[] = [];
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

  const newHook = (hook: HookGiven): HookRow => ({
    id: nextId(),
    active: true,
    events: ['push'],
    createdAt: now(),
    updatedAt: now(),
    ...hook,
    config: { url: '', content_type: 'form', insecure_ssl: '0', ...hook.config },
  });

  return {
    find,
    repoOf,
    nextId,
    now,
    projects,
    repos: (): RepoRow[] => [...repos.values()],
    organization: (login: string): OrganizationRow | undefined => organizations.get(login.toLowerCase()),
    byId: (id: number): RepoRow | undefined => repos.values().find((repo) => repo.id === id),
    /** `owner` is the kind of account that owns it. */
    addRepo(
      fullName: string,
      {
        admin = true,
        owner: kind = 'Organization',
        isPrivate = false,
      }: { admin?: boolean; owner?: 'Organization' | 'User'; isPrivate?: boolean } = {},
    ): RepoRow {
      const [owner = '', name = ''] = fullName.split('/');
      const key = owner.toLowerCase();
      if (kind === 'Organization' && !organizations.has(key))
        organizations.set(key, { login: owner, hooks: [], deliveries: [] });
      const lists = {
        hooks: [],
        deliveries: [],
        pullRequests: [],
        deployments: [],
        issues: [],
        checkRuns: [],
        rules: [],
        labels: [],
      };
      const settings = { default_branch: 'main', private: isPrivate };
      const people = new Map([[viewer, { association: 'MEMBER', permission: admin ? 'admin' : 'write' }]]);
      const maps = { commits: new Map(), goneIssues: new Map(), people };
      const repo: RepoRow = { id: nextId(), owner, name, admin, settings, ...maps, ...lists };
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
    addHook(fullName: string, hook: HookGiven): HookRow {
      const row = newHook(hook);
      repoOf(fullName).hooks.push(row);
      return row;
    },
    /** A hook of the organization: it hears all its repositories, and its projects. */
    addOrganizationHook(login: string, hook: HookGiven): HookRow {
      const row = newHook(hook);
      organizations.get(login.toLowerCase())?.hooks.push(row);
      return row;
    },
    /** What this person is to the repository; who is not named here is a stranger. */
    addPerson(fullName: string, login: string, person: Partial<PersonRow> = {}): void {
      const given = { association: 'COLLABORATOR', permission: 'write', ...person };
      repoOf(fullName).people.set(login.toLowerCase(), given);
    },
    /** A project of an organization or a user, with these options of its field `Status`. */
    addProject(owner: string, names: readonly string[] = ['Todo', 'In Progress', 'Done']): ProjectRow {
      const number = projects.filter((project) => project.owner === owner).length + 1;
      const statuses = names.map((name) => ({ id: shaOf(name).slice(0, 8), name }));
      const named = { owner, number, title: `Project ${number}` };
      const row: ProjectRow = { id: nextId(), fieldId: nextId(), ...named, statuses, items: [] };
      projects.push(row);
      return row;
    },
    addPullRequest(
      fullName: string,
      pullRequest: Partial<PullRequestRow> & { number: number },
    ): PullRequestRow {
      const { number } = pullRequest;
      const row: PullRequestRow = {
        body: null,
        title: `Change number ${number}`,
        state: 'OPEN',
        isDraft: false,
        branch: `change-${number}`,
        base: 'main',
        headSha: shaOf(`${fullName}#${number}`),
        mergeSha: null,
        author: viewer,
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
      const ended = { closedAt: now(), mergedAt: now(), mergedBy: viewer };
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
      const repo = repoOf(fullName);
      const row: IssueRow = {
        id: nextId(),
        number: nextNumber(repo),
        body: null,
        author: viewer,
        assignees: [],
        labels: [],
        state: 'open',
        stateReason: null,
        comments: [],
        events: [],
        parentId: null,
        blockedBy: [],
        createdAt: now(),
        updatedAt: now(),
        closedAt: null,
        closedBy: null,
        ...issue,
      };
      for (const name of row.labels) labelOf(repo, name, nextId);
      repo.issues.push(row);
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
      void repoOf(fullName).commits.set(sha, { parents, message: sha, tree: {} }),
    /** What a commit says, and the content of its files. */
    describeCommit(fullName: string, sha: string, what: { message?: string; tree?: Record<string, string> }) {
      const { commits } = repoOf(fullName);
      const before = commits.get(sha) ?? { parents: [], message: sha, tree: {} };
      commits.set(sha, { ...before, ...what });
    },
    addDeploymentStatus(deployment: DeploymentRow, state: string): DeploymentStatusRow {
      const status = { id: nextId(), state, description: `It is ${state}`, createdAt: now() };
      deployment.statuses.push(status);
      deployment.updatedAt = now();
      return status;
    },
  };
}

/** Issues and pull requests share their numbers, and a number is never used again. */
export function nextNumber({ issues, pullRequests, goneIssues }: RepoRow): number {
  const used = [...issues, ...pullRequests].map(({ number }) => number);
  return Math.max(0, ...used, ...goneIssues.keys()) + 1;
}

/** The label with its own spelling; a label that does not exist is created, as when it is put on an issue. */
export function labelOf(repo: RepoRow, name: string, nextId: () => number): LabelRow {
  const found = repo.labels.find((label) => label.name.toLowerCase() === name.toLowerCase());
  if (found !== undefined) return found;
  const label: LabelRow = { id: nextId(), name, color: 'ededed', description: null };
  repo.labels.push(label);
  return label;
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
  body: string | null;
  state: 'OPEN' | 'CLOSED' | 'MERGED';
  isDraft: boolean;
  branch: string;
  base: string;
  /** The fork that its branch is in; null for one that was deleted. */
  fork?: string | null;
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

export type DeploymentStatusRow = {
  id: number;
  state: string;
  /** Without one, that of the deployment. */
  environment?: string;
  description: string;
  createdAt: number;
};

export type DeploymentRow = {
  id: number;
  sha: string;
  ref: string;
  environment: string;
  task?: string;
  createdAt: number;
  updatedAt: number;
  statuses: DeploymentStatusRow[];
};

export type LabelRow = { id: number; name: string; color: string; description: string | null };

export type CommentRow = { id: number; author: string; body: string; createdAt: number; updatedAt: number };

/** `labeled`, `assigned`, `closed` and the like: who did it, and to what. */
export type IssueEventRow = {
  id: number;
  event: string;
  actor: string;
  createdAt: number;
  label?: string;
  assignee?: string;
};

export type IssueRow = {
  id: number;
  number: number;
  title: string;
  body: string | null;
  author: string;
  assignees: string[];
  /** Names of labels of its repository. */
  labels: string[];
  state: 'open' | 'closed';
  stateReason: 'completed' | 'not_planned' | 'duplicate' | 'reopened' | null;
  comments: CommentRow[];
  events: IssueEventRow[];
  /** The id of the issue whose sub-issue it is. */
  parentId: number | null;
  /** The ids of the issues that block it. */
  blockedBy: number[];
  createdAt: number;
  updatedAt: number;
  closedAt: number | null;
  closedBy: string | null;
};

type StatusOption = { id: string; name: string };

export type ProjectItemRow = {
  id: number;
  issueId: number;
  /** The id of an option. */
  status: string | null;
  creator: string;
  createdAt: number;
  updatedAt: number;
};

/** A project of the second generation, with one field: `Status`. */
export type ProjectRow = {
  id: number;
  fieldId: number;
  owner: string;
  number: number;
  title: string;
  statuses: StatusOption[];
  items: ProjectItemRow[];
};

type PersonRow = { association: string; permission: string };

export type OrganizationRow = { login: string; hooks: HookRow[]; deliveries: DeliveryRow[] };

type HookGiven = Partial<Omit<HookRow, 'config'>> & { config: Partial<HookConfig> };

export type CommitRow = { parents: readonly string[]; message: string; tree: Record<string, string> };

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
  /** Issues that were deleted, or transferred to the named issue (`acme/api#3`). */
  goneIssues: Map<number, string | null>;
  labels: LabelRow[];
  /** By login in lower case. */
  people: Map<string, PersonRow>;
  checkRuns: CheckRunRow[];
  /** Its settings, with the names of the REST API. */
  settings: Record<string, unknown>;
  /** The active rules of its main branch. */
  rules: object[];
  /** Each commit that a test compares. */
  commits: Map<string, CommitRow>;
};
