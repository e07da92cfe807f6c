// What the fake code host keeps: plain rows, as a person would describe them. Times are milliseconds.
import type { JsonObject } from '../payloads/example.ts';

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
  /** Null when it is kept no longer. */
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
  /** Its switches, as the REST API names them. */
  settings: Record<string, unknown>;
  /** The active rules of its main branch. */
  rules: object[];
  /** The parents of each commit, as far as somebody compares them. */
  commits: Map<string, readonly string[]>;
};
