import { join } from 'node:path';
import { temporaryFolder, testTracker, until, WAIT_MS } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { openEventLog } from '../../kernel/log/event-log.ts';
import { createLinearClient } from './io/linear/client.ts';
import { mapTracker } from './map-tracker.ts';
import { createTrackerReconciler } from './reconcile.ts';

async function setup() {
  const tracker = await testTracker('token');
  const team = tracker.cloud.addTeam({ key: 'ABC' });
  const folder = temporaryFolder();
  const log = openEventLog({
    eventsFolder: join(folder, 'events'),
    databaseFile: join(folder, 'svc.db'),
    clock: { now: Date.now },
    host: { id: 'h', name: 'h' },
    newId: () => crypto.randomUUID(),
  });
  onTestFinished(() => log.close());
  await log.ready;
  const client = createLinearClient({
    token: 'token',
    apiUrl: tracker.url,
    fetch,
    clock: { now: Date.now },
    timeoutMs: WAIT_MS,
  });
  const make = () => createTrackerReconciler({ client, teamId: team.id, log, now: Date.now });
  const topics = async () => {
    await until(() => log.stats().indexedTo === log.lastSeq());
    return (await log.list({ order: 'oldest-first' })).entries.map(({ line }) => line.event);
  };
  return { tracker, team, log, make, topics };
}

test('what no delivery reported becomes one event via poll; polling again adds nothing', async () => {
  const { tracker, team, make, topics, log } = await setup();
  const issue = tracker.cloud.addIssue({ teamId: team.id, title: 'Login' });
  const reconciler = make();
  expect(await reconciler.reconcile()).toEqual({ changed: 1, newEvents: 1 });
  expect((await reconciler.reconcile()).newEvents).toBe(0);
  expect((await make().reconcile()).newEvents).toBe(0);
  expect(await topics()).toEqual(['tracker.issue.created']);
  const [entry] = (await log.list({ ticket: tracker.cloud.identifierOf(issue) })).entries;
  expect(entry?.line).toMatchObject({
    source: 'tracker.poll',
    via: 'poll',
    detail: { title: 'Login', team: 'ABC' },
  });
});

test('one query, however many issues changed within a page', async () => {
  const { tracker, team, make } = await setup();
  for (let number = 0; number < 30; number += 1)
    tracker.cloud.addIssue({ teamId: team.id, title: `t${number}` });
  await make().reconcile();
  expect(tracker.calls()).toEqual(['issues']);
});

test('what a delivery has reported is not logged again', async () => {
  const { tracker, team, make, topics, log } = await setup();
  const issue = tracker.cloud.addIssue({ teamId: team.id, title: 'Login' });
  const payload = {
    type: 'Issue',
    action: 'create',
    data: { id: issue.id, identifier: tracker.cloud.identifierOf(issue), title: 'Login' },
  };
  const mapping = mapTracker(payload, { deliveryId: 'd-1', via: 'live' });
  if (mapping.ok) await log.append(mapping.draft);
  expect((await make().reconcile()).newEvents).toBe(0);
  expect(await topics()).toEqual(['tracker.issue.created']);
});

test('a failed poll loses nothing: the next one starts where it would have', async () => {
  const { tracker, team, make, topics } = await setup();
  const reconciler = make();
  await reconciler.reconcile();
  tracker.cloud.addIssue({ teamId: team.id, title: 'Login' });
  tracker.failNext({ kind: 'server-error', status: 500 });
  await expect(reconciler.reconcile()).rejects.toThrow('500');
  expect((await reconciler.reconcile()).newEvents).toBe(1);
  expect(await topics()).toHaveLength(1);
});
