import { connect } from 'node:net';
import { until, untilHolds } from '@svc/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { listen, relayForTest, send } from './testing/relay-for-test.ts';

const post = async (channel: string, body = '{"n": 1.0}'): Promise<void> => {
  expect((await send(channel, { headers: { 'content-type': 'application/json' }, body })).status).toBe(200);
};
const ids = (frames: { id?: string }[]) => frames.map(({ id }) => id);

test('a stream announces itself, sends its position, and passes deliveries on', async () => {
  const relay = await relayForTest({ settings: { pingSeconds: 7 } });
  const channel = await relay.openChannel();
  const reader = await listen(channel);
  expect(reader.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'x-svc-relay': '1; ping=7',
    connection: 'close',
  });
  await expect.poll(() => reader.frames()).toHaveLength(1);
  expect(reader.frames()[0]).toMatchObject({ event: 'ready', data: '{"position":"m1.0"}' });
  expect(reader.frames()[0]).not.toHaveProperty('id');
  await post(`${channel}?x=y`);
  await expect.poll(() => reader.messages()).toHaveLength(1);
  const [message] = reader.messages();
  expect(message?.id).toBe('m1.1');
  expect(JSON.parse(message?.data ?? '')).toMatchObject({
    'content-type': 'application/json',
    body: { n: 1 },
    query: { x: 'y' },
    timestamp: expect.any(Number),
  });
});

test('raw=1 returns the exact bytes', async () => {
  const relay = await relayForTest();
  const channel = await relay.openChannel();
  const reader = await listen(`${channel}?raw=1&since=oldest`);
  await post(channel);
  await expect.poll(() => reader.messages()).toHaveLength(1);
  const { bodyB } = JSON.parse(reader.messages()[0]?.data ?? '');
  expect(Buffer.from(bodyB, 'base64').toString()).toBe('{"n": 1.0}');
});

test('it starts after Last-Event-ID, else at since, else with the next delivery', async () => {
  const relay = await relayForTest();
  const channel = await relay.openChannel();
  for (let number = 1; number <= 3; number += 1) await post(channel);
  const resumed = await listen(`${channel}?since=oldest`, { 'last-event-id': 'm1.2' });
  const since = await listen(`${channel}?since=m1.1`);
  const oldest = await listen(`${channel}?since=oldest`);
  const fresh = await listen(channel);
  const moved = await listen(channel, { 'last-event-id': '17' });
  await expect.poll(() => fresh.frames().length + moved.frames().length).toBe(2);
  await post(channel);
  await expect.poll(() => ids(resumed.messages())).toEqual(['m1.3', 'm1.4']);
  await expect.poll(() => ids(since.messages())).toEqual(['m1.2', 'm1.3', 'm1.4']);
  await expect.poll(() => ids(oldest.messages())).toEqual(['m1.1', 'm1.2', 'm1.3', 'm1.4']);
  await expect.poll(() => ids(fresh.messages())).toEqual(['m1.4']);
  await expect.poll(() => ids(moved.messages())).toEqual(['m1.4']);
  expect((await listen(`${channel}?since=yesterday`)).status).toBe(400);
  expect((await listen(`${channel}?subscriber=a/b`)).status).toBe(400);
});

test('a header that names several types asks for a stream, too', async () => {
  const relay = await relayForTest();
  const channel = await relay.openChannel();
  const reader = await listen(channel, { accept: 'text/event-stream, */*;q=0.1' });
  expect(reader.headers['content-type']).toBe('text/event-stream');
});

test('what is no longer kept is reported as a gap', async () => {
  const relay = await relayForTest();
  const channel = await relay.openChannel();
  for (let number = 1; number <= 3; number += 1) await post(channel);
  relay.engine.trim(new URL(channel).pathname.slice(1), 1);
  const late = await listen(channel, { 'last-event-id': 'm1.1' });
  await expect.poll(() => ids(late.messages())).toEqual(['m1.3']);
  expect(late.frames().find(({ event }) => event === 'gap')?.data).toBe(
    '{"requested":"m1.1","oldest":"m1.3"}',
  );
  relay.engine.loseStore();
  const other = await listen(channel, { 'last-event-id': 'm1.3' });
  await expect.poll(() => other.frames().map(({ event }) => event)).toEqual(['ready', 'gap']);
});

