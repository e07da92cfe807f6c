// The tunnel against relays over real sockets, with the real receiver and the real log behind it.
import { join } from 'node:path';
import {
  codehostExamples,
  codehostHeaders,
  createRandom,
  type Delivery,
  type HostileOptions,
  startHostileRelay,
  startPublicRelay,
  temporaryFolder,
  untilHolds,
  WAIT_MS,
  withDelivery,
} from '@svc/testkit';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { type EventLog, openEventLog } from '../../kernel/log/event-log.ts';
import { indexed } from '../../kernel/log/testing/indexed.ts';
import { codehostFeed } from '../codehost/webhook-feed.ts';
import { sign } from './io/feed.ts';
import { createReceiver } from './io/receiver.ts';

import { type Connect, createConnect } from './io/session.ts';
import { createTunnel, type Gap, type Tunnel } from './io/tunnel.ts';

const secret = 'it guards nothing';

function openLog(): EventLog {
  const folder = temporaryFolder();
  const log = openEventLog({
    eventsFolder: join(folder, 'events'),
    databaseFile: join(folder, 'svc.db'),
    clock: Date,
    host: { id: 'host-1', name: 'test' },
    newId: () => crypto.randomUUID(),
  });
  onTestFinished(() => log.close());
  return log;
}

async function startTunnel(
  url: string,
  log: EventLog,
  { readKey, subscriber, connect }: { readKey?: string; subscriber?: string; connect?: Connect } = {},
): Promise<{ tunnel: Tunnel; gaps: Gap[] }> {
  const gaps: Gap[] = [];
  await log.ready;
  const secrets = { variables: ['SECRET'], values: [secret] };
  const receiver = createReceiver({
    feed: codehostFeed,
    secrets: () => secrets,
    log,
    ticketPrefixes: () => [],
    now: Date.now,
    onOutcome: () => undefined,
  });
  const tunnel = createTunnel({
    feed: 'codehost',
    channel: { use: true, url },
    receive: receiver.receive,
    cursorOf: log.cursorOf,
    logger: pino({ enabled: false }),
    onGap: (gap) => void gaps.push(gap),
    readKey: { variable: 'READ_KEY', value: readKey, fileName: 'key' },
    subscriber,
    random: () => 0,
    ...(connect && { connect }),
  });
  onTestFinished(() => tunnel.stop());
  tunnel.start();
  expect(await tunnel.up(WAIT_MS)).toBe(true);
  return { tunnel, gaps };
}

async function post(channel: string, body: string, headers: Record<string, string>): Promise<void> {
  const signature = `sha256=${sign(secret, body)}`;
  const response = await fetch(channel, {
    method: 'POST',
    body,
    // A new connection: the relay may have cut the last one.
    headers: {
      connection: 'close',
      'content-type': 'application/json',
      'x-hub-signature-256': signature,
      ...headers,
    },
  });
  expect(response.status).toBe(200);
}

const examples = codehostExamples();
function example(index: number): Delivery {
  const given = examples[index % examples.length];
  if (given === undefined) throw new Error('There are no examples');
  return withDelivery(given, index);
}

async function postExamples(channel: string, from: number, to: number): Promise<string[]> {
  const deliveries = Array.from({ length: to - from }, (_, index) => example(from + index));
  for (const delivery of deliveries)
    await post(channel, JSON.stringify(delivery.payload), codehostHeaders(delivery));
  return deliveries.map(({ deliveryId }) => deliveryId);
}

/** Delivery ids in the log, in its order, and the relay position of each line. */
async function inLog(log: EventLog) {
  await indexed(log);
  const { entries } = await log.list({ limit: 10_000, order: 'oldest-first' });
  return entries.map(({ line }) => ({ deliveryId: line.deliveryId ?? '', relay: line.relay?.id }));
}

const ids = async (log: EventLog): Promise<string[]> =>
  (await inLog(log)).map(({ deliveryId }) => deliveryId);

