// Uses the vendor's own client with the fake, to check independently that the fake has the vendor's API.
import { LinearClient } from '@linear/sdk';
import { expect, onTestFinished, test } from 'vitest';
import { startFakeTracker } from './fake-tracker.ts';

async function vendorClient(given: { apiKey?: string; accessToken?: string } = { apiKey: 'lin_api_good' }) {
  const tracker = await startFakeTracker();
  onTestFinished(() => tracker.close());
  tracker.addToken('lin_api_good');
  tracker.addToken('lin_oauth_good', { kind: 'oauth' });
  return { tracker, client: new LinearClient({ apiUrl: tracker.url, ...given }) };
}

test('lists teams and all states of a team, page by page', async () => {
  const { tracker, client } = await vendorClient();
  tracker.cloud.addTeam({ key: 'ABC', name: 'Alphabet' });
  tracker.cloud.addTeam({ key: 'XYZ' });
  const teams = await client.teams({ filter: { key: { eq: 'ABC' } } });
  expect(teams.nodes.map(({ key, name }) => [key, name])).toEqual([['ABC', 'Alphabet']]);
  let states = await teams.nodes[0]?.states({ first: 3 });
  while (states?.pageInfo.hasNextPage) states = await states.fetchNext();
  expect(states?.nodes.map(({ name }) => name).toSorted()).toEqual([
    'Backlog',
    'Canceled',
    'Done',
    'Duplicate',
    'In Progress',
    'In Review',
    'Todo',
  ]);
});

test('creates, lists and deletes a webhook; its secret is not shown again', async () => {
  const { tracker, client } = await vendorClient();
  const team = tracker.cloud.addTeam({ key: 'ABC' });
  const url = 'https://relay.example/channel';
  const created = await client.createWebhook({ url, teamId: team.id, resourceTypes: ['Issue', 'Comment'] });
  expect(created.success).toBe(true);
  const [webhook] = (await client.webhooks()).nodes;
  expect(webhook).toMatchObject({ url, enabled: true, resourceTypes: ['Issue', 'Comment'] });
  expect(webhook?.secret ?? null).toBeNull();
  expect(webhook?.id).toBe(created.webhookId);
  expect((await client.deleteWebhook(webhook?.id ?? '')).success).toBe(true);
  expect((await client.webhooks()).nodes).toEqual([]);
  await expect(client.deleteWebhook(webhook?.id ?? '')).rejects.toThrow('Entity not found: Webhook');
});

test('a key without Bearer, an OAuth token with it; anything else is an authentication error', async () => {
  await expect((await vendorClient({ accessToken: 'lin_oauth_good' })).client.teams()).resolves.toBeDefined();
  for (const wrong of [
    { accessToken: 'lin_api_good' },
    { apiKey: 'lin_oauth_good' },
    { apiKey: 'unknown' },
  ]) {
    const { client } = await vendorClient(wrong);
    await expect(client.teams()).rejects.toMatchObject({ type: 'AuthenticationError' });
  }
});

test('a used-up quota is reported like the vendor does', async () => {
  const { tracker, client } = await vendorClient();
  tracker.setQuota({ remaining: 0 });
  await expect(client.teams()).rejects.toMatchObject({ type: 'Ratelimited' });
});

test('an invalid query is rejected', async () => {
  const { client } = await vendorClient();
  await expect(client.client.rawRequest('query { teams { nodes { nonsense } } }', {})).rejects.toThrow(
    'Cannot query field "nonsense"',
  );
  await expect(client.teams({ first: 251 })).rejects.toThrow('Argument Validation Error');
  await expect(
    client.createWebhook({
      url: 'https://x.example',
      allPublicTeams: true,
      resourceTypes: ['IssueRelation'],
    }),
  ).rejects.toThrow('resourceTypes is not valid');
});
