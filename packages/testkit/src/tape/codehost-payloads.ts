// What the code host tells of one change: every field that anybody reads. The rest of a payload, as it is
// published, is added by published-payload.ts where it is sent in a test.
import type { JsonObject } from '../payloads/example.ts';
import type { Voice } from './voice.ts';

/** A moment that is known only when it is told: the day may be played slowly or fast. */
type Later = () => Date;

export type Change = {
  repo: string;
  number: number;
  title: string;
  branch: string;
  author: string;
  labels: readonly string[];
  openedAt: Later;
  headSha: string;
  draft: boolean;
  mergeableState: string;
  merge: { sha: string; at: Later; by: string } | null;
  closedAt: Later | null;
};

/** Seconds, as the code host writes them. */
const seconds = (date: Date | null): string | null => date && `${date.toISOString().slice(0, 19)}Z`;
const person = (login: string): JsonObject => ({ login, type: 'User' });
const repoId = (repo: string): number => 4_200 + repo.length;

function repository(repo: string): JsonObject {
  const [owner = '', name = ''] = repo.split('/');
  return { id: repoId(repo), full_name: repo, name, owner: { login: owner } };
}

export const pullRequestUrl = (repo: string, number: number): string =>
  `https://code.example/${repo}/pull/${number}`;

function pullRequest(change: Change, at: Date): JsonObject {
  const { repo, number, merge } = change;
  return {
    number,
    title: change.title,
    html_url: pullRequestUrl(repo, number),
    state: merge !== null || change.closedAt !== null ? 'closed' : 'open',
    draft: change.draft,
    merged: merge !== null,
    mergeable: merge === null ? true : null,
    mergeable_state: change.mergeableState,
    merged_at: seconds(merge?.at() ?? null),
    merged_by: merge && person(merge.by),
    merge_commit_sha: merge?.sha ?? null,
    closed_at: seconds(merge?.at() ?? change.closedAt?.() ?? null),
    created_at: seconds(change.openedAt()),
    updated_at: seconds(at),
    user: person(change.author),
    labels: change.labels.map((name) => ({ name })),
    requested_reviewers: [],
    additions: 40 + (number % 7) * 31,
    deletions: 4 + (number % 5) * 9,
    changed_files: 3 + (number % 6),
    head: { ref: change.branch, sha: change.headSha, repo: { full_name: repo } },
    base: { ref: 'main', repo: { id: repoId(repo), full_name: repo } },
  };
}

/** `action` as the code host names it: a merge is `closed`. */
export function pullRequestPayload(change: Change, action: string, at: Date, by: string): JsonObject {
  return {
    action,
    number: change.number,
    pull_request: pullRequest(change, at),
    repository: repository(change.repo),
    sender: person(by),
  };
}

export function pushPayload(
  change: Change,
  branch: string,
  sha: string,
  at: Date,
  message: string,
): JsonObject {
  const commits = [{ id: sha, message }];
  return {
    ref: `refs/heads/${branch}`,
    after: sha,
    created: false,
    deleted: false,
    forced: false,
    head_commit: commits[0],
    commits,
    compare: `https://code.example/${change.repo}/commit/${sha}`,
    pusher: { name: change.author },
    repository: { ...repository(change.repo), pushed_at: Math.floor(at.getTime() / 1_000) },
    sender: person(change.author),
  };
}

/** Without a conclusion it is still running. */
export function checkSuitePayload(
  change: Change,
  suite: { id: number; app: string; conclusion: string | null },
  at: Date,
): JsonObject {
  const { repo, number, branch, headSha } = change;
  const base = { ref: 'main', repo: { id: repoId(repo) } };
  return {
    action: suite.conclusion === null ? 'requested' : 'completed',
    repository: repository(repo),
    check_suite: {
      id: suite.id,
      status: suite.conclusion === null ? 'queued' : 'completed',
      conclusion: suite.conclusion,
      head_branch: branch,
      head_sha: headSha,
      updated_at: seconds(at),
      app: { slug: suite.app, name: suite.app },
      latest_check_runs_count: 4,
      pull_requests: [{ number, head: { ref: branch, sha: headSha }, base }],
    },
    sender: person(change.author),
  };
}

