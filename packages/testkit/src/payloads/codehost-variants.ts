// What the published examples do not show: a merge, verdicts of reviews and checks, the states of a deployment, the
// remaining actions. All about the same work: ticket ENG-42 on its branch, pull request 42.
import { createRequire } from 'node:module';
import { codehostEventTypes } from 'svc-monitor/src/features/codehost/map-codehost.ts';
import { type Example, type JsonObject, patched } from './examples.ts';

export const storyRepo = 'acme/web';
export const storyTicket = 'ENG-42';
export const storyBranch = 'eng-42-login-form';
export const storyPullRequest = 42;
export const storyHeadSha = 'a'.repeat(40);
export const storyMergeSha = 'b'.repeat(40);

const repository = { full_name: storyRepo, name: 'web', id: 4200, pushed_at: 1_767_322_800 };
const head = { ref: storyBranch, sha: storyHeadSha, repo: { full_name: storyRepo } };
const base = { ref: 'main', repo: { id: 4200, full_name: storyRepo } };
const time = '2026-01-02T03:00:00Z';
const open = {
  number: storyPullRequest,
  title: 'Add the login form',
  state: 'open',
  merged: false,
  merged_at: null,
  closed_at: null,
  updated_at: time,
  head,
  base,
};
const closed = { ...open, state: 'closed', closed_at: time };
const merge = {
  ...closed,
  merged: true,
  merged_at: time,
  merge_commit_sha: storyMergeSha,
  merged_by: { login: 'kim' },
};

const pullRequest = (action: string, pull_request: JsonObject, more: JsonObject = {}): JsonObject => ({
  action,
  number: storyPullRequest,
  pull_request,
  repository,
  ...more,
});

/** Name of the variant (its first word is the type) and what differs from the first published example. */
const variants: readonly (readonly [name: string, patch: JsonObject])[] = [
  ['pull_request opened', pullRequest('opened', open)],
  ['pull_request merged', pullRequest('closed', merge)],
  ['pull_request closed', pullRequest('closed', closed)],
  ['pull_request labeled after the merge', pullRequest('labeled', merge, { label: { name: 'shipped' } })],
  ['pull_request edited', pullRequest('edited', open, { changes: { title: { from: 'WIP' } } })],
  [
    'pull_request auto_merge_enabled',
    pullRequest('auto_merge_enabled', { ...open, auto_merge: { merge_method: 'squash' } }),
  ],
  ['pull_request auto_merge_disabled', pullRequest('auto_merge_disabled', { ...open, auto_merge: null })],
  ['pull_request milestoned', pullRequest('milestoned', open, { milestone: { title: '1.0' } })],
  ['pull_request demilestoned', pullRequest('demilestoned', open, { milestone: { title: '1.0' } })],
  ['pull_request enqueued', pullRequest('enqueued', open)],
  ['pull_request dequeued', pullRequest('dequeued', open, { reason: 'CI_FAILURE' })],
  [
    'pull_request review_requested of a team',
    pullRequest('review_requested', open, { requested_team: { slug: 'web' } }),
  ],
  [
    'pull_request_review approved',
    pullRequest('submitted', open, { review: { state: 'approved', submitted_at: time } }),
  ],
  [
    'pull_request_review changes_requested',
    pullRequest('submitted', open, { review: { state: 'changes_requested', body: 'One more test.' } }),
  ],
  ['pull_request_review edited', pullRequest('edited', open, { review: { state: 'commented' } })],
  ['pull_request_review_thread resolved', pullRequest('resolved', open)],
  ['pull_request_review_comment created', pullRequest('created', open, { comment: { body: 'Preview?' } })],
  ['check_suite success', suite('completed', 'success')],
  ['check_suite failure', suite('completed', 'failure')],
  ['check_suite cancelled', suite('completed', 'cancelled')],
  ['check_suite timed_out', suite('completed', 'timed_out')],
  ['check_suite action_required', suite('completed', 'action_required')],
  ['check_suite neutral', suite('completed', 'neutral')],
  ['check_suite stale', suite('completed', 'stale')],
  ['check_suite rerequested', suite('rerequested', null)],
  ...['pending', 'success', 'failure', 'error'].map(
    (state) => [`status ${state}`, commitStatus(state)] as const,
  ),
  ['push branch', push(`refs/heads/${storyBranch}`)],
  ['push tag', push('refs/tags/v1.0.0')],
  ['issue_comment on a pull request', comment({ pull_request: { url: 'https://example.test/pulls/42' } })],
  ['issue_comment on an issue', comment({})],
  ['deployment created', deployment()],
  ...['pending', 'queued', 'waiting', 'in_progress', 'success', 'failure', 'error', 'inactive'].map(
    (state) => [`deployment_status ${state}`, deploymentStatus(state)] as const,
  ),
];

