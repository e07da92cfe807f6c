import {
  codehostExample,
  codehostExamples,
  storyBranch,
  storyHeadSha,
  storyMergeSha,
  storyPullRequest,
  storyRepo,
  storyTicket,
} from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { type EventFields, parseEventDraft } from '../../kernel/log/event-line.ts';
import type { DeliveryMeta } from '../feeds/delivery.ts';
import { topics } from '../topics.ts';
import { codehostEventTypes, mapCodehost } from './map-codehost.ts';

const meta: DeliveryMeta = { deliveryId: 'delivery-1', via: 'live' };

function mapped(type: string, payload: unknown, more: Partial<DeliveryMeta> = {}): EventFields {
  const mapping = mapCodehost(type, payload, { ...meta, ...more });
  if (!mapping.ok) throw new Error(mapping.problem);
  return mapping.draft;
}
const story = (name: string): EventFields => {
  const { type, payload } = codehostExample(name);
  return mapped(type, payload);
};

describe('every example of the ten types', () => {
  test.each(codehostExamples())('$name', ({ type, payload }) => {
    const draft = mapped(type, payload);
    expect(parseEventDraft(topics, draft)).toEqual({ ok: true, draft });
    expect(draft.event).not.toBe('codehost.other');
    expect(draft).toMatchObject({ source: 'codehost.webhook', via: 'live', deliveryId: 'delivery-1' });
    expect(draft.scope.repo).toMatch(/^[^/]+\/[^/]+$/);
    expect(draft.actor?.login).toBeTruthy();
    expect(draft.occurredAt).toBeDefined();
    expect(Object.values(draft.scope)).not.toContain(undefined);
    expect(Object.values(draft.detail)).not.toContain(undefined);
  });

  test('all ten types are among them', () => {
    expect(new Set(codehostExamples().map(({ type }) => type))).toEqual(new Set(codehostEventTypes));
  });
});

const pullRequestScope = {
  repo: storyRepo,
  ticket: storyTicket,
  pr: storyPullRequest,
  branch: storyBranch,
  sha: storyHeadSha,
};
const deploymentScope = {
  repo: storyRepo,
  sha: storyMergeSha,
  ref: 'main',
  environment: 'production',
  deploymentId: 4242,
};

