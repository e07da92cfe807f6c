import { trackerExamples, trackerExamplesBesideTheTable, trackerExamplesOfManyChanges } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { type EventFields, parseEventDraft } from '../../kernel/log/event-line.ts';
import type { DeliveryMeta } from '../feeds/delivery.ts';
import { topics } from '../topics.ts';
import { mapTracker } from './map-tracker.ts';

const meta: DeliveryMeta = { deliveryId: 'delivery-1', via: 'live' };

function mapped(payload: unknown): EventFields {
  const mapping = mapTracker(payload, meta);
  if (!mapping.ok) throw new Error(mapping.problem);
  expect(parseEventDraft(topics, mapping.draft)).toEqual({ ok: true, draft: mapping.draft });
  return mapping.draft;
}
const payloadOf = (name: string) => trackerExamples().find((example) => example.name === name)?.payload ?? {};

/** The rows of the spec's table, and projects. */
const table: Record<string, string> = {
  'Issue create': 'tracker.issue.created',
  'Issue update, stateId changed': 'tracker.issue.state_changed',
  'Issue update, priority changed': 'tracker.issue.priority_changed',
  'Issue update, assigneeId changed': 'tracker.issue.assignee_changed',
  'Issue update, other fields only': 'tracker.issue.updated',
  'Issue remove': 'tracker.issue.removed',
  'Comment create': 'tracker.comment.created',
  'Comment update': 'tracker.comment.updated',
  'Comment remove': 'tracker.comment.removed',
  'Cycle create': 'tracker.cycle.created',
  'Cycle update': 'tracker.cycle.updated',
  'Cycle remove': 'tracker.cycle.removed',
  'Reaction create': 'tracker.reaction.created',
  'Reaction remove': 'tracker.reaction.removed',
  'IssueLabel create': 'tracker.issue_label.created',
  'IssueLabel update': 'tracker.issue_label.updated',
  'IssueLabel remove': 'tracker.issue_label.removed',
  'Project create': 'tracker.project.created',
  'Project update': 'tracker.project.updated',
  'Project remove': 'tracker.project.removed',
};

describe('the topic of each type and action', () => {
  test.each(Object.entries(table))('%s: %s', (name, topic) => {
    const draft = mapped(payloadOf(name));
    expect(draft).toMatchObject({
      event: topic,
      source: 'tracker.webhook',
      occurredAt: '2026-01-02T03:00:00.000Z',
      actor: { login: 'Kim', type: 'user' },
      detail: { actorId: 'user-kim', webhookTimestamp: 1_767_322_800_250 },
    });
    expect(draft.scope.ticket).toBe(/^(Issue|Comment|Reaction) /.test(name) ? 'ENG-42' : undefined);
  });

  test('there is an example of every row', () => {
    expect(
      trackerExamples()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(Object.keys(table).toSorted());
  });
});

test.each([
  ['Issue update, state, priority and assignee', 'tracker.issue.state_changed'],
  ['Issue update, priority and assignee', 'tracker.issue.priority_changed'],
  ['Issue update, assignee and title', 'tracker.issue.assignee_changed'],
])('one of several changed fields decides: %s', (name, topic) => {
  const example = trackerExamplesOfManyChanges().find((candidate) => candidate.name === name);
  expect(mapped(example?.payload).event).toBe(topic);
});

test.each(trackerExamplesBesideTheTable())('$name is kept as other', ({ type, payload }) => {
  const draft = mapped(payload);
  expect(draft).toMatchObject({ event: 'tracker.other', detail: { type, action: payload['action'] } });
});

test('what is kept of an issue', () => {
  expect(mapped(payloadOf('Issue update, stateId changed')).detail).toEqual({
    id: 'issue-42',
    url: 'https://tracker.example.test/acme/issue/ENG-42/add-the-login-form',
    actorId: 'user-kim',
    webhookTimestamp: 1_767_322_800_250,
    title: 'Add the login form',
    state: { id: 'state-in-progress', name: 'In Progress', type: 'started' },
    priority: 2,
    priorityLabel: 'High',
    assignee: { id: 'user-kim', name: 'Kim' },
    team: 'ENG',
    teamId: 'team-eng',
    labels: ['bug'],
    changed: ['stateId', 'startedAt'],
    previous: { stateId: 'state-todo', startedAt: null },
  });
});

const labels = [
  { id: 'label-bug', name: 'bug' },
  { id: 'label-run', name: 'svc:run' },
];
const kim = { id: 'user-kim', name: 'Kim' };

test.each<[string, object, object | undefined, object]>([
  ['a label that is new', { labels }, { labelIds: ['label-bug'] }, { labelsAdded: ['svc:run'] }],
  ['a label that is gone', { labels }, { labelIds: ['label-bug', 'label-run', 'label-old'] }, {}],
  ['labels that were there before', { labels, assignee: kim }, { title: 'Login' }, {}],
  ['a new assignee', { labels, assignee: kim }, { assigneeId: null }, { assigned: kim }],
  ['no assignee any more', { labels, assigneeId: null }, { assigneeId: 'user-kim' }, {}],
  [
    'everything of a new ticket',
    { labels, assignee: kim, creatorId: 'user-lee' },
    undefined,
    { labelsAdded: ['bug', 'svc:run'], assigned: kim, author: { id: 'user-lee' } },
  ],
])('what a change itself set: %s', (_, data, updatedFrom, expected) => {
  const action = updatedFrom === undefined ? 'create' : 'update';
  const { labelsAdded, assigned, author } = mapped({ type: 'Issue', action, data, updatedFrom }).detail;
  expect(JSON.parse(JSON.stringify({ labelsAdded, assigned, author }))).toEqual(expected);
});

test('only plain previous values are kept', () => {
  const updatedFrom: unknown = JSON.parse(
    '{"__proto__":{"x":1},"labelIds":["a",1],"priority":0,"deep":{"a":1},"title":null,"a b":1}',
  );
  const { detail } = mapped({ type: 'Issue', action: 'update', updatedFrom });
  expect(detail['changed']).toEqual(['labelIds', 'priority', 'deep', 'title']);
  expect(detail['previous']).toEqual({ labelIds: ['a'], priority: 0, title: null });
});

test('an unassigned issue has the assignee null', () => {
  const { detail } = mapped({ type: 'Issue', action: 'update', data: { assigneeId: null } });
  expect(detail['assignee']).toBeNull();
});

test('an integration is named by its service, an issue without identifier by team and number', () => {
  const draft = mapped({
    type: 'Issue',
    action: 'create',
    actor: { id: 'integration-1', service: 'chat', type: 'integration' },
    data: { number: 42, team: { key: 'ENG' } },
  });
  expect(draft).toMatchObject({ actor: { login: 'chat', type: 'integration' }, scope: { ticket: 'ENG-42' } });
});

test.each([null, [], 'text', 1])('a payload that is not an object is refused: %j', (payload) => {
  expect(mapTracker(payload, meta)).toEqual({ ok: false, problem: 'the payload is not a JSON object' });
});
