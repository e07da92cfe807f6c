// What the code host delivers for the simulated day: its published examples with the facts of the simulated
// pull requests in them. What stays the same is shared, so that a day of deliveries fits into memory.
import {
  type DeploymentRow,
  fullNameOf,
  type PullRequestRow,
  type RepoRow,
} from '../packages/testkit/src/codehost/cloud.ts';

import { codehostExample } from '../packages/testkit/src/payloads/codehost-examples.ts';
import type { JsonObject } from '../packages/testkit/src/payloads/example.ts';

export type Payload = { type: string; payload: JsonObject };
export type OfPullRequest = { repo: RepoRow; row: PullRequestRow };

const examples = new Map<string, Payload>();

function exampleOf(name: string): Payload {
  const found = examples.get(name) ?? codehostExample(name);
  examples.set(name, found);
  return found;
}

/** `part(payload, 'pull_request')` */
function part(object: JsonObject, name: string): JsonObject {
  return (object[name] ?? {}) as JsonObject;
}

function made(name: string, { repo }: Pick<OfPullRequest, 'repo'>, more: (base: JsonObject) => JsonObject) {
  const { type, payload } = exampleOf(name);
  const full_name = fullNameOf(repo);
  const repository = { ...part(payload, 'repository'), id: repo.id, name: repo.name, full_name };
  return { type, payload: { ...payload, repository, ...more(payload) } };
}

function shown({ repo, row }: OfPullRequest, base: JsonObject): JsonObject {
  const full_name = fullNameOf(repo);
  const isoTime = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
  return {
    ...part(base, 'pull_request'),
    number: row.number,
    title: row.title,
    state: row.state === 'OPEN' ? 'open' : 'closed',
    draft: row.isDraft,
    merged: row.state === 'MERGED',
    merged_at: isoTime(row.mergedAt),
    closed_at: isoTime(row.closedAt),
    created_at: isoTime(row.createdAt),
    updated_at: isoTime(row.updatedAt),
    merge_commit_sha: row.mergeSha,
    head: { ref: row.branch, sha: row.headSha, repo: { id: repo.id, full_name } },
    base: { ref: row.base, repo: { id: repo.id, full_name } },
  };
}

/** `name` is an example of `pull_request`, of a review, a review comment or a review thread. */
export function pullRequestPayload(name: string, of: OfPullRequest, more: JsonObject = {}): Payload {
  return made(name, of, (base) => ({ number: of.row.number, pull_request: shown(of, base), ...more }));
}

export function pushPayload(repo: RepoRow, branch: string, before: string, after: string): Payload {
  const commits = [{ id: after, message: 'Go on' }];
  return made('push branch', { repo }, () => ({
    ref: `refs/heads/${branch}`,
    before,
    after,
    commits,
    head_commit: commits[0],
  }));
}

/** Without a pull request it is a suite of the main branch. */
export function suitePayload(
  repo: RepoRow,
  { sha, branch, pr }: { sha: string; branch: string; pr?: number },
  conclusion: 'success' | 'failure',
): Payload {
  const numbers = pr === undefined ? [] : [{ number: pr, base: { ref: 'main', repo: { id: repo.id } } }];
  return made(`check_suite ${conclusion}`, { repo }, (base) => ({
    check_suite: {
      ...part(base, 'check_suite'),
      head_sha: sha,
      head_branch: branch,
      pull_requests: numbers,
    },
  }));
}

export function statusPayload({ repo, row }: OfPullRequest, state: 'pending' | 'success'): Payload {
  const about = { sha: row.headSha, branches: [{ name: row.branch }] };
  return made(`status ${state}`, { repo }, () => about);
}

export function commentPayload({ repo, row }: OfPullRequest): Payload {
  return made('issue_comment on a pull request', { repo }, (base) => ({
    issue: { ...part(base, 'issue'), number: row.number, title: row.title },
  }));
}

/** Without a state: that it was made. */
export function deploymentPayload(repo: RepoRow, row: DeploymentRow, state?: string): Payload {
  const name = state === undefined ? 'deployment created' : `deployment_status ${state}`;
  const { id, sha, ref, environment } = row;
  return made(name, { repo }, (base) => ({
    deployment: { ...part(base, 'deployment'), id, sha, ref, environment },
  }));
}
