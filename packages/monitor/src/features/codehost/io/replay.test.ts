// Deliveries that the relay lost, found through the code host's own list and put through the live receiver.
// This relay has the public one's worst habit: it answers 200 even if no one listens.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { runCommand } from '@svc/lib/process';
import {
  codehostExample,
  codehostForTest,
  ghEnvironment,
  temporaryFolder,
  testToken,
  until,
} from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { openEventLog } from '../../../kernel/log/event-log.ts';
import { createReceiver } from '../../feeds/io/receiver.ts';
import { createGh } from '../gh.ts';
import { codehostEventTypes } from '../map-codehost.ts';
import { codehostFeed } from '../webhook-feed.ts';
import { createHookApi, openHookMemory } from './hooks.ts';

import { createReplay } from './replay.ts';
import { createSubscriptions } from './subscribe.ts';

const secret = '5ec7e7'.repeat(10);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const merged = codehostExample('pull_request merged');
const pushed = codehostExample('push #1');

/** A code host with a subscribed repository, a relay, a receiver and a log. */
async function world({ now = Date.now, hostNow = Date.now } = {}) {
  const codehost = await codehostForTest({ now: hostNow });
  codehost.cloud.addRepo('acme/web');
  const folder = temporaryFolder();
  const log = openEventLog({
    eventsFolder: join(folder, 'events'),
    databaseFile: join(folder, 'svc.db'),
    clock: { now },
    host: { id: 'h', name: 'h' },
    newId: () => crypto.randomUUID(),
  });
  onTestFinished(() => log.close());
  const secrets = { variables: ['SVC_WEBHOOK_SECRET'], values: [secret] };
  const real = createReceiver({
    feed: codehostFeed,
    secrets: () => secrets,
    log,
    ticketPrefixes: () => [],
    now,
    onOutcome: () => undefined,
  });
  const receiver = {
    ...real,
    async receive(delivery: Parameters<typeof real.receive>[0]) {
      await relay.hold();
      return real.receive(delivery);
    },
  };
  const relay = { listening: true, url: '', hold: async (): Promise<void> => undefined };
  const server = createServer((request, response) => {
    const take = async (): Promise<void> => {
      const body = await buffer(request);
      if (relay.listening) await receiver.receive({ headers: request.headers, body });
      response.end('ok');
    };
    void take();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  relay.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/channel`;

  const gh = createGh({ environment: ghEnvironment(codehost, testToken), run: runCommand, now });
  const hooks = createHookApi(gh);
  const subscriptions = createSubscriptions({
    events: () => codehostEventTypes,
    heldBack: () => null,
    hooks,
    channelUrl: () => relay.url,
    secretFor: () => secret,
    memory: await openHookMemory(join(folder, 'hooks.json')),
    now,
    warn: () => undefined,
  });
  await subscriptions.ensure('acme/web');
  const lines = async () => {
    await until(() => log.stats().indexedTo === log.lastSeq());
    return (await log.list({ order: 'oldest-first', limit: 10_000 })).entries.map(({ line }) => line);
  };
  const replay = createReplay({
    hooks,
    subscriptions,
    receiver,
    hasDelivery: async (_feed, id) => (await lines()).some(({ deliveryId }) => deliveryId === id),
    secretFor: () => secret,
    now,
  });
  codehost.forgetCalls();
  return { codehost, log, lines, relay, receiver, hooks, subscriptions, ...replay };
}

test('what was sent while no one listened is replayed, oldest first, once', async () => {
  const { codehost, relay, replay, lines } = await world();
  await codehost.emit('acme/web', 'push', pushed.payload);
  relay.listening = false;
  const first = await codehost.emit('acme/web', 'push', pushed.payload);
  const second = await codehost.emit('acme/web', 'pull_request', merged.payload);
  expect(second.deliveries[0]).toMatchObject({ statusCode: 200 });
  relay.listening = true;

  expect(await replay()).toEqual([
    { repo: 'acme/web', sent: 4, received: 2, missing: 2, repaired: 2, refused: 0, problem: null },
  ]);
  const replayed = (await lines()).filter(({ via }) => via === 'replay');
  expect(replayed.map(({ event, deliveryId }) => [event, deliveryId])).toEqual([
    ['codehost.push', first.guid],
    ['codehost.pr.merged', second.guid],
  ]);
  expect(replayed[1]).toMatchObject({
    source: 'codehost.webhook',
    scope: { pr: 42, mergeSha: 'b'.repeat(40) },
  });

  codehost.forgetCalls();
  expect(await replay()).toMatchObject([{ sent: 4, received: 4, missing: 0, repaired: 0 }]);
  expect(codehost.calls()).toHaveLength(1);
});

test('a delivery that races its replay is one line', async () => {
  const { codehost, relay, replay, lines } = await world();
  relay.listening = false;
  const { guid, deliveries } = await codehost.emit('acme/web', 'push', pushed.payload);
  relay.listening = true;
  const repo = codehost.cloud.repoOf('acme/web');
  const again = async (): Promise<void> => {
    const path = `hooks/${deliveries[0]?.hookId}/deliveries/${deliveries[0]?.id}/attempts`;
    await createGh({
      environment: ghEnvironment(codehost, testToken),
      run: runCommand,
      now: Date.now,
    }).request({
      method: 'POST',
      path: `repos/acme/web/${path}`,
    });
  };
  let arrived = 0;
  relay.hold = async () => {
    arrived += 1;
    await until(() => arrived >= 2);
  };
  await Promise.all([again(), replay(), replay()]);
  expect(repo.deliveries.filter((row) => row.guid === guid)).toHaveLength(2);
  const pushes = (await lines()).filter(({ event }) => event === 'codehost.push');
  expect(pushes.map(({ deliveryId }) => deliveryId)).toEqual([guid]);
});

test('attempts of one event are one: it is fetched once and is one line', async () => {
  const { codehost, relay, replay, lines } = await world();
  relay.listening = false;
  const { guid } = await codehost.emit('acme/web', 'push', pushed.payload);
  await codehost.emit('acme/web', 'push', pushed.payload, { guid });
  relay.listening = true;
  expect(await replay()).toMatchObject([{ sent: 2, received: 1, missing: 1, repaired: 1 }]);
  expect((await lines()).filter(({ deliveryId }) => deliveryId === guid)).toHaveLength(1);
});

test('only the last hour is replayed, and paging stops there', async () => {
  const now = Date.now();
  const { codehost, replay, lines } = await world({ now: () => now, hostNow: () => now });
  const emitAt = (minutesAgo: number, guid: string) =>
    codehost.emit('acme/web', 'push', pushed.payload, { at: now - minutesAgo * 60_000, guid, unheard: true });
  for (let n = 0; n < 250; n += 1) await emitAt(300 - n / 10, `old-${n}`);
  await emitAt(61, 'too-old');
  await emitAt(59, 'first');
  await emitAt(5, 'second');
  expect(await replay()).toMatchObject([{ missing: 2, repaired: 2 }]);
  expect((await lines()).filter(({ via }) => via === 'replay').map(({ deliveryId }) => deliveryId)).toEqual([
    'first',
    'second',
  ]);
  // One page, and the two that were missing.
  expect(codehost.calls()).toHaveLength(3);
});

test.each([5, -5])(
  'the hour is by the code host’s clock: a local clock that is %i hours wrong loses nothing',
  async (hours) => {
    const { codehost, replay } = await world({ now: () => Date.now() + hours * HOUR_MS });
    const sendAgo = (ms: number) =>
      codehost.emit('acme/web', 'push', pushed.payload, { at: Date.now() - ms, unheard: true });
    await sendAgo(2 * HOUR_MS);
    await sendAgo(HOUR_MS / 2);
    expect(await replay()).toMatchObject([{ missing: 1, repaired: 1 }]);
  },
);

test('a comparison over days counts, and repairs only on request', async () => {
  const now = Date.now();
  const { codehost, compareDeliveries, lines } = await world({ now: () => now, hostNow: () => now });
  for (let n = 1; n <= 150; n += 1) {
    const at = now - Math.floor((n / 150) * 2 * DAY_MS);
    await codehost.emit('acme/web', 'push', pushed.payload, { at, guid: `g-${n}`, unheard: true });
  }
  await codehost.emit('acme/web', 'push', pushed.payload, { at: now - 4 * DAY_MS, unheard: true });
  const before = (await lines()).length;
  const wish = { withinMs: 3 * DAY_MS, repair: false };
  expect(await compareDeliveries(wish)).toEqual([
    { repo: 'acme/web', sent: 151, received: 1, missing: 150, repaired: 0, refused: 0, problem: null },
  ]);
  expect(codehost.calls()).toHaveLength(2);
  expect(await lines()).toHaveLength(before);
  expect(await compareDeliveries({ withinMs: 3 * HOUR_MS, repair: true })).toMatchObject([
    { missing: 9, repaired: 9 },
  ]);
  expect(await compareDeliveries(wish)).toMatchObject([{ received: 10, missing: 141 }]);
});

test('no time between two replays is skipped, and a failed one does not count', async () => {
  let ahead = 0;
  const { codehost, replay } = await world({ now: () => Date.now() + ahead });
  const lostAt = (hoursAgo: number) =>
    codehost.emit('acme/web', 'push', pushed.payload, { at: Date.now() - hoursAgo * HOUR_MS, unheard: true });
  await lostAt(3);
  expect(await replay()).toMatchObject([{ missing: 0 }]);
  // Five hours later: the first replay proves nothing about what came after it.
  ahead = 5 * HOUR_MS;
  codehost.failNext({ kind: 'server-error', status: 502 }, { on: 'deliveries' });
  expect(await replay()).toMatchObject([{ problem: { kind: 'unavailable' } }]);
  expect(await replay()).toMatchObject([{ missing: 1, repaired: 1, problem: null }]);
  // That one was complete: now it is an hour again.
  await lostAt(2);
  expect(await replay()).toMatchObject([{ missing: 0 }]);
});

test('a failed listing is a problem, and nothing is counted', async () => {
  const { codehost, replay } = await world();
  for (let n = 0; n < 150; n += 1) await codehost.emit('acme/web', 'push', pushed.payload, { unheard: true });
  codehost.failNext({ kind: 'server-error', status: 502 }, { on: 'cursor=' });
  expect(await replay()).toMatchObject([{ sent: 0, missing: 0, problem: { kind: 'unavailable' } }]);
});

test('an interrupted repair reports its progress, and continues the next time', async () => {
  const { codehost, replay } = await world();
  for (let n = 0; n < 3; n += 1) await codehost.emit('acme/web', 'push', pushed.payload, { unheard: true });
  const [, , last] = codehost.cloud.repoOf('acme/web').deliveries.slice(-3);
  codehost.failNext({ kind: 'server-error', status: 500 }, { on: `deliveries/${last?.id}` });
  expect(await replay()).toMatchObject([{ missing: 3, repaired: 2, problem: { kind: 'unavailable' } }]);
  expect(await replay()).toMatchObject([{ missing: 1, repaired: 1, problem: null }]);
});

test('a delivery that cannot become a line is fetched once', async () => {
  const { codehost, replay } = await world();
  await codehost.emit('acme/web', 'push', pushed.payload, { guid: 'no good\u0001id', unheard: true });
  expect(await replay()).toMatchObject([{ missing: 1, repaired: 0, refused: 1 }]);
  codehost.forgetCalls();
  expect(await replay()).toMatchObject([{ missing: 1, repaired: 0, refused: 1 }]);
  expect(codehost.calls()).toHaveLength(1);
});

test('a log that is not writable stops the repair', async () => {
  const { codehost, hooks, subscriptions } = await world();
  for (let n = 0; n < 3; n += 1) await codehost.emit('acme/web', 'push', pushed.payload, { unheard: true });
  const full = createReplay({
    hooks,
    subscriptions,
    receiver: { receive: async () => ({ status: 503, outcome: 'log-not-writable', body: {} }) },
    hasDelivery: () => false,
    secretFor: () => secret,
    now: Date.now,
  });
  expect(await full.replay()).toMatchObject([{ repaired: 0, refused: 0, problem: { kind: 'unavailable' } }]);
});

test('a removed hook is forgotten, so subscribing creates a new one', async () => {
  const { codehost, replay, subscriptions } = await world();
  codehost.cloud.repoOf('acme/web').hooks.splice(0);
  expect(await replay()).toMatchObject([{ problem: { kind: 'not-found' } }]);
  expect(subscriptions.isCovered('acme/web')).toBe(false);
  await subscriptions.ensure('acme/web');
  expect(codehost.cloud.repoOf('acme/web').hooks).toHaveLength(1);
});

test('a repository that is polled has nothing to compare', async () => {
  const { codehost, replay, subscriptions } = await world();
  codehost.cloud.addRepo('acme/api', { admin: false });
  await subscriptions.ensure('acme/api');
  expect((await replay()).map(({ repo }) => repo)).toEqual(['acme/web']);
});