describe('what is kept', () => {
  test.each<[string, string, EventFields['scope'], EventFields['detail']]>([
    [
      'pull_request opened',
      'codehost.pr.opened',
      pullRequestScope,
      { state: 'open', merged: false, base: 'main' },
    ],
    [
      'pull_request merged',
      'codehost.pr.merged',
      { ...pullRequestScope, mergeSha: storyMergeSha },
      { merged: true, mergedAt: '2026-01-02T03:00:00Z', mergedBy: 'kim', state: 'closed' },
    ],
    ['pull_request closed', 'codehost.pr.closed', pullRequestScope, { merged: false, state: 'closed' }],
    [
      'pull_request labeled after the merge',
      'codehost.pr.labeled',
      { ...pullRequestScope, mergeSha: storyMergeSha },
      { merged: true, label: 'shipped' },
    ],
    ['pull_request edited', 'codehost.pr.edited', pullRequestScope, { changed: ['title'] }],
    [
      'pull_request auto_merge_enabled',
      'codehost.pr.auto_merge_enabled',
      pullRequestScope,
      { autoMerge: true },
    ],
    [
      'pull_request auto_merge_disabled',
      'codehost.pr.auto_merge_disabled',
      pullRequestScope,
      { autoMerge: false },
    ],
    [
      'pull_request review_requested of a team',
      'codehost.pr.review_requested',
      pullRequestScope,
      { requestedReviewer: 'web' },
    ],
    [
      'pull_request_review approved',
      'codehost.pr_review.submitted',
      pullRequestScope,
      { state: 'approved', reviewer: 'Codertocat' },
    ],
    [
      'pull_request_review changes_requested',
      'codehost.pr_review.submitted',
      pullRequestScope,
      { state: 'changes_requested', body: 'One more test.' },
    ],
    [
      'pull_request_review_thread resolved',
      'codehost.pr_review_thread.resolved',
      pullRequestScope,
      { resolved: true, comments: 1 },
    ],
    [
      'pull_request_review_comment created',
      'codehost.pr_review_comment.created',
      pullRequestScope,
      { body: 'Preview?', author: 'Codertocat' },
    ],
    [
      'check_suite failure',
      'codehost.check_suite.completed',
      pullRequestScope,
      { status: 'completed', conclusion: 'failure', prs: [storyPullRequest] },
    ],
    [
      'status error',
      'codehost.status.error',
      { repo: storyRepo, ticket: storyTicket, branch: storyBranch, sha: storyHeadSha },
      { state: 'error', context: 'ci/build', branches: [storyBranch] },
    ],
    [
      'push branch',
      'codehost.push',
      {
        repo: storyRepo,
        ticket: storyTicket,
        ref: `refs/heads/${storyBranch}`,
        branch: storyBranch,
        sha: storyHeadSha,
      },
      { commits: 1, after: storyHeadSha, before: 'c'.repeat(40) },
    ],
    [
      'push tag',
      'codehost.push',
      { repo: storyRepo, ref: 'refs/tags/v1.0.0', sha: storyHeadSha },
      { tag: 'v1.0.0' },
    ],
    [
      'issue_comment on a pull request',
      'codehost.issue_comment.created',
      { repo: storyRepo, ticket: storyTicket, pr: storyPullRequest },
      { onPullRequest: true, body: 'Preview: https://preview.example.test/42' },
    ],
    [
      'issue_comment on an issue',
      'codehost.issue_comment.created',
      { repo: storyRepo, ticket: storyTicket },
      { onPullRequest: false, issue: storyPullRequest },
    ],
    [
      'deployment created',
      'codehost.deployment.created',
      deploymentScope,
      { task: 'deploy', creator: 'Codertocat' },
    ],
    ...['pending', 'queued', 'waiting', 'in_progress', 'success', 'failure', 'error', 'inactive'].map(
      (state): [string, string, EventFields['scope'], EventFields['detail']] => [
        `deployment_status ${state}`,
        `codehost.deployment_status.${state}`,
        deploymentScope,
        { state, logUrl: 'https://ci.example.test/runs/1', description: `Deployment is ${state}` },
      ],
    ),
  ])('%s', (name, event, scope, detail) => {
    const draft = story(name);
    expect(draft.event).toBe(event);
    expect(draft.scope).toEqual(scope);
    expect(draft.detail).toMatchObject(detail);
  });
});

describe('merged only on the closed action', () => {
  const { payload } = codehostExample('pull_request merged');

  test.each(['labeled', 'edited', 'synchronize', 'unlocked'])(
    '%s of a merged pull request is itself',
    (action) => {
      expect(mapped('pull_request', { ...payload, action }).event).toBe(`codehost.pr.${action}`);
    },
  );

  test('an action named merged is not a merge', () => {
    const draft = mapped('pull_request', { ...payload, action: 'merged' });
    expect(draft).toMatchObject({
      event: 'codehost.other',
      detail: { type: 'pull_request', action: 'merged' },
    });
  });

  test('merged must be true, not just truthy', () => {
    const closed = codehostExample('pull_request closed').payload;
    for (const merged of ['true', 1, {}, null]) {
      const pull_request = { merged, number: 42 };
      expect(mapped('pull_request', { ...closed, pull_request }).event).toBe('codehost.pr.closed');
    }
  });
});

describe('an unknown type or action is kept as other', () => {
  test.each([
    ['workflow_run', { action: 'completed' }, { type: 'workflow_run', action: 'completed' }],
    ['ping', { zen: 'Keep it simple' }, { type: 'ping' }],
    ['pull_request', { action: 'teleported' }, { type: 'pull_request', action: 'teleported' }],
    ['deployment_status', { deployment_status: { state: 'lost' } }, { type: 'deployment_status' }],
    ['status', { state: '__proto__' }, { type: 'status' }],
    ['__proto__', {}, { type: '__proto__' }],
    ['constructor', { action: 'toString' }, { type: 'constructor', action: 'toString' }],
  ])('%s %j', (type, payload, detail) => {
    const draft = mapped(type, { ...payload, repository: { full_name: 'acme/web' } });
    expect(draft).toMatchObject({ event: 'codehost.other', scope: { repo: 'acme/web' }, detail });
    expect(parseEventDraft(topics, draft).ok).toBe(true);
  });

  test('with the known scope', () => {
    const { payload } = codehostExample('pull_request opened');
    expect(mapped('pull_request', { ...payload, action: 'teleported' }).scope).toEqual(pullRequestScope);
  });
});

