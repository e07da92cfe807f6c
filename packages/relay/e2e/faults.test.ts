// What goes wrong: no engine, readers that stall, a laptop that sleeps, senders that send too much.
import { statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { until } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { rssMegabytes } from '../../testkit/src/daemon/process-figures.ts';
import { keepConnection, requestBytes } from '../../testkit/src/wire/exchange.ts';
import { startLoopbackProxy } from '../../testkit/src/wire/loopback-proxy.ts';
import { listen, send } from '../src/http/testing/relay-for-test.ts';
import { at, newChannel, type Relay, relayWorld, runRelay } from './relay-world.ts';

/** Posts over a few kept connections; every answer must be a 200. */
async function postMany(relay: Relay, url: string, count: number, bytes: number): Promise<void> {
  const path = new URL(url).pathname;
  const filler = 'x'.repeat(bytes);
  let next = 0;
  const sender = async (): Promise<void> => {
    const connection = keepConnection(relay.port);
    onTestFinished(() => connection.close());
    while (next < count) {
      next += 1;
      const body = Buffer.from(JSON.stringify({ number: next, filler }));
      const headers = [
        ['Host', '127.0.0.1'],
        ['Content-Type', 'application/json'],
        ['Content-Length', String(body.length)],
      ] as const;
      const reply = await connection.exchange([requestBytes({ path, headers, body })]);
      if (typeof reply === 'string' || reply.status !== 200)
        throw new Error(typeof reply === 'string' ? reply : `answered ${reply.status}`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, sender));
}

/** Reads a stream and keeps only the ids and the sizes. */
function readIds(relay: Relay, url: string, key: string, lastId?: string) {
  const socket = connect(relay.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const { pathname } = new URL(url);
  const last = lastId === undefined ? '' : `Last-Event-ID: ${lastId}\r\n`;
  socket.write(
    `GET ${pathname}?raw=1&since=oldest HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${key}\r\n${last}\r\n`,
  );
  const seen = { ids: [] as string[], bytes: 0, rest: '', closed: false, socket };
  socket.on('data', (part: Buffer) => {
    seen.bytes += part.length;
    const frames = (seen.rest + part.toString('latin1')).split('\n\n');
    const rest = frames.pop() ?? '';
    // Only the start and the end of a frame that comes in many parts are needed.
    seen.rest = rest.length > 300 ? rest.slice(0, 200) + rest.slice(-1) : rest;
    for (const frame of frames) {
      const id = /^id: (\S+)\ndata: \{/.exec(frame)?.[1];
      if (id !== undefined) seen.ids.push(id);
    }
  });
  socket.on('close', () => (seen.closed = true));
  socket.on('error', () => (seen.closed = true));
  return seen;
}

const metricsOf = async (relay: Relay): Promise<string> =>
  (await send(`${relay.url}/metrics`, { method: 'GET' })).body;

const sequence = (id: string): number => Number(id.split('.')[1]);

test('a laptop that slept for two days has everything, in order', async () => {
  const world = await relayWorld();
  const relay = await world.startRelay('--no-limits');
  const { readUrl, readKey } = await newChannel(relay);
  const count = 2_000;
  await postMany(relay, readUrl, count, 2000);
  const began = performance.now();
  const reader = readIds(relay, readUrl, readKey);
  await expect.poll(() => reader.ids.length).toBe(count);
  const seconds = (performance.now() - began) / 1000;
  const sequences = reader.ids.map(sequence);
  expect(sequences).toEqual([...new Set(sequences)].toSorted((one, other) => one - other));
  console.log(
    `woke to ${count} deliveries, ${(reader.bytes / 2 ** 20).toFixed(0)} MiB: ${seconds.toFixed(2)} s, ` +
      `${Math.round(count / seconds)} a second, ${(reader.bytes / 2 ** 20 / seconds).toFixed(0)} MiB/s`,
  );
});

test('a reader that stalls does not make the relay grow, and resumes without loss', async () => {
  const world = await relayWorld();
  const relay = await world.startRelay('--no-limits', '--stall', '4');
  const { readUrl, readKey } = await newChannel(relay);
  const stalled = readIds(relay, readUrl, readKey);
  // A reader with less than 1 MiB of unsent data does not count as stalled.
  for (let posted = 4; posted <= 80; posted += 4) {
    await postMany(relay, readUrl, 4, 200_000);
    await until(() => stalled.ids.length === posted);
  }
  stalled.socket.pause();
  let most = 0;
  for (let part = 0; part < 60; part += 1) {
    await postMany(relay, readUrl, 5, 200_000);
    most = Math.max(most, unsentBytes(await metricsOf(relay)));
  }
  await expect.poll(() => metricsOf(relay)).toContain('reason="slow"} 1');
  stalled.socket.resume();
  await until(() => stalled.closed);
  const resumed = readIds(relay, readUrl, readKey, stalled.ids.at(-1));
  await expect.poll(() => stalled.ids.length + resumed.ids.length).toBe(380);
  expect(new Set([...stalled.ids, ...resumed.ids]).size).toBe(380);
  // It is paused at 1 MiB; the delivery that reached it is complete.
  expect(most).toBeLessThan(2 * 1024 * 1024);
});

test('thirty readers that do not read one delivery of 24 MB cost a bounded amount of memory', async () => {
  const world = await relayWorld();
  const relay = await world.startRelay('--no-limits');
  const { readUrl, readKey } = await newChannel(relay);
  const body = Buffer.alloc(24_000_000, 7);
  expect((await send(readUrl, { body })).status).toBe(200);
  const before = rssMegabytes(relay.process.pid);
  let most = 0;
  const stuck: ReturnType<typeof readIds>[] = [];
  for (let reader = 1; reader <= 30; reader += 1) {
    const one = readIds(relay, readUrl, readKey);
    stuck.push(one);
    await until(() => one.bytes > 0);
    one.socket.pause();
    most = Math.max(most, rssMegabytes(relay.process.pid));
  }
  await expect.poll(() => metricsOf(relay)).toMatch(/reason="slow"\} \d\d/);
  most = Math.max(most, rssMegabytes(relay.process.pid));
  console.log(`30 readers that do not read 24 MB: ${before} MB before, at most ${most} MB`);
  expect(unsentBytes(await metricsOf(relay))).toBeLessThanOrEqual(128 * 1024 * 1024);
  // Meanwhile a reader that reads gets it.
  const honest = readIds(relay, readUrl, readKey);
  await until(() => honest.ids.length === 1);
  expect(most).toBeLessThan(900);
});

test('without the engine posts are answered 503 in time, and 200 again when it is back', async () => {
  const world = await relayWorld();
  const relay = await world.startRelay();
  const { readUrl, readKey } = await newChannel(relay);
  const reader = await listen(readUrl, { authorization: `Bearer ${readKey}` });
  expect((await send(readUrl, { body: '{"n":1}' })).status).toBe(200);
  await world.nats.kill();
  const readiness = async () => (await send(`${relay.url}/readyz`, { method: 'GET' })).status;
  await expect.poll(readiness).toBe(503);
  const answered: string[] = [];
  const post = async (name: string, headers: Record<string, string>): Promise<void> => {
    const answer = await send(readUrl, { headers, body: '{"n":2}' });
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5']);
    answered.push(name);
  };
  // Each sender is answered before it gives up: the tracker five seconds earlier.
  await Promise.all([post('other', {}), post('tracker', { 'tracker-delivery': 'one' })]);
  expect(answered).toEqual(['tracker', 'other']);
  expect((await send(`${relay.url}/healthz`, { method: 'GET' })).status).toBe(200);
  await world.nats.start();
  await expect.poll(readiness).toBe(200);
  expect((await send(readUrl, { body: '{"n":4}' })).status).toBe(200);
  const later = reader.ended()
    ? await listen(readUrl, {
        authorization: `Bearer ${readKey}`,
        'last-event-id': reader.messages().at(-1)?.id ?? '',
      })
    : reader;
  await expect.poll(later.text).toContain('"n":4');
});

test('a delivery that waits for the engine is answered 200 when it comes back in time', async () => {
  const world = await relayWorld();
  const proxy = await startLoopbackProxy(() => [world.nats.port]);
  onTestFinished(() => proxy.stop());
  const relay = await world.startRelay('--nats', `nats://127.0.0.1:${proxy.port}`);
  const { readUrl } = await newChannel(relay);
  proxy.close();
  await expect.poll(() => metricsOf(relay)).toContain('svc_relay_engine_connected 0');
  let status = 0;
  const waiting = send(readUrl, { headers: { 'x-codehost-delivery': 'patient' }, body: '{}' });
  void waiting.then((answer) => (status = answer.status));
  await expect.poll(() => metricsOf(relay)).toContain('svc_relay_bytes_under_way 2');
  expect(status).toBe(0);
  proxy.restore();
  expect((await waiting).status).toBe(200);
});

const statusOf = async (relay: Relay) =>
  JSON.parse((await send(`${relay.url}/readyz`, { method: 'GET' })).body) as {
    spill: { waiting: number; bytes: number; oldest: string | null; refusing: string | null };
  };

test('with a spill posts are held while the engine is away, in order, and shown', async () => {
  const world = await relayWorld();
  const relay = await world.startRelay('--spill', join(world.folder, 'spill'));
  const { readUrl, readKey } = await newChannel(relay);
  const reader = await listen(readUrl, { authorization: `Bearer ${readKey}` });
  expect(JSON.parse((await send(readUrl, { body: '{"n":0}' })).body)).toMatchObject({ ok: true });
  expect((await statusOf(relay)).spill).toEqual({ waiting: 0, bytes: 0, oldest: null, refusing: null });
  await world.nats.kill();
  for (let number = 1; number <= 5; number += 1) {
    // The tracker is answered in its shorter time, too.
    const answer = await send(readUrl, {
      headers: { 'tracker-delivery': `${number}` },
      body: `{"n":${number}}`,
    });
    expect([answer.status, answer.body]).toEqual([200, '{"ok":true,"spilled":true}']);
  }
  const { spill } = await statusOf(relay);
  expect(spill).toMatchObject({ waiting: 5, refusing: null });
  expect(spill.bytes).toBeGreaterThan(0);
  const metrics = await metricsOf(relay);
  expect(metrics).toContain('svc_relay_posts_total{outcome="spilled"} 5');
  expect(metrics).toContain('svc_relay_spilled_total 5');
  expect(metrics).toContain('svc_relay_spilled_waiting 5');
  await world.nats.start();
  await expect.poll(async () => (await statusOf(relay)).spill.waiting).toBe(0);
  const { id } = JSON.parse((await send(readUrl, { body: '{"n":6}' })).body) as { id?: string };
  expect(id).toBeDefined();
  const later = await listen(`${readUrl}?since=oldest`, { authorization: `Bearer ${readKey}` });
  await expect.poll(later.text).toContain('"n":6');
  expect(later.messages().map(({ data }) => (JSON.parse(data) as { body: unknown }).body)).toEqual(
    Array.from({ length: 7 }, (_, n) => ({ n })),
  );
  reader.cut();
});

test('a relay that has not seen a channel before NATS went away answers 503, with a spill too, until NATS is back', async () => {
  const world = await relayWorld();
  const first = await world.startRelay();
  const { readUrl, readKey } = await newChannel(first);
  const relay = await world.startRelay('--spill', join(world.folder, 'spill'));
  await world.nats.kill();
  const channel = at(relay, readUrl);
  const post = (n: number) => send(channel, { headers: { 'tracker-delivery': `${n}` }, body: `{"n":${n}}` });
  // The list of channels is in NATS: whether this one exists is not known, so nothing is acknowledged.
  for (const n of [1, 2]) expect(await post(n)).toMatchObject({ status: 503 });
  expect((await statusOf(relay)).spill).toMatchObject({ waiting: 0 });
  expect(await metricsOf(relay)).toContain('svc_relay_spilled_total 0');
  await world.nats.start();
  // The sender tries again, until it is stored.
  await expect.poll(async () => (await post(3)).status).toBe(200);
  const reader = await listen(`${channel}?since=oldest`, { authorization: `Bearer ${readKey}` });
  await expect.poll(reader.text).toContain('"n":3');
  expect(reader.text()).not.toMatch(/"n":[12]/);
  reader.cut();
});

test('a relay that is started while NATS cannot be reached ends with the reason, with a spill too', async () => {
  const world = await relayWorld();
  await world.nats.kill();
  const ended = await runRelay(['serve', '--port', '0', '--spill', join(world.folder, 'spill')], {
    SVC_RELAY_NATS: world.nats.url,
  });
  expect(ended).toMatchObject({ code: 5, err: expect.stringContaining('NATS cannot be used at') });
  expect(ended.err).toContain('Check that a nats-server with JetStream runs there');
});

test('a relay is killed with -9 while its spill is full: nothing that it acknowledged is lost or doubled', async () => {
  const world = await relayWorld();
  const folder = join(world.folder, 'spill');
  const relay = await world.startRelay('--no-limits', '--spill', folder, '--max-spill', '1');
  const { readUrl, readKey } = await newChannel(relay);
  await world.nats.kill();
  const acknowledged: string[] = [];
  const filler = 'x'.repeat(10_000);
  let full = false;
  for (let number = 0; !full; number += 40) {
    const ids = Array.from({ length: 40 }, (_, index) => `${number + index}`);
    const answers = await Promise.all(
      ids.map(async (id) => {
        const headers = { 'x-codehost-delivery': id };
        return {
          id,
          status: (await send(readUrl, { headers, body: JSON.stringify({ id, filler }) })).status,
        };
      }),
    );
    for (const { id, status } of answers) if (status === 200) acknowledged.push(id);
    full = answers.some(({ status }) => status === 503);
  }
  expect(acknowledged.length).toBeGreaterThan(80);
  await relay.process.kill();
  expect(statSync(join(folder, 'spilled')).mode & 0o777).toBe(0o600);
  await world.nats.start();
  const second = await world.startRelay('--spill', folder);
  await expect.poll(async () => (await statusOf(second)).spill).toMatchObject({ waiting: 0, bytes: 0 });
  const reader = await listen(`${at(second, readUrl)}?since=oldest`, { authorization: `Bearer ${readKey}` });
  const stored = () =>
    reader.messages().map(({ data }) => (JSON.parse(data) as { body: { id: string } }).body.id);
  await expect.poll(() => acknowledged.filter((id) => !stored().includes(id))).toEqual([]);
  expect(new Set(stored()).size).toBe(stored().length);
});

test('a spill folder that another relay uses is refused', async () => {
  const world = await relayWorld();
  const folder = join(world.folder, 'spill');
  await world.startRelay('--spill', folder);
  const ended = await runRelay(['serve', '--port', '0', '--spill', folder], {
    SVC_RELAY_NATS: world.nats.url,
  });
  expect(ended.code).toBe(6);
  expect(ended.err).toContain('another relay process uses it');
});

test('limits of the command line apply, and do not affect others', async () => {
  const world = await relayWorld();
  const relay = await world.startRelay(
    '--channel-rate',
    '0.01',
    '--channel-burst',
    '5',
    '--subscribers-per-channel',
    '1',
    '--new-channels-per-hour',
    '3',
  );
  const one = await newChannel(relay);
  const other = await newChannel(relay);
  const began = performance.now();
  const answers = await Promise.all(Array.from({ length: 8 }, () => send(one.writeUrl, { body: '{}' })));
  const seconds = (performance.now() - began) / 1000;
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(3);
  // The next one may come 100 s after the first.
  for (const { headers } of refused) {
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(100);
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(100 - seconds);
  }
  expect((await send(other.writeUrl, { body: '{}' })).status).toBe(200);
  const key = { authorization: `Bearer ${one.readKey}` };
  expect((await listen(one.readUrl, key)).status).toBe(200);
  expect((await listen(one.readUrl, key)).status).toBe(429);
  expect((await send(`${relay.url}/new`, {})).status).toBe(201);
  expect((await send(`${relay.url}/new`, {})).status).toBe(429);
});

function unsentBytes(metrics: string): number {
  return Number(/^svc_relay_unsent_bytes (\d+)$/m.exec(metrics)?.[1]);
}