test('a channel with a read key is read with it, in either header, and never in the address', async () => {
  const relay = await relayForTest();
  const { readUrl, readKey } = await relay.keyedChannel();
  const status = async (headers: Record<string, string>, query = '') =>
    (await listen(readUrl + query, headers)).status;
  expect(await status({})).toBe(401);
  expect(await status({ authorization: 'Bearer wrong' })).toBe(401);
  expect(await status({ authorization: `Basic ${readKey}` })).toBe(401);
  expect(await status({ 'x-svc-relay-key': `${readKey}x` })).toBe(401);
  expect(await status({}, `?key=${readKey}`)).toBe(401);
  expect(await status({ authorization: `Bearer ${readKey}` })).toBe(200);
  expect(await status({ 'x-svc-relay-key': readKey })).toBe(200);
  expect((await send(`${readUrl}/status`, { method: 'GET' })).status).toBe(401);
  // Sending and reading are separate rights.
  expect((await send(readUrl, { body: '{}' })).status).toBe(200);
});

test('heartbeats come from one timer, without an id', async () => {
  const relay = await relayForTest({ settings: { pingSeconds: 0.1 } });
  const channel = await relay.openChannel();
  const readers = await Promise.all(Array.from({ length: 12 }, () => listen(channel)));
  await untilHolds(() => {
    for (const reader of readers)
      expect(reader.frames().filter(({ event }) => event === 'ping').length).toBeGreaterThanOrEqual(2);
  });
  for (const reader of readers) expect(ids(reader.frames()).filter(Boolean)).toEqual([]);
});

test('a named subscriber continues where it was, also in another process', async () => {
  const relay = await relayForTest();
  const channel = await relay.openChannel();
  const name = new URL(channel).pathname.slice(1);
  const first = await listen(`${channel}?subscriber=laptop`);
  await expect.poll(() => first.frames()).toHaveLength(1);
  await post(channel);
  await expect.poll(() => first.messages()).toHaveLength(1);
  first.cut();
  await expect.poll(() => relay.engine.cursors(name)).toMatchObject([{ position: { seq: 1 } }]);
  for (let number = 2; number <= 3; number += 1) await post(channel);
  const second = await listen(`${channel}?subscriber=laptop&since=oldest`);
  await expect.poll(() => ids(second.messages())).toEqual(['m1.2', 'm1.3']);
  const explicit = await listen(`${channel}?subscriber=laptop`, { 'last-event-id': 'm1.1' });
  await expect.poll(() => ids(explicit.messages())).toEqual(['m1.2', 'm1.3']);
});

test('a name that never received anything still misses nothing', async () => {
  const relay = await relayForTest();
  const channel = await relay.openChannel();
  const name = new URL(channel).pathname.slice(1);
  const first = await listen(`${channel}?subscriber=laptop`);
  await expect.poll(() => first.frames()).toHaveLength(1);
  first.cut();
  await expect.poll(() => relay.engine.cursors(name)).toHaveLength(1);
  await post(channel);
  const second = await listen(`${channel}?subscriber=laptop`);
  await expect.poll(() => ids(second.messages())).toEqual(['m1.1']);
});