test('the public relay: what its own client would forward signed is accepted, the rest is counted apart', async () => {
  const relay = await startPublicRelay();
  onTestFinished(() => relay.stop());
  const channel = relay.newChannel();
  const log = openLog();
  const { tunnel, gaps } = await startTunnel(channel, log);
  const sent = await postExamples(channel, 0, 20);
  await post(channel, '{"a":1.0,"zen":"x"}', { 'x-codehost-event': 'ping', 'x-codehost-delivery': 'number' });
  await post(channel, '{"zen":"\\u001B"}', { 'x-codehost-event': 'ping', 'x-codehost-delivery': 'escape' });
  await post(channel, '{"zen":"é"}', { 'x-github-event': 'ping', 'x-github-delivery': crypto.randomUUID() });
  await expect
    .poll(() => tunnel.stats().deliveries)
    .toMatchObject({ accepted: 21, unauthorised: { exact: 0, reserialised: 2 } });
  expect((await ids(log)).slice(0, 20)).toEqual(sent);
  expect((await inLog(log)).every(({ relay: position }) => position === undefined)).toBe(true);
  expect(gaps).toEqual([{ reason: 'start', since: null }]);
  expect(tunnel.stats().cursor).toBeNull();
});

test('the public relay loses what is sent while the connection is cut, and the tunnel reports since when', async () => {
  const relay = await startPublicRelay();
  onTestFinished(() => relay.stop());
  const channel = relay.newChannel();
  const log = openLog();
  let way = Promise.withResolvers<void>();
  way.resolve();
  const connect: Connect = async (request) => {
    await way.promise;
    return await createConnect()(request);
  };
  const { tunnel, gaps } = await startTunnel(channel, log, { connect });
  await postExamples(channel, 0, 5);
  await expect.poll(() => tunnel.stats().deliveries.accepted).toBe(5);
  way = Promise.withResolvers<void>();
  relay.cutAll();
  await expect.poll(() => relay.subscribers()).toBe(0);
  await postExamples(channel, 5, 8);
  way.resolve();
  await expect.poll(() => tunnel.stats().reconnects).toBe(1);
  await postExamples(channel, 8, 10);
  await expect.poll(() => tunnel.stats().deliveries.accepted).toBe(7);
  expect(await ids(log)).toHaveLength(7);
  expect(gaps.at(-1)).toEqual({ reason: 'reconnect', since: expect.any(Number) });
});

async function hostile(options: HostileOptions) {
  const relay = await startHostileRelay(options);
  onTestFinished(() => relay.stop());
  return relay;
}

test('a relay that duplicates, reorders, and writes streams in every form: each delivery once', async () => {
  const relay = await hostile({
    seed: 3,
    pingMs: 20,
    faults: {
      duplicate: 0.2,
      reorder: 0.2,
      pretty: 0.2,
      split: 0.3,
      comment: 0.3,
      lineEnd: 'mixed',
      byteOrderMark: true,
    },
  });
  const channel = relay.newChannel();
  const log = openLog();
  const { tunnel } = await startTunnel(channel, log);
  const sent = await postExamples(channel, 0, 150);
  await expect.poll(() => tunnel.stats().deliveries.accepted).toBe(150);
  const found = await ids(log);
  expect(found.toSorted()).toEqual(sent.toSorted());
  expect(tunnel.stats().deliveries).toMatchObject({ unauthorised: { reserialised: 0 }, malformed: 0 });
  expect(tunnel.stats().reconnects).toBe(0);
});

test('a relay that rewrites bodies: counted as reserialised, and the feed is degraded', async () => {
  const relay = await hostile({ faults: { rewrite: 1 } });
  const channel = relay.newChannel();
  const { tunnel } = await startTunnel(channel, openLog());
  await postExamples(channel, 0, 4);
  await expect.poll(() => tunnel.stats().deliveries.unauthorised).toEqual({ exact: 0, reserialised: 4 });
  expect(tunnel.state().grade).toMatchObject({ grade: 'degraded', code: 'auth-failing' });
});

test('our relay, cut and restarted all the time: every delivery once, in order, none lost, no gap', async () => {
  const random = createRandom(11);
  const relay = await hostile({
    seed: 11,
    ours: true,
    readKey: 'key',
    faults: { cut: 0.02, duplicate: 0.1, split: 0.2, lineEnd: 'mixed' },
  });
  const channel = relay.newChannel();
  const log = openLog();
  let { tunnel, gaps } = await startTunnel(channel, log, { readKey: 'key' });
  const sent: string[] = [];
  for (let round = 0; round < 10; round += 1) {
    sent.push(...(await postExamples(channel, round * 40, round * 40 + 40)));
    if (round % 3 === 1) {
      const status = random.pick([503, 502, 429, 204, 500]);
      await relay.restart({ downMs: 30, answers: [{ status }, { status }] });
    } else if (round % 3 === 2) relay.cutAll();
    else if (round > 0) {
      // The daemon restarts: what was sent meanwhile is available when it is back.
      await tunnel.stop();
      expect(gaps.filter(({ reason }) => reason !== 'start')).toEqual([]);
      sent.push(...(await postExamples(channel, 1000 + round * 40, 1000 + round * 40 + 10)));
      ({ tunnel, gaps } = await startTunnel(channel, log, { readKey: 'key' }));
      expect(gaps).toEqual([]);
    }
  }
  await expect.poll(() => ids(log)).toHaveLength(sent.length);
  const lines = await inLog(log);
  expect(lines.map(({ deliveryId }) => deliveryId)).toEqual(sent);
  expect(new Set(lines.map(({ deliveryId }) => deliveryId)).size).toBe(sent.length);
  await expect.poll(() => tunnel.stats().cursor).toBe(`e1.${sent.length}`);
  expect(tunnel.stats().deliveries).toMatchObject({ unauthorised: { exact: 0, reserialised: 0 } });
  expect(relay.connected.length).toBeGreaterThan(10);
});