test.each([null, undefined, [], [{}], 'text', 1, true])(
  'a payload that is not an object is refused: %j',
  (payload) => {
    expect(mapCodehost('push', payload, meta)).toEqual({
      ok: false,
      problem: 'the payload is not a JSON object',
    });
  },
);

test('a check suite has only the pull requests of its own repository', () => {
  const { payload } = codehostExample('check_suite success');
  const pull_requests = [
    { number: 42, base: { repo: { id: 4200 } } },
    { number: 43, base: { repo: { id: 4200 } } },
    { number: 7, base: { repo: { id: 1 } } },
    { number: 'x' },
    null,
  ];
  const check_suite = { head_sha: storyHeadSha, pull_requests };
  const draft = mapped('check_suite', { ...payload, check_suite });
  expect(draft.detail['prs']).toEqual([42, 43]);
  expect(draft.scope).toEqual({ repo: storyRepo, sha: storyHeadSha });
});

const repository = { full_name: 'acme/web' };

test('the environment of a status counts, not that of its deployment', () => {
  const deployment = { id: 1, sha: 'a'.repeat(40), environment: 'staging' };
  const scopeOf = (environment: string | undefined) =>
    mapped('deployment_status', {
      deployment_status: { state: 'success', environment },
      deployment,
      repository,
    }).scope;
  expect(scopeOf('production')).toMatchObject({ environment: 'production' });
  expect(scopeOf(undefined)).toMatchObject({ environment: 'staging' });
});

test('a fork that was deleted is not this repository', () => {
  const headRepo = (head: object) =>
    mapped('pull_request', { action: 'opened', number: 1, pull_request: { number: 1, head }, repository })
      .detail['headRepo'];
  expect(headRepo({ ref: 'b', repo: repository })).toBe('acme/web');
  expect(headRepo({ ref: 'b', repo: null })).toBe('unknown/(deleted)');
  expect(headRepo({ ref: 'b', repo: null, label: 'evil:b' })).toBe('evil/(deleted)');
  expect(headRepo({ ref: 'b', user: { login: 'evil' } })).toBe('evil/(deleted)');
  expect(headRepo({ ref: 'b', label: 'Acme:b' })).toBeUndefined();
});

test('commits are compared in lower case', () => {
  const sha = 'ABCDEF'.padEnd(40, '0');
  const head = { ref: 'b', sha };
  const pull = { number: 1, head, merged: true, merge_commit_sha: sha };
  const payload = { action: 'closed', number: 1, pull_request: pull, repository };
  expect(mapped('pull_request', payload).scope).toMatchObject({
    sha: sha.toLowerCase(),
    mergeSha: sha.toLowerCase(),
  });
  const deployment = { id: 1, sha, environment: 'production' };
  expect(mapped('deployment', { action: 'created', deployment, repository }).scope.sha).toBe(
    sha.toLowerCase(),
  );
});

test('a deleted branch has no commit', () => {
  const payload = { ref: 'refs/heads/gone', before: storyHeadSha, after: '0'.repeat(40), deleted: true };
  expect(mapped('push', payload).scope).toEqual({ ref: 'refs/heads/gone', branch: 'gone' });
});

test('a long body is cut to 4 KB, marked and listed', () => {
  const { payload } = codehostExample('issue_comment on a pull request');
  const draft = mapped('issue_comment', { ...payload, comment: { body: 'x'.repeat(100_000) } });
  expect(draft.detail['body']).toMatch(/^x{4064}…\[cut 95936 characters\]$/);
  expect(draft.detail['cut']).toEqual(['detail.body']);
});

test('the delivery id, via and relay position are kept', () => {
  const relay = { channel: 'channel-1', id: '17' };
  const draft = mapped('push', {}, { via: 'replay', relay });
  expect(draft).toEqual({
    event: 'codehost.push',
    source: 'codehost.webhook',
    via: 'replay',
    deliveryId: 'delivery-1',
    relay,
    scope: {},
    detail: { commits: 0 },
  });
});

test('known ticket prefixes find a ticket anywhere, and no other', () => {
  const { payload } = codehostExample('pull_request opened');
  expect(mapped('pull_request', payload, { ticketPrefixes: ['ENG'] }).scope.ticket).toBe('ENG-42');
  expect(mapped('pull_request', payload, { ticketPrefixes: ['OPS'] }).scope.ticket).toBeUndefined();
});