test('cursors are saved at most once a second while they move', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const relay = await relayForTest();
  const channel = await relay.openChannel();
  const name = new URL(channel).pathname.slice(1);
  const reader = await listen(`${channel}?subscriber=laptop`);
  await expect.poll(() => reader.frames()).toHaveLength(1);
  for (let number = 1; number <= 200; number += 1) await post(channel);
  await expect.poll(() => reader.messages()).toHaveLength(200);
  // Where it started was saved at once.
  expect(relay.engine.savedCursors()).toBe(1);
  let seconds = 0;
  await until(async () => {
    vi.advanceTimersByTime(1000);
    seconds += 1;
    return (await relay.engine.cursor(name, 'laptop'))?.position.seq === 200;
  });
  const saved = relay.engine.savedCursors();
  expect(saved).toBeGreaterThanOrEqual(2);
  expect(saved).toBeLessThanOrEqual(1 + seconds);
  vi.advanceTimersByTime(10_000);
  expect(relay.engine.savedCursors()).toBe(saved);
});

test('with ack=1 only the reader moves its cursor', async () => {
  const relay = await relayForTest();
  const { channel, readUrl, readKey } = await relay.keyedChannel();
  const headers = { authorization: `Bearer ${readKey}` };
  const reader = await listen(`${readUrl}?subscriber=laptop&ack=1`, headers);
  await expect.poll(() => reader.frames()).toHaveLength(1);
  for (let number = 1; number <= 3; number += 1) await post(readUrl);
  await expect.poll(() => reader.messages()).toHaveLength(3);
  const cursor = (query: string, given = headers) =>
    send(`${readUrl}/cursor?${query}`, { headers: given }).then(({ status }) => status);
  expect(await cursor('subscriber=laptop&position=m1.2')).toBe(204);
  expect(await cursor('subscriber=laptop&position=2')).toBe(400);
  expect(await cursor('position=m1.2')).toBe(400);
  expect(await cursor('subscriber=laptop&position=m1.2', { authorization: '' })).toBe(401);
  reader.cut();
  await expect.poll(() => relay.server.subscribers()).toBe(0);
  expect(await relay.engine.cursors(channel)).toMatchObject([{ position: { seq: 2 } }]);
  const back = await listen(`${readUrl}?subscriber=laptop&ack=1`, headers);
  await expect.poll(() => ids(back.messages())).toEqual(['m1.3']);
});

test('the same name again takes over from a dead connection', async () => {
  const relay = await relayForTest();
  const channel = await relay.openChannel();
  const old = await listen(`${channel}?subscriber=laptop`);
  await expect.poll(() => old.frames()).toHaveLength(1);
  const other = await listen(`${channel}?subscriber=desk`);
  const fresh = await listen(`${channel}?subscriber=laptop`);
  await expect.poll(() => old.ended()).toBe(true);
  expect([other.ended(), fresh.ended()]).toEqual([false, false]);
  expect(relay.server.subscribers()).toBe(2);
});

test('status shows what is stored and the position of every subscriber', async () => {
  const relay = await relayForTest();
  const { readUrl, readKey } = await relay.keyedChannel();
  const headers = { authorization: `Bearer ${readKey}` };
  const reader = await listen(`${readUrl}?subscriber=laptop`, headers);
  await listen(readUrl, headers);
  await expect.poll(() => reader.frames()).toHaveLength(1);
  await post(readUrl, '{"n":1}');
  await expect.poll(() => reader.messages()).toHaveLength(1);
  reader.cut();
  await expect.poll(() => relay.server.subscribers()).toBe(1);
  await post(readUrl, '{"n":2}');
  const answer = await send(`${readUrl}/status`, { method: 'GET', headers });
  expect(JSON.parse(answer.body)).toMatchObject({
    stored: 2,
    bytes: 14,
    oldest: 'm1.1',
    newest: 'm1.2',
    open: false,
    subscribers: {
      connected: 1,
      named: [{ subscriber: 'laptop', position: 'm1.1', connected: false, lag: 1 }],
    },
  });
});

test('streams of one address, and of the whole process, are counted', async () => {
  const relay = await relayForTest({ limits: { subscribersPerAddress: 2 } });
  const one = await relay.openChannel();
  const other = await relay.openChannel();
  const first = await listen(one);
  await listen(other);
  const refused = await listen(other);
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '5']);
  first.cut();
  await expect.poll(async () => (await listen(other)).status).toBe(200);

  const full = await relayForTest({ limits: { subscribers: 1 } });
  const channel = await full.openChannel();
  expect((await listen(channel)).status).toBe(200);
  expect((await listen(channel)).status).toBe(503);
});

