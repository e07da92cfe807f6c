// Deliveries about a repository, a pull request or a deployment as the fake code host has it now.
import { codehostExample } from '../payloads/codehost-variants.ts';
import { type JsonObject, patched } from '../payloads/examples.ts';
import type { DeploymentRow, PullRequestRow } from './cloud.ts';

/** A published example with other values. */
export type Sending = { type: string; payload: JsonObject };

/** Seconds, as the code host writes them. */
function time(milliseconds: number | null): string | null {
  return milliseconds === null ? null : `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

/** `example` is the name of one: `status success`. */
export function sending(example: string, repo: string, patch: JsonObject): Sending {
  const repository = { full_name: repo, name: repo.split('/')[1] };
  const { type, payload } = patched(codehostExample(example), example, { repository, ...patch });
  return { type, payload };
}

/** `action` as the code host names it: a merge is `closed`. */
export function pullRequestSending(
  repo: string,
  row: PullRequestRow,
  action: string,
  more: JsonObject = {},
): Sending {
  return sending('pull_request merged', repo, { action, ...pullRequestOf(repo, row), ...more });
}

/** Its own and those of reviews, review comments and review threads. */
export function pullRequestOf(repo: string, row: PullRequestRow): JsonObject {
  const merged = row.state === 'MERGED';
  return {
    number: row.number,
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
}

function deploymentOf({ id, sha, ref, environment, createdAt }: DeploymentRow): JsonObject {
  return { id, sha, ref, environment, original_environment: environment, created_at: time(createdAt) };
}

export function deploymentSending(repo: string, row: DeploymentRow): Sending {
  return sending('deployment created', repo, { action: 'created', deployment: deploymentOf(row) });
}

/** The newest status of the deployment. */
export function statusSending(repo: string, row: DeploymentRow): Sending {
  const status = row.statuses.at(-1);
  if (status === undefined) throw new Error(`Deployment ${row.id} has no status`);
  const { id, state, description, createdAt } = status;
  const at = { created_at: time(createdAt), updated_at: time(createdAt) };
  return sending('deployment_status success', repo, {
    action: 'created',
    deployment: deploymentOf(row),
    deployment_status: { id, state, description, environment: row.environment, ...at },
  });
}
