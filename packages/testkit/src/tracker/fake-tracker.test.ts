// What our own client and the vendor's do not use yet.
import { expect, test } from 'vitest';
import { testTracker } from './fake-tracker.ts';

async function newTracker() {
  const tracker = await testTracker('key');
  const ask = async (query: string, variables: object = {}) => {
    const response = await fetch(tracker.url, {
      method: 'POST',
      headers: { Authorization: 'key' },
      body: JSON.stringify({ query, variables }),
    });
    return {
      status: response.status,
      ...((await response.json()) as { data?: unknown; errors?: unknown[] }),
    };
  };
  return { tracker, ask };
}

test('the viewer is the owner of the token', async () => {
  const { ask } = await newTracker();
  expect((await ask('{ viewer { name admin } }')).data).toEqual({
    viewer: { name: 'Owner of key', admin: true },
  });
});

test('an issue is filed with labels, found by name and changed', async () => {
  const { tracker, ask } = await newTracker();
  const team = tracker.cloud.addTeam({ key: 'ABC' });
  const label = tracker.cloud.addLabel({ name: 'auto-submitted' });
  tracker.cloud.addLabel({ name: 'other' });
  const found = await ask('{ issueLabels(filter: { name: { eq: "auto-submitted" } }) { nodes { id } } }');
  expect(found.data).toEqual({ issueLabels: { nodes: [{ id: label.id }] } });
  const filed = await ask(
    'mutation ($input: IssueCreateInput!) { issueCreate(input: $input) { success issue { identifier } } }',
    { input: { teamId: team.id, title: 'A finding', labelIds: [label.id] } },
  );
  expect(filed.data).toEqual({ issueCreate: { success: true, issue: { identifier: 'ABC-1' } } });
  await ask('mutation { issueUpdate(id: "ABC-1", input: { priority: 2 }) { success } }');
  const issue = await ask(
    '{ issue(id: "ABC-1") { title priorityLabel labels { nodes { name } } state { name } } }',
  );
  expect(issue.data).toEqual({
    issue: {
      title: 'A finding',
      priorityLabel: 'High',
      labels: { nodes: [{ name: 'auto-submitted' }] },
      state: { name: 'Backlog' },
    },
  });
});

test('pages can be walked backwards', async () => {
  const { tracker, ask } = await newTracker();
  for (const key of ['A', 'B', 'C']) tracker.cloud.addTeam({ key, createdAt: `2026-01-01T00:00:0${key}Z` });
  const page = (words: string) =>
    ask(`{ teams(${words}) { nodes { key } pageInfo { hasNextPage hasPreviousPage startCursor } } }`);
  const last = (await page('last: 2')).data as { teams: { pageInfo: { startCursor: string } } };
  expect(last).toMatchObject({
    teams: { nodes: [{ key: 'B' }, { key: 'A' }], pageInfo: { hasNextPage: false } },
  });
  expect(await page(`last: 2, before: "${last.teams.pageInfo.startCursor}"`)).toMatchObject({
    data: { teams: { nodes: [{ key: 'C' }], pageInfo: { hasPreviousPage: false, hasNextPage: true } } },
  });
});

test('an unknown entity or an invalid query is a 400', async () => {
  const { ask } = await newTracker();
  expect(await ask('{ issue(id: "ABC-9") { id } }')).toMatchObject({
    status: 400,
    errors: [{ message: 'Entity not found: Issue', extensions: { code: 'INPUT_ERROR' } }],
  });
  expect(await ask('{ issue(')).toMatchObject({ status: 400 });
});

test('a slow answer is delayed, and calls are counted by their root field', async () => {
  const { tracker, ask } = await newTracker();
  tracker.failNext({ kind: 'slow', ms: 50 }, { field: 'viewer' });
  await ask('{ teams { nodes { id } } }');
  expect((await ask('{ viewer { id } }')).status).toBe(200);
  expect(tracker.calls()).toEqual(['teams', 'viewer']);
});