test('subscribers of one channel are counted', async () => {
  const relay = await relayForTest({ limits: { subscribersPerChannel: 2 } });
  const channel = await relay.openChannel();
  const first = await listen(channel);
  await listen(channel);
  const refused = await listen(channel);
  expect(refused.status).toBe(429);
  first.cut();
  await expect.poll(async () => (await listen(channel)).status).toBe(200);
});

test('a reader that stalls costs little, is disconnected, and resumes without loss', async () => {
  const relay = await relayForTest({ settings: { stallMs: 300 } });
  const channel = await relay.openChannel();
  const path = new URL(channel).pathname;
  const stalled = connect(relay.port, '127.0.0.1');
  stalled.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n`);
  let received = '';
  stalled.on('data', (part) => (received += part.toString()));
  await expect.poll(() => received).toContain('ready');
  stalled.pause();
  const healthy = await listen(channel);
  await expect.poll(() => healthy.frames()).toHaveLength(1);
  const body = JSON.stringify({ text: 'x'.repeat(200_000) });
  for (let number = 1; number <= 100; number += 1) {
    await post(channel, body);
    // A reader with less than 1 MiB of unsent data is not paused, and does not count as stalled.
    if (number % 4 === 0) await until(() => healthy.bytes() > number * body.length);
  }
  expect(healthy.messages()).toHaveLength(100);
  await expect.poll(() => relay.metrics()).toContain('svc_relay_subscriptions_ended_total{reason="slow"} 1');
  stalled.resume();
  await expect.poll(() => stalled.destroyed).toBe(true);
  const got = [...received.matchAll(/id: (m1\.\d+)\n(?=data: .*\n\n)/g)].map((match) => match[1]);
  expect(got.length).toBeLessThan(100);
  const resumed = await listen(channel, { 'last-event-id': got.at(-1) ?? 'm1.0' });
  await expect.poll(() => got.length + resumed.messages().length).toBe(100);
});

test('a slow reader that keeps reading is paused, not cut, and gets everything in order', async () => {
  const relay = await relayForTest();
  const channel = await relay.openChannel();
  const reader = await listen(channel);
  await expect.poll(() => reader.frames()).toHaveLength(1);
  reader.pause();
  const body = JSON.stringify({ text: 'x'.repeat(200_000) });
  for (let number = 1; number <= 60; number += 1) await post(channel, body);
  reader.resume();
  await expect.poll(() => reader.messages()).toHaveLength(60);
  expect(ids(reader.messages())).toEqual(Array.from({ length: 60 }, (_, index) => `m1.${index + 1}`));
});

test('a body of 24 MiB reaches the reader', async () => {
  const relay = await relayForTest();
  const channel = await relay.openChannel();
  const reader = await listen(`${channel}?raw=1`);
  await expect.poll(() => reader.frames()).toHaveLength(1);
  const body = Buffer.alloc(24 * 1024 * 1024, 7);
  expect((await send(channel, { body })).status).toBe(200);
  await post(channel);
  await expect.poll(() => reader.messages()).toHaveLength(2);
  const { bodyB } = JSON.parse(reader.messages()[0]?.data ?? '');
  expect(Buffer.from(bodyB, 'base64').equals(body)).toBe(true);
});

test('a second request after a stream ends the connection', async () => {
  const relay = await relayForTest();
  const channel = await relay.openChannel();
  const path = new URL(channel).pathname;
  const socket = connect(relay.port, '127.0.0.1');
  const ask = `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n`;
  socket.write(ask);
  await expect.poll(() => relay.server.subscribers()).toBe(1);
  socket.write(ask);
  await expect.poll(() => socket.destroyed || relay.server.subscribers() === 0).toBe(true);
  await expect.poll(() => relay.server.subscribers()).toBe(0);
});
