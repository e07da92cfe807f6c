// What the code host sends of a pull request or a deployment as it stands: a published example with other values.
import type { DeploymentRow, PullRequestRow } from '../packages/testkit/src/codehost/cloud.ts';
import { codehostExample } from '../packages/testkit/src/payloads/codehost-examples.ts';
import { type JsonObject, patched } from '../packages/testkit/src/payloads/example.ts';

const examples = {
  pullRequest: codehostExample('pull_request merged'),
  deployment: codehostExample('deployment created'),
  status: codehostExample('deployment_status success'),
};

export type Sending = { type: string; payload: JsonObject };

/** Seconds, as the code host writes them. */
function time(milliseconds: number | null): string | null {
  return milliseconds === null ? null : `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

function repository(repo: string): JsonObject {
  return { full_name: repo, name: repo.split('/')[1] };
}

/** `action` as the code host names it: a merge is `closed`. */
export function pullRequestSending(repo: string, row: PullRequestRow, action: string): Sending {
  const merged = row.state === 'MERGED';
  const payload = {
    action,
    number: row.number,
    repository: repository(repo),
    pull_request: {
      number: row.number,
      title: row.title,
      html_url: `https://code.example/${repo}/pull/${row.number}`,
      state: row.state === 'OPEN' ? 'open' : 'closed',
      draft: row.isDraft,
      merged,
      merged_at: time(row.mergedAt),
      closed_at: time(row.closedAt),
      created_at: time(row.createdAt),
      updated_at: time(row.updatedAt),
      merge_commit_sha: row.mergeSha,
      merged_by: merged ? { login: 'kim' } : null,
      head: { ref: row.branch, sha: row.headSha, repo: { full_name: repo } },
      base: { ref: row.base, repo: { full_name: repo } },
    },
  };
  return sending(examples.pullRequest, payload);
}

export function deploymentSending(repo: string, row: DeploymentRow): Sending {
  return sending(examples.deployment, deployment(repo, row));
}

/** The newest status of the deployment. */
export function statusSending(repo: string, row: DeploymentRow): Sending {
  const status = row.statuses.at(-1);
  if (status === undefined) throw new Error(`Deployment ${row.id} has no status`);
  const { id, state, description, createdAt } = status;
  const deployment_status = {
    id,
    state,
    description,
    environment: row.environment,
    created_at: time(createdAt),
    updated_at: time(createdAt),
  };
  return sending(examples.status, { ...deployment(repo, row), deployment_status });
}

function deployment(repo: string, { id, sha, ref, environment, createdAt }: DeploymentRow): JsonObject {
  return {
    action: 'created',
    repository: repository(repo),
    deployment: { id, sha, ref, environment, original_environment: environment, created_at: time(createdAt) },
  };
}

function sending(example: Parameters<typeof patched>[0], patch: JsonObject): Sending {
  const { type, payload } = patched(example, example.name, patch);
  return { type, payload };
}
