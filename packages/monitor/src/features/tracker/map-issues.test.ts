// The payloads are the code host's published examples (@octokit/webhooks-examples; none of them closes an issue). `sub_issues` and
// `issue_dependencies` are not among them: their fields are those of its published schema.

import type { Fields } from '@svc/contract/payload-fields';
import { publishedExamples } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { codehostEventType, mapCodehost } from '../codehost/map-codehost.ts';
import { resolveConfig } from '../configure.ts';
import { typedLine } from '../topics.ts';
import { issueFact } from './map-issues.ts';
import type { GithubTracker } from './tracker-of.ts';

const { stateMap } = resolveConfig([], {}).usable.svc.tracker;
const repo: GithubTracker = {
  provider: 'github',
  teamKey: 'GH',
  teamId: 'Codertocat/Hello-World',
  project: undefined,
  stateMap,
};
const meta = (tracked: GithubTracker[] = [repo]) => ({
  deliveryId: 'd-1',
  via: 'live' as const,
  ticketFact: (type: string, payload: Fields) => issueFact(type, payload, tracked),
});

type Payload = Record<string, unknown>;
const payloads = (type: string): Payload[] =>
  publishedExamples()
    .filter((example) => example.type === type)
    .map(({ payload }) => payload);
const payload = (type: string, action: string, patch: Payload = {}): Payload => {
  const found = payloads(type).find((one) => one['action'] === action && 'repository' in one);
  if (found === undefined) throw new Error(`no published example of ${type} ${action}`);
  return { ...found, repository: { ...(found['repository'] as Payload), full_name: repo.teamId }, ...patch };
};
const issueWith = (action: string, patch: Payload, more: Payload = {}): Payload => {
  const whole = payload('issues', action);
  return { ...whole, issue: { ...(whole['issue'] as Payload), ...patch }, ...more };
};
function map(type: string, given: unknown, tracked?: GithubTracker[]) {
  const mapping = mapCodehost(type, given, meta(tracked));
  if (!mapping.ok) throw new Error(mapping.problem);
  return mapping.draft;
}

describe('the published examples of issues', () => {
  test.each([
    ['opened', 'created'],
    ['reopened', 'state_changed'],
    ['assigned', 'assignee_changed'],
    ['unassigned', 'assignee_changed'],
    ['labeled', 'updated'],
    ['unlabeled', 'updated'],
    ['edited', 'updated'],
    ['pinned', 'updated'],
    ['locked', 'updated'],
    ['deleted', 'removed'],
    ['transferred', 'removed'],
  ])('%s is tracker.issue.%s', (action, topic) => {
    const draft = map('issues', payload('issues', action));
    expect(draft).toMatchObject({
      event: `tracker.issue.${topic}`,
      source: 'codehost.webhook',
      scope: { repo: repo.teamId, ticket: expect.stringMatching(/^GH-\d+$/) },
      actor: { login: expect.any(String) },
      detail: {
        team: 'GH',
        teamId: repo.teamId,
        author: { name: expect.any(String) },
        title: expect.any(String),
      },
    });
  });

  test('every one becomes exactly one line with a known detail, in both modes', () => {
    const inProject = { ...repo, project: { owner: 'acme', number: 3 } };
    for (const type of ['issues', 'issue_comment', 'projects_v2_item']) {
      for (const given of payloads(type)) {
        for (const tracked of [repo, inProject]) {
          const draft = map(type, given, [tracked]);
          expect(typedLine(draft), JSON.stringify(draft)).toBeDefined();
        }
      }
    }
  });

  test('of a repository whose issues are not tickets: as before, byte for byte', () => {
    for (const type of ['issues', 'issue_comment', 'projects_v2_item']) {
      for (const given of payloads(type)) {
        const before = mapCodehost(type, given, { deliveryId: 'd-1', via: 'live' });
        const other = { ...repo, teamId: 'acme/other' };
        expect(JSON.stringify(mapCodehost(type, given, meta([other])))).toBe(JSON.stringify(before));
      }
    }
  });
});

