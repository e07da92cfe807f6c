import { type FakeTracker, startFakeTracker, testTracker, until, WAIT_MS } from '@svc/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { clientOf, TOKEN } from '../../testing/client-of.ts';
import { TrackerError } from '../tracker.ts';

const problemOf = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(TrackerError);
  return error as TrackerError;
};

describe('requests and answers', () => {
  test('all states of a team by key or by id, in one query', async () => {
    const tracker = await testTracker(TOKEN);
    tracker.cloud.addTeam({ key: 'XYZ' });
    const team = tracker.cloud.addTeam({ key: 'ABC', name: 'Alphabet' });
    const client = clientOf(tracker);
    const found = await client.teamStates('ABC');
    expect(found).toMatchObject({ id: team.id, key: 'ABC', name: 'Alphabet' });
    expect(found?.states).toHaveLength(7);
    expect(found?.states[0]).toEqual({
      id: expect.any(String),
      name: expect.any(String),
      type: expect.any(String),
      position: expect.any(Number),
    });
    expect(tracker.calls()).toEqual(['teams']);
    expect(await client.teamStates(team.id)).toEqual(found);
    expect(await client.teamStates('abc')).toBeUndefined();
  });

  test('all pages, however small the server makes them', async () => {
    const tracker = await testTracker(TOKEN);
    tracker.limitPages(3);
    tracker.cloud.addTeam({ key: 'ABC' });
    const urls = Array.from({ length: 7 }, (_, index) => `https://relay.example/${index}`);
    for (const url of urls) tracker.cloud.addWebhook({ url });
    const client = clientOf(tracker);
    const listed = await client.listWebhooks();
    expect(listed.map(({ url }) => String(url)).toSorted()).toEqual(urls);
    expect(tracker.calls()).toEqual(['webhooks', 'webhooks', 'webhooks']);
    expect((await client.teamStates('ABC'))?.states).toHaveLength(7);
    expect(await client.listTeams()).toHaveLength(1);
    expect(client.calls()).toBe(7);
  });

  test('issues updated since a time, oldest first, archived ones too, and the cursor to continue', async () => {
    const tracker = await testTracker(TOKEN);
    const { cloud } = tracker;
    const team = cloud.addTeam({ key: 'ABC' });
    const other = cloud.addTeam({ key: 'XYZ' });
    const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
    for (let minute = 0; minute < 120; minute += 1)
      cloud.addIssue({ teamId: team.id, title: `Issue ${minute}`, updatedAt: at(minute) });
    cloud.addIssue({ teamId: other.id, title: 'not ours', updatedAt: at(130) });
    cloud.changeIssue('ABC-120', { archivedAt: at(119), trashed: true, updatedAt: at(119) });
    const client = clientOf(tracker);
    const { issues, cursor } = await client.issuesUpdatedSince(team.id, at(10));
    expect(issues.map(({ title }) => title)).toEqual(
      Array.from({ length: 110 }, (_, i) => `Issue ${i + 10}`),
    );
    expect(issues.at(-1)).toMatchObject({ identifier: 'ABC-120', trashed: true });
    expect(cursor).toBe(at(119));
    expect(tracker.calls()).toEqual(['issues', 'issues', 'issues']);
    const next = await client.issuesUpdatedSince(team.id, cursor);
    expect(next).toMatchObject({ issues: [{ identifier: 'ABC-120' }], cursor });
    expect(await client.issuesUpdatedSince(team.id, at(200))).toEqual({ issues: [], cursor: at(200) });
  });

  test('an issue with all fields of an event', async () => {
    const tracker = await testTracker(TOKEN);
    const { cloud } = tracker;
    const team = cloud.addTeam({ key: 'ABC' });
    const person = cloud.addUser({ name: 'Ada' });
    const parent = cloud.addIssue({
      teamId: team.id,
      title: 'parent',
      updatedAt: '2020-01-01T00:00:00.000Z',
    });
    const issue = cloud.addIssue({
      teamId: team.id,
      title: 'child',
      priority: 1,
      assigneeId: person.id,
      parentId: parent.id,
      labelIds: [cloud.addLabel({ name: 'bug' }).id],
      project: { id: 'p', name: 'Spring' },
      cycle: { id: 'c', number: 7 },
      estimate: 3,
      dueDate: '2026-02-03',
      updatedAt: '2026-01-01T00:00:00.000Z',
    });
    const { issues } = await clientOf(tracker).issuesUpdatedSince(team.id, '2026-01-01T00:00:00.000Z');
    expect(issues).toEqual([
      {
        id: issue.id,
        identifier: 'ABC-2',
        title: 'child',
        url: 'https://tracker.example/issue/ABC-2',
        createdAt: issue.createdAt,
        updatedAt: '2026-01-01T00:00:00.000Z',
        archivedAt: null,
        trashed: null,
        priority: 1,
        priorityLabel: 'Urgent',
        estimate: 3,
        dueDate: '2026-02-03',
        state: { id: cloud.statesOf(team.id)[0]?.id, name: 'Backlog', type: 'backlog' },
        team: { id: team.id, key: 'ABC' },
        assignee: { id: person.id, name: 'Ada' },
        project: { name: 'Spring' },
        cycle: { number: 7 },
        parent: { id: parent.id },
        labels: { nodes: [{ name: 'bug' }] },
      },
    ]);
  });

  test('an issue is moved by its name or id; a state of another team is refused', async () => {
    const tracker = await testTracker(TOKEN);
    const team = tracker.cloud.addTeam({ key: 'ABC' });
    const other = tracker.cloud.addTeam({ key: 'XYZ' });
    tracker.cloud.addIssue({ teamId: team.id, title: 'x' });
    const client = clientOf(tracker);
    const done = tracker.cloud.statesOf(team.id).find(({ name }) => name === 'Done')?.id ?? '';
    expect(await client.setIssueState('ABC-1', done)).toBe('Done');
    const foreign = tracker.cloud.statesOf(other.id)[0]?.id ?? '';
    expect((await problemOf(client.setIssueState('ABC-1', foreign))).problem.kind).toBe('not-found');
    expect((await problemOf(client.setIssueState('ABC-9', done))).problem.kind).toBe('not-found');
  });

  test('a webhook is created with its secret, and deleted; a second deletion finds none', async () => {
    const tracker = await testTracker(TOKEN);
    const team = tracker.cloud.addTeam({ key: 'ABC' });
    const client = clientOf(tracker);
    const made = await client.createWebhook({
      url: 'https://relay.example/a',
      teamId: team.id,
      resourceTypes: ['Issue'],
      label: 'svc',
      secret: 'ours',
    });
    expect(made).toMatchObject({ url: 'https://relay.example/a', enabled: true, secret: 'ours' });
    expect(await client.deleteWebhook(made.id)).toBe(true);
    expect(await client.deleteWebhook(made.id)).toBe(false);
  });

  test('an issue is created once per id, with labels and priority, and found by its text', async () => {
    const tracker = await testTracker(TOKEN);
    const team = tracker.cloud.addTeam({ key: 'ABC' });
    const client = clientOf(tracker);
    expect(await client.labelsNamed('plan')).toEqual([]);
    const label = await client.createLabel({ name: 'plan', teamId: team.id });
    expect(await client.labelsNamed('PLAN')).toEqual([label]);
    expect(label).toMatchObject({ name: 'plan', isGroup: false, team: { id: team.id } });
    const issue = {
      id: '0b0b5f4e-2f1c-4c52-9d4a-0d7f6b1d2c3e',
      teamId: team.id,
      title: 'A finding',
      description: 'text\n\nsvc-key: k-1',
      labelIds: [label.id],
      priority: 2,
    };
    const made = await client.createIssue(issue);
    expect(made).toEqual({ id: issue.id, identifier: 'ABC-1', url: 'https://tracker.example/issue/ABC-1' });
    expect((await problemOf(client.createIssue(issue))).problem.kind).toBe('graphql');
    expect(tracker.cloud.issues).toHaveLength(1);
    tracker.cloud.changeIssue('ABC-1', { archivedAt: '2026-01-01T00:00:00.000Z' });
    expect(await client.issueWithText(team.id, 'svc-key: k-1')).toEqual(made);
    expect(await client.issueWithText(team.id, 'svc-key: k-2')).toBeUndefined();
    const other = tracker.cloud.addTeam({ key: 'XYZ' });
    expect(await client.issueWithText(other.id, 'svc-key: k-1')).toBeUndefined();
  });

  test('a personal key is sent as it is, an OAuth token after Bearer', async () => {
    const tracker = await testTracker(TOKEN);
    tracker.addToken('lin_oauth_abc', { kind: 'oauth' });
    await clientOf(tracker).listTeams();
    await clientOf(tracker, { token: 'lin_oauth_abc' }).listTeams();
    expect(tracker.requests().map(({ headers }) => headers.authorization)).toEqual([
      TOKEN,
      'Bearer lin_oauth_abc',
    ]);
  });

  test('the quota is that of the newest answer', async () => {
    const tracker = await testTracker(TOKEN);
    const client = clientOf(tracker);
    expect(client.quota()).toBeUndefined();
    tracker.setQuota({ limit: 100, remaining: 2, resetAt: 1_800_000_000_000 });
    await client.listTeams();
    expect(client.quota()).toEqual({ limit: 100, remaining: 1, resetAt: 1_800_000_000_000 });
    await client.listTeams();
    expect((await problemOf(client.listTeams())).problem.kind).toBe('rate-limited');
    expect(client.quota()?.remaining).toBe(0);
  });
});