function codehostVariants(published: readonly Example[]): Example[] {
  return variants.map(([name, patch]) => {
    const type = name.split(' ')[0];
    const example = published.find((candidate) => candidate.type === type);
    if (example === undefined) throw new Error(`no published example of ${type}`);
    return patched(example, name, patch);
  });
}

function suite(action: string, conclusion: string | null): JsonObject {
  const pull_requests = [{ number: storyPullRequest, head, base: { ref: 'main', repo: { id: 4200 } } }];
  return {
    action,
    repository,
    check_suite: {
      status: conclusion === null ? 'queued' : 'completed',
      conclusion,
      head_branch: storyBranch,
      head_sha: storyHeadSha,
      pull_requests,
    },
  };
}

function commitStatus(state: string): JsonObject {
  return { state, sha: storyHeadSha, context: 'ci/build', branches: [{ name: storyBranch }], repository };
}

function push(ref: string): JsonObject {
  const commits = [{ id: storyHeadSha, message: 'Add the form' }];
  return {
    ref,
    before: 'c'.repeat(40),
    after: storyHeadSha,
    deleted: false,
    head_commit: commits[0],
    commits,
    repository,
  };
}

function comment(more: JsonObject): JsonObject {
  const issue = { number: storyPullRequest, title: `${storyTicket}: add the login form`, ...more };
  return {
    action: 'created',
    issue,
    comment: { body: 'Preview: https://preview.example.test/42' },
    repository,
  };
}

function deployment(): JsonObject {
  return {
    action: 'created',
    deployment: { id: 4242, sha: storyMergeSha, ref: 'main', environment: 'production', created_at: time },
    repository,
  };
}

function deploymentStatus(state: string): JsonObject {
  const deployment_status = {
    state,
    environment: 'production',
    description: `Deployment is ${state}`,
    log_url: 'https://ci.example.test/runs/1',
    created_at: time,
  };
  return { ...deployment(), deployment_status };
}

// Payloads of the code host: the published examples of the ten subscribed types, and variants for what those do not
// show. Loaded on first use: the file is 4 MB.

type PublishedType = { name: string; examples: JsonObject[] };

const require = createRequire(import.meta.url);
let published: Example[] | undefined;
let variantsMade: Example[] | undefined;

/** Every published example of every type, even of types that are not subscribed. */
export function publishedExamples(): readonly Example[] {
  published ??= readPublished();
  return published;
}

/** All payloads of the ten subscribed types: published ones and variants. */
export function codehostExamples(): Example[] {
  const ten: readonly string[] = codehostEventTypes;
  const ofTheTen = publishedExamples().filter(({ type }) => ten.includes(type));
  variantsMade ??= codehostVariants(ofTheTen).map(frozen);
  return [...ofTheTen, ...variantsMade];
}

/** The payload of that name, such as `pull_request merged` or `deployment_status failure`. */
export function codehostExample(name: string): Example {
  const found = codehostExamples().find((example) => example.name === name);
  if (found === undefined) throw new Error(`no code-host example named ${name}`);
  return found;
}

/** The same, if it is a merge, with another time of it. */
export function mergedAt(example: Example, at: string): Example {
  const merged = (example.payload['pull_request'] as JsonObject | undefined)?.['merged'];
  if (merged !== true) return example;
  return patched(example, example.name, { pull_request: { merged_at: at, closed_at: at } });
}

function readPublished(): Example[] {
  const types: PublishedType[] = require('@octokit/webhooks-examples');
  return types.flatMap(({ name, examples }) =>
    examples.map((payload, index) => frozen({ name: `${name} #${index + 1}`, type: name, payload })),
  );
}

/** All files of a test process share the examples, so a test that changes one would change what the next one sends. */
function frozen<Value extends object>(value: Value): Value {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) frozen(part);
  return Object.freeze(value);
}