describe('the state', () => {
  const labels = (...names: string[]) => names.map((name) => ({ name }));
  test.each([
    ['open', { state: 'open', labels: [] }, { id: 'open', name: 'Open', type: 'unstarted' }],
    [
      'by a label',
      { state: 'open', labels: labels('bug', 'In Progress') },
      { id: 'label:In Progress', type: 'started' },
    ],
    ['done', { state: 'closed', state_reason: 'completed' }, { name: 'Done', type: 'completed' }],
    ['closed before reasons existed', { state: 'closed', state_reason: null }, { type: 'completed' }],
    ['not planned', { state: 'closed', state_reason: 'not_planned' }, { name: 'Canceled', type: 'canceled' }],
  ])('%s', (_, issue, state) => {
    expect(map('issues', issueWith('edited', issue)).detail).toMatchObject({ state });
  });

  test('a label that is a state changes the state; in a project it does not', () => {
    const given = issueWith(
      'labeled',
      { state: 'open', labels: labels('Todo') },
      { label: { name: 'Todo' } },
    );
    expect(map('issues', given)).toMatchObject({
      event: 'tracker.issue.state_changed',
      detail: { changed: ['stateId', 'labelIds'], labelsAdded: ['Todo'], state: { id: 'label:Todo' } },
    });
    const draft = map('issues', given, [{ ...repo, project: { owner: 'acme', number: 3 } }]);
    expect(draft.event).toBe('tracker.issue.updated');
    expect(draft.detail).not.toHaveProperty('state');
  });

  test('closing changes the state', () => {
    const closing = { action: 'closed', sender: { login: 'kim' } };
    expect(map('issues', issueWith('reopened', { state: 'closed' }, closing))).toMatchObject({
      event: 'tracker.issue.state_changed',
      actor: { login: 'kim' },
      detail: { changed: ['stateId'], state: { id: 'closed:completed' } },
    });
  });

  test('in a project a closed issue is closed, whatever the action', () => {
    const given = issueWith('labeled', { state: 'closed', state_reason: 'completed' });
    const { detail } = map('issues', given, [{ ...repo, project: { owner: 'acme', number: 3 } }]);
    expect(detail).toMatchObject({ state: { type: 'completed' } });
  });
});

test('who was assigned, and who is now', () => {
  const kim = { login: 'kim', node_id: 'U_1' };
  const assigned = map('issues', issueWith('assigned', { assignee: kim }, { assignee: kim }));
  expect(assigned.detail).toMatchObject({ assigned: { id: 'kim', name: 'kim' }, assignee: { name: 'kim' } });
  expect(map('issues', issueWith('unassigned', { assignee: null })).detail).toMatchObject({ assignee: null });
});

test('a comment on an issue is one on its ticket, on a pull request it is not', () => {
  const given = payload('issue_comment', 'created');
  expect(map('issue_comment', given)).toMatchObject({
    event: 'tracker.comment.created',
    detail: { author: 'Codertocat', body: expect.any(String) },
  });
  const issue = { ...(given['issue'] as Payload), pull_request: {} };
  expect(map('issue_comment', { ...given, issue }).event).toBe('codehost.issue_comment.created');
});

test.each([
  ['sub_issues', { action: 'sub_issue_added', parent_issue: { number: 7 }, sub_issue: { number: 8 } }],
  [
    'issue_dependencies',
    { action: 'blocked_by_added', blocked_issue: { number: 7 }, blocking_issue: { number: 9 } },
  ],
])('%s is kept, for the ticket that waits', (type, given) => {
  expect(map(type, { ...given, repository: { full_name: 'codertocat/hello-world' } })).toMatchObject({
    event: 'tracker.other',
    scope: { ticket: 'GH-7' },
    detail: { type },
  });
});

test('without a header the type of an issue is known by its shape', () => {
  expect(codehostEventType(undefined, payload('issues', 'opened'))).toBe('issues');
  expect(codehostEventType(undefined, payload('issue_comment', 'created'))).toBe('issue_comment');
});
