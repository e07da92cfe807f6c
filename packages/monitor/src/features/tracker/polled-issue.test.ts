import { describe, expect, test } from 'vitest';
import { parseEventDraft } from '../../kernel/log/event-line.ts';
import { topics } from '../topics.ts';
import type { TrackerIssue } from './api-answer.ts';
import { pollDifference } from './polled-issue.ts';

const issue: TrackerIssue = {
  id: 'i-1',
  identifier: 'ABC-1',
  title: 'Login',
  url: 'https://tracker.example/ABC-1',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-02T00:00:00.000Z',
  archivedAt: null,
  trashed: null,
  priority: 2,
  priorityLabel: 'High',
  estimate: null,
  dueDate: null,
  state: { id: 's-1', name: 'Todo', type: 'unstarted' },
  team: { id: 't-1', key: 'ABC' },
  assignee: { id: 'u-1', name: 'Ann' },
  project: null,
  cycle: null,
  parent: null,
  labels: { nodes: [{ name: 'bug' }] },
};
const since = '2025-12-31T00:00:00.000Z';
const known = {
  event: 'tracker.issue.updated',
  detail: { title: 'Login', state: { id: 's-1' }, priority: 2, assignee: { id: 'u-1' }, labels: ['bug'] },
};
const topic = (now: Partial<TrackerIssue>, newest: typeof known | undefined = known) =>
  pollDifference({ ...issue, ...now }, newest, since)?.event;

describe('the topic of a difference', () => {
  test.each([
    ['nothing changed', {}, undefined],
    [
      'state',
      { state: { id: 's-2', name: 'Done', type: 'completed' }, priority: 1 },
      'tracker.issue.state_changed',
    ],
    ['priority', { priority: 1, assignee: null }, 'tracker.issue.priority_changed'],
    ['assignee', { assignee: null }, 'tracker.issue.assignee_changed'],
    ['title', { title: 'Log in' }, 'tracker.issue.updated'],
    ['a label', { labels: { nodes: [{ name: 'svc:run' }, { name: 'bug' }] } }, 'tracker.issue.updated'],
    ['in the trash', { trashed: true }, 'tracker.issue.removed'],
  ])('%s', (_, now, wanted) => {
    expect(topic(now)).toBe(wanted);
  });

  test('an issue that is not in the log is reported as created if it is new, else as updated', () => {
    expect(pollDifference(issue, undefined, since)?.event).toBe('tracker.issue.created');
    expect(pollDifference(issue, undefined, '2026-01-01T12:00:00.000Z')?.event).toBe('tracker.issue.updated');
  });

  test('a removed issue stays removed, and comes back when it is restored', () => {
    const removed = { ...known, event: 'tracker.issue.removed' };
    expect(topic({ trashed: true }, removed)).toBeUndefined();
    expect(topic({}, removed)).toBe('tracker.issue.updated');
  });

  test('a field that the newest line does not have counts as unchanged', () => {
    expect(pollDifference(issue, { event: 'tracker.issue.updated', detail: {} }, since)).toBeUndefined();
  });
});

test('the draft is valid, and the same poll has the same delivery id', () => {
  const draft = pollDifference(issue, undefined, since);
  expect(parseEventDraft(topics, draft)).toMatchObject({ ok: true });
  expect(draft).toMatchObject({
    source: 'tracker.poll',
    via: 'poll',
    deliveryId: 'poll:ABC-1:2026-01-02T00:00:00.000Z',
  });
});