export function statusPayload(
  change: Change,
  status: { context: string; state: string; description: string; url: string },
  at: Date,
): JsonObject {
  return {
    id: Math.floor(at.getTime() / 1_000),
    state: status.state,
    context: status.context,
    description: status.description,
    target_url: status.url,
    sha: change.headSha,
    branches: [{ name: change.branch }],
    updated_at: seconds(at),
    repository: repository(change.repo),
    sender: person(change.author),
  };
}

export function reviewPayload(
  change: Change,
  review: { id: number; state: string; by: string; body: string },
  at: Date,
): JsonObject {
  return {
    action: 'submitted',
    review: {
      id: review.id,
      state: review.state,
      body: review.body,
      user: person(review.by),
      commit_id: change.headSha,
      submitted_at: seconds(at),
      html_url: `${pullRequestUrl(change.repo, change.number)}#pullrequestreview-${review.id}`,
    },
    pull_request: pullRequest(change, at),
    repository: repository(change.repo),
    sender: person(review.by),
  };
}

export function reviewCommentPayload(
  change: Change,
  comment: { id: number; by: string; body: string; path: string; line: number },
  at: Date,
): JsonObject {
  const { id, by, body, path, line } = comment;
  return {
    action: 'created',
    comment: {
      id,
      body,
      path,
      line,
      user: person(by),
      created_at: seconds(at),
      updated_at: seconds(at),
      html_url: `${pullRequestUrl(change.repo, change.number)}#discussion_r${id}`,
    },
    pull_request: pullRequest(change, at),
    repository: repository(change.repo),
    sender: person(by),
  };
}

export function reviewThreadPayload(
  change: Change,
  thread: { id: string; resolved: boolean; by: string; path: string; line: number },
  at: Date,
): JsonObject {
  const { id, resolved, by, path, line } = thread;
  const html_url = `${pullRequestUrl(change.repo, change.number)}#discussion_${id}`;
  return {
    action: resolved ? 'resolved' : 'unresolved',
    thread: { node_id: id, comments: [{ path, line, html_url, body: '', user: person(by) }] },
    pull_request: pullRequest(change, at),
    repository: repository(change.repo),
    updated_at: seconds(at),
    sender: person(by),
  };
}

export function conversationPayload(
  change: Change,
  comment: { id: number; by: string; body: string },
  at: Date,
): JsonObject {
  const html_url = `${pullRequestUrl(change.repo, change.number)}#issuecomment-${comment.id}`;
  return {
    action: 'created',
    issue: { number: change.number, title: change.title, pull_request: { url: html_url } },
    comment: {
      id: comment.id,
      body: comment.body,
      user: person(comment.by),
      created_at: seconds(at),
      updated_at: seconds(at),
      html_url,
    },
    repository: repository(change.repo),
    sender: person(comment.by),
  };
}

export type Deploy = { id: number; sha: string; environment: string; createdAt: Later };

export function deploymentPayload(repo: string, deploy: Deploy): JsonObject {
  return {
    action: 'created',
    deployment: deploymentOf(deploy),
    repository: repository(repo),
    sender: person('pipeline'),
  };
}

export function deploymentStatusPayload(
  repo: string,
  deploy: Deploy,
  status: { state: string; description: string },
  at: Date,
  voice: Voice,
): JsonObject {
  return {
    action: 'created',
    deployment: deploymentOf(deploy),
    deployment_status: {
      id: deploy.id * 10,
      state: status.state,
      description: status.description,
      environment: deploy.environment,
      environment_url: voice.url(`https://${deploy.environment}.tideline.example`),
      log_url: voice.url(`https://ci.example/${repo}/deploys/${deploy.id}`),
      target_url: voice.url(`https://ci.example/${repo}/deploys/${deploy.id}`),
      creator: person('pipeline'),
      created_at: seconds(at),
      updated_at: seconds(at),
    },
    repository: repository(repo),
    sender: person('pipeline'),
  };
}

function deploymentOf({ id, sha, environment, createdAt }: Deploy): JsonObject {
  return {
    id,
    sha,
    ref: 'main',
    task: 'deploy',
    environment,
    original_environment: environment,
    description: 'By the pipeline',
    creator: person('pipeline'),
    created_at: seconds(createdAt()),
    production_environment: environment === 'production',
  };
}