describe('what can go wrong', () => {
  type Case = [string, (tracker: FakeTracker) => void, string, string, number?];
  const cases: Case[] = [
    ['401', (t) => t.failNext({ kind: 'unauthorised' }), 'unauthorised', 'tracker-refused-token'],
    [
      '429',
      (t) => t.failNext({ kind: 'too-many-requests', retryAfter: '30' }),
      'rate-limited',
      'tracker-quota-used-up',
    ],
    ['RATELIMITED', (t) => t.failNext({ kind: 'rate-limited' }), 'rate-limited', 'tracker-quota-used-up'],
    ['500', (t) => t.failNext({ kind: 'server-error', status: 500 }), 'unavailable', 'tracker-unavailable'],
    ['too slow', (t) => t.failNext({ kind: 'slow', ms: 1_000 }), 'unavailable', 'tracker-unavailable', 100],
    ['cut before', (t) => t.failNext({ kind: 'cut', when: 'before' }), 'unavailable', 'tracker-unavailable'],
    ['cut after', (t) => t.failNext({ kind: 'cut', when: 'after' }), 'unavailable', 'tracker-unavailable'],
    ['cut within', (t) => t.failNext({ kind: 'cut', when: 'within' }), 'unavailable', 'tracker-unavailable'],
    [
      'a GraphQL error',
      (t) => t.failNext({ kind: 'graphql-error', message: 'odd' }),
      'graphql',
      'tracker-error',
    ],
    ['half of JSON', (t) => t.failNext({ kind: 'body', text: '{"data":' }), 'malformed', 'tracker-error'],
    [
      'another shape',
      (t) => t.failNext({ kind: 'body', text: '{"data":{"teams":{}}}' }),
      'malformed',
      'tracker-error',
    ],
    ['too large', (t) => t.failNext({ kind: 'huge', bytes: 20_000 }), 'malformed', 'tracker-error'],
    [
      'elsewhere',
      (t) => t.failNext({ kind: 'redirect', to: 'http://127.0.0.1:1/' }),
      'unavailable',
      'tracker-unavailable',
    ],
    [
      'a wrong address',
      (t) => t.failNext({ kind: 'not-found', text: '<html>' }),
      'unavailable',
      'tracker-unavailable',
    ],
  ];

  test.each(cases)('%s', async (_, fail, kind, code, timeoutMs = WAIT_MS) => {
    const tracker = await testTracker(TOKEN);
    fail(tracker);
    const client = clientOf(tracker, { timeoutMs, maxBytes: 10_000 });
    const error = await problemOf(client.listTeams());
    expect({ kind: error.problem.kind, code: error.code }).toEqual({ kind, code });
    expect(error.remedy).toBeDefined();
    expect(`${error.stack}${JSON.stringify(error)}${error.remedy}`).not.toContain(TOKEN);
    tracker.restore();
    expect(await until(() => client.listTeams())).toEqual([]);
  });

  test('nothing listens', async () => {
    const tracker = await startFakeTracker();
    await tracker.close();
    const error = await problemOf(clientOf(tracker).listTeams());
    expect(error.message).toContain('ECONNREFUSED');
  });

  test('the time to wait is reported', async () => {
    const tracker = await testTracker(TOKEN);
    tracker.failNext({ kind: 'too-many-requests', retryAfter: '30' });
    const { problem, message } = await problemOf(clientOf(tracker).listTeams());
    expect(problem).toMatchObject({ retryAfterMs: 30_000 });
    expect(message).toContain('another 30 s');
  });

  test('a token that the server repeats is redacted', async () => {
    const tracker = await testTracker(TOKEN);
    tracker.failNext({ kind: 'graphql-error', message: `bad token ${TOKEN}`, status: 401 });
    expect((await problemOf(clientOf(tracker).listTeams())).message).toContain('bad token [token]');
  });

  test('a token that is not valid in a header is refused before anything is sent', async () => {
    const tracker = await testTracker(TOKEN);
    const error = await problemOf(clientOf(tracker, { token: 'two\nlines' }).listTeams());
    expect(error.problem.kind).toBe('unauthorised');
    expect(error.message).not.toContain('two');
    expect(tracker.calls()).toEqual([]);
  });

  test('missing rights are reported', async () => {
    const tracker = await testTracker(TOKEN);
    tracker.addToken('lin_api_member', { admin: false });
    const error = await problemOf(clientOf(tracker, { token: 'lin_api_member' }).listWebhooks());
    expect(error.problem.kind).toBe('forbidden');
    expect(error.remedy).toContain('admin');
  });

  test('pages that form a loop are an error', async () => {
    const page = { nodes: [], pageInfo: { hasNextPage: true, endCursor: 'again' } };
    let calls = 0;
    const circling = async () => {
      calls += 1;
      return Response.json({ data: { webhooks: page } });
    };
    const client = clientOf({ url: 'http://127.0.0.1:1' }, { fetch: circling });
    expect((await problemOf(client.listWebhooks())).message).toContain('form a loop');
    expect(calls).toBe(2);
  });

  test('it stops at once when it is aborted', async () => {
    const tracker = await testTracker(TOKEN);
    tracker.failNext({ kind: 'slow', ms: 5_000 });
    const controller = new AbortController();
    onTestFinished(() => controller.abort());
    const asked = clientOf(tracker, { signal: controller.signal }).listTeams();
    controller.abort();
    expect((await problemOf(asked)).message).toContain('interrupted');
  });
});