test('our relay keeps the bytes: what the public one breaks is accepted', async () => {
  const relay = await hostile({ ours: true });
  const channel = relay.newChannel();
  const log = openLog();
  const { tunnel } = await startTunnel(channel, log);
  const bodies = ['{"zen":1.0}', '{ "zen": "\\u001B" }\n', '{"b":1,"1":2}', '{"zen":"\\/","zen":"é"}'];
  for (const [index, body] of bodies.entries())
    await post(channel, body, { 'x-codehost-event': 'ping', 'x-codehost-delivery': `ping-${index}` });
  await expect.poll(() => tunnel.stats().deliveries.accepted).toBe(4);
  expect(tunnel.stats().cursor).toBe('e1.4');
  expect((await inLog(log))[0]).toEqual({ deliveryId: 'ping-0', relay: 'e1.1' });
});

test('our relay has forgotten, or lost its store: the tunnel reports a gap, and continues', async () => {
  const relay = await hostile({ ours: true });
  const channel = relay.newChannel();
  const log = openLog();
  const first = await startTunnel(channel, log);
  await postExamples(channel, 0, 5);
  await expect.poll(() => first.tunnel.stats().deliveries.accepted).toBe(5);
  await first.tunnel.stop();
  await postExamples(channel, 5, 10);
  relay.forget(2);
  const { tunnel, gaps } = await startTunnel(channel, log);
  await expect.poll(() => tunnel.stats().deliveries.accepted).toBe(2);
  expect(gaps).toMatchObject([{ reason: 'relay-lost-it' }]);
  const heardBefore = tunnel.stats().lastReceivedAt;
  relay.loseStore();
  await expect.poll(() => gaps).toHaveLength(2);
  expect(gaps[1]).toEqual({ reason: 'relay-lost-it', since: heardBefore });
  await postExamples(channel, 10, 13);
  await expect.poll(() => tunnel.stats()).toMatchObject({ deliveries: { accepted: 5 }, cursor: 'e2.3' });
  await postExamples(channel, 13, 14);
  await expect.poll(() => tunnel.stats().deliveries.accepted).toBe(6);
  expect(gaps).toHaveLength(2);
});

test('in real time: a half-open connection is noticed after two and a half heartbeats, and nothing is lost', async () => {
  const relay = await hostile({ ours: true, pingMs: 1000 });
  const channel = relay.newChannel();
  const log = openLog();
  const { tunnel } = await startTunnel(channel, log);
  relay.halfOpen();
  const since = performance.now();
  await postExamples(channel, 0, 3);
  await expect.poll(() => tunnel.state().now.mode).toBe('late');
  const noticed = performance.now() - since;
  relay.recover();
  await expect.poll(() => tunnel.stats().deliveries.accepted).toBe(3);
  expect(noticed).toBeGreaterThan(1000);
  // This is how long it would wait for a relay that does not announce its heartbeat.
  expect(noticed).toBeLessThan(75_000);
});

test('two tunnels on one machine write nothing twice', async () => {
  const relay = await hostile({ ours: true });
  const channel = relay.newChannel();
  const log = openLog();
  const one = await startTunnel(channel, log);
  const other = await startTunnel(channel, log);
  await postExamples(channel, 0, 50);
  await untilHolds(() => {
    const counts = [one, other].map(({ tunnel }) => tunnel.stats().deliveries);
    expect(counts.reduce((sum, { accepted, duplicate }) => sum + accepted + duplicate, 0)).toBe(100);
  });
  expect(await ids(log)).toHaveLength(50);
});
