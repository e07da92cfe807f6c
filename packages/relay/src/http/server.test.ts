import { connect } from 'node:net';
import { WAIT_MS } from '@svc/testkit';
import { expect, test } from 'vitest';
import { noNetworks, readNetworks } from '../limits/limits.ts';
import { hashOfKey } from './read-access.ts';
import { listen, makeChannel, relayForTest, send } from './testing/relay-for-test.ts';

const MIB = 1024 * 1024;
const networks = (text: string) => {
  const read = readNetworks(text);
  return read.ok ? read.networks : noNetworks;
};

test('a delivery is answered with its position, a repeated one as a duplicate', async () => {
  const relay = await relayForTest();
  const channel = await relay.openChannel();
  const headers = { 'x-codehost-delivery': 'one', 'content-type': 'application/json' };
  const first = await send(channel, { headers, body: '{"a":1}' });
  expect([first.status, JSON.parse(first.body)]).toEqual([200, { ok: true, id: 'm1.1' }]);
  const again = await send(channel, { headers, body: '{"a":1}' });
  expect([again.status, JSON.parse(again.body)]).toEqual([200, { ok: true, id: 'm1.1', duplicate: true }]);
});

test('headers, query and bytes are passed to the engine unchanged', async () => {
  const relay = await relayForTest();
  const { channel, writeUrl } = await relay.keyedChannel();
  const body = Buffer.from([0x1f, 0x8b, 0, 255, 10]);
  await send(`${writeUrl}?a=b&c=%20`, {
    headers: { 'content-encoding': 'gzip', cookie: 'secret', authorization: 'Bearer x', 'X-Thing': 'y' },
    body,
  });
  const [delivery] = relay.engine.deliveries(channel);
  expect(delivery?.body).toEqual(body);
  expect(delivery?.query).toEqual({ a: 'b', c: ' ' });
  expect(delivery?.headers).toMatchObject({ 'content-encoding': 'gzip', 'x-thing': 'y' });
  expect(Object.keys(delivery?.headers ?? {})).not.toContain('cookie');
  expect(Object.keys(delivery?.headers ?? {})).not.toContain('authorization');
});

test('the engine gets the time that the sender has', async () => {
  // Between the arrival of a delivery and its publishing 200 ms pass.
  let time = 0;
  const relay = await relayForTest({ now: () => (time += 200) });
  const channel = await relay.openChannel();
  await send(channel, { headers: { 'tracker-delivery': 'one' }, body: '{}' });
  await send(channel, { body: '{}' });
  expect(relay.engine.publishedWith()).toEqual([
    { messageId: 'one', deadlineMs: 2800 },
    { messageId: undefined, deadlineMs: 7800 },
  ]);
});

test('a lookup of the channel takes no longer than the sender waits', async () => {
  const relay = await relayForTest();
  const channel = await relay.openChannel();
  const find = relay.engine.findChannel;
  const given: (number | undefined)[] = [];
  relay.engine.findChannel = (id, withinMs) => {
    given.push(withinMs);
    return find(id, withinMs);
  };
  await send(channel, { headers: { 'tracker-delivery': 'one' }, body: '{}' });
  await send(channel, { body: '{}' });
  expect(given).toEqual([3000, 8000]);
});

test('when the engine does not acknowledge, the sender is asked to retry', async () => {
  const relay = await relayForTest();
  const channel = await relay.openChannel();
  relay.engine.goDown();
  const refused = await send(channel, { body: '{}' });
  expect(refused.status).toBe(503);
  expect(refused.headers['retry-after']).toBe('5');
  expect(JSON.parse(refused.body)).toMatchObject({ code: 'engine-unavailable' });
  const ready = await send(`${relay.url}/readyz`, { method: 'GET' });
  expect([ready.status, JSON.parse(ready.body)]).toMatchObject([503, { reason: 'no server answers' }]);
  expect((await listen(channel)).status).toBe(503);
  expect((await send(`${relay.url}/new`, {})).status).toBe(503);
  relay.engine.comeUp();
  expect((await send(channel, { body: '{}' })).status).toBe(200);
  expect((await send(`${relay.url}/readyz`, { method: 'GET' })).status).toBe(200);
});

test.each([
  ['POST', '/unknown', 404],
  ['POST', '/not%20a%20channel', 404],
  ['POST', '/metrics', 405],
  ['DELETE', '/unknown', 405],
  ['GET', '/unknown', 404],
  ['GET', '/unknown/status', 404],
  ['GET', '/unknown/other', 404],
  ['GET', '/a/status/b', 404],
  ['GET', '/', 404],
  ['GET', '/../etc/passwd', 404],
  ['POST', `/${'x'.repeat(129)}`, 404],
])('%s %s is answered %d', async (method, path, status) => {
  const relay = await relayForTest();
  expect((await send(relay.url + path, { method, ...(method === 'POST' && { body: '{}' }) })).status).toBe(
    status,
  );
});

test('a body over 25 MiB is refused, with or without a content-length', async () => {
  const relay = await relayForTest();
  const channel = await relay.openChannel();
  const body = Buffer.alloc(25 * MIB + 1);
  expect((await send(channel, { headers: { 'content-length': String(body.length) }, body })).status).toBe(
    413,
  );
  expect((await send(channel, { headers: { 'transfer-encoding': 'chunked' }, body })).status).toBe(413);
  const fits = await send(channel, { body: body.subarray(0, 25 * MIB) });
  expect(fits.status).toBe(200);
});

test('bodies in memory are bounded, and released', async () => {
  const relay = await relayForTest({ roomBytes: MIB });
  const channel = await relay.openChannel();
  const refused = await send(channel, { body: Buffer.alloc(2 * MIB) });
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5']);
  for (let round = 0; round < 3; round += 1)
    expect((await send(channel, { body: Buffer.alloc(MIB) })).status).toBe(200);
  expect(await relay.metrics()).toContain('svc_relay_bytes_under_way 0');
});

test('a sender with Expect gets 100 Continue, or is refused before it sends', async () => {
  const relay = await relayForTest();
  const channel = await relay.openChannel();
  const ask = async (path: string): Promise<string> => {
    const socket = connect(relay.port, '127.0.0.1');
    let received = '';
    socket.on('data', (part) => (received += part.toString()));
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`);
    await expect.poll(() => received).toContain('HTTP/1.1');
    if (received.startsWith('HTTP/1.1 100')) {
      socket.write('{}');
      await expect.poll(() => received).toContain('"ok":true');
    }
    socket.destroy();
    return received;
  };
  expect(await ask(new URL(channel).pathname)).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK/);
  expect(await ask('/unknown')).toMatch(/^HTTP\/1.1 404/);
});

test('limits answer 429 with the time to wait', async () => {
  const relay = await relayForTest({ limits: { delivery: () => 2500 } });
  const channel = await relay.openChannel();
  const refused = await send(channel, { body: '{}' });
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '3']);
  const strict = await relayForTest({ limits: { request: () => 1 } });
  expect((await send(`${strict.url}/any`, { body: '{}' })).status).toBe(429);
  expect((await send(`${strict.url}/new`, {})).status).toBe(429);
  expect((await listen(`${strict.url}/any`)).status).toBe(429);
  expect((await send(`${strict.url}/any/status`, { method: 'GET' })).status).toBe(429);
});

test('limits are counted by the address behind a trusted proxy', async () => {
  const seen: string[] = [];
  const request = (address: string): number => {
    seen.push(address);
    return 0;
  };
  const relay = await relayForTest({
    limits: { request },
    settings: { trustedProxies: networks('127.0.0.1') },
  });
  const channel = await relay.openChannel();
  await send(channel, { headers: { 'x-forwarded-for': '198.51.100.7' }, body: '{}' });
  expect(seen.at(-1)).toBe('198.51.100.7');
});

test('only allowed senders send; readers may come from anywhere', async () => {
  const relay = await relayForTest({
    settings: { allowedSenders: networks('192.0.2.0/24'), trustedProxies: networks('127.0.0.1') },
  });
  const channel = await relay.openChannel();
  expect((await send(channel, { body: '{}' })).status).toBe(403);
  const headers = { 'x-forwarded-for': '192.0.2.9' };
  expect((await send(channel, { headers, body: '{}' })).status).toBe(200);
  expect((await listen(channel)).status).toBe(200);
});

test('GET /new makes open channels only if the operator allows them', async () => {
  const closed = await relayForTest();
  const refused = await send(`${closed.url}/new`, { method: 'GET' });
  expect([refused.status, JSON.parse(refused.body).code]).toEqual([403, 'open-channels-off']);
  const open = await relayForTest({ settings: { openChannels: true } });
  for (const method of ['GET', 'HEAD']) {
    const made = await send(`${open.url}/new`, { method });
    expect(made.status).toBe(307);
    expect(made.headers['location']).toMatch(new RegExp(`^${open.url}/[A-Za-z0-9_-]{22,}$`));
    expect((await listen(made.headers['location'] ?? '')).status).toBe(200);
  }
});

test('POST /new returns the read key once; only its hash is stored', async () => {
  const relay = await relayForTest({ settings: { publicUrl: 'https://relay.example' } });
  const made = await makeChannel(relay.url, {});
  expect(made.writeUrl).toBe(`https://relay.example/${made.channel}`);
  expect(made.readKey).toMatch(/^[A-Za-z0-9_-]{43}$/);
  const kept = await relay.engine.findChannel(made.channel);
  expect(kept?.readKeyHash).toBe(hashOfKey(made.readKey));
  expect(await makeChannel(relay.url, { open: true })).toMatchObject({ readKey: null });
  expect(await makeChannel(relay.url, { readKey: true })).toMatchObject({ readKey: /./ });
  for (const body of ['{"readKey":false}', '{"open":true,"readKey":true}', '[]', 'no', '{"open":1}'])
    expect((await send(`${relay.url}/new`, { body })).status).toBe(400);
  expect((await send(`${relay.url}/new`, { body: ' '.repeat(5000) })).status).toBe(400);
});

test("with the operator's key only its holder makes channels", async () => {
  const relay = await relayForTest({
    settings: { createKeyHash: hashOfKey('operator'), openChannels: true },
  });
  expect((await send(`${relay.url}/new`, {})).status).toBe(401);
  expect((await send(`${relay.url}/new`, { method: 'HEAD' })).status).toBe(401);
  const headers = { authorization: 'Bearer operator' };
  expect((await send(`${relay.url}/new`, { headers })).status).toBe(201);
  expect((await send(`${relay.url}/new`, { method: 'HEAD', headers })).status).toBe(307);
});

test('an invalid host is not repeated', async () => {
  const relay = await relayForTest();
  const made = await send(`${relay.url}/new`, { headers: { host: 'evil"><script>' } });
  expect(JSON.parse(made.body).writeUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\//);
});

test('the page shows how to use the channel, and runs no scripts', async () => {
  const relay = await relayForTest();
  const { channel, writeUrl } = await relay.keyedChannel();
  await send(writeUrl, { body: '{"marker":"<script>"}' });
  const page = await send(writeUrl, { method: 'GET', headers: { accept: 'text/html' } });
  expect(page.status).toBe(200);
  expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
  expect(page.body).toContain(channel);
  expect(page.body).not.toMatch(/marker|<script/);
  const missing = await send(`${relay.url}/unknown`, { method: 'GET', headers: { accept: 'text/html' } });
  expect([missing.status, missing.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
  expect((await send(writeUrl, { method: 'HEAD' })).body).toBe('');
});

test('metrics are only for local addresses, and contain no channel', async () => {
  const relay = await relayForTest();
  const { channel, writeUrl } = await relay.keyedChannel();
  await send(writeUrl, { body: '{}' });
  const metrics = await send(`${relay.url}/metrics`, { method: 'GET' });
  expect(metrics.body).toContain('svc_relay_posts_total{outcome="stored"} 1');
  expect(metrics.body).not.toContain(channel);
  const proxied = await send(`${relay.url}/metrics`, {
    method: 'GET',
    headers: { 'x-forwarded-for': '127.0.0.1' },
  });
  expect(proxied.status).toBe(403);
  const health = await send(`${relay.url}/healthz`, { method: 'GET' });
  expect(JSON.parse(health.body)).toEqual({ ok: true, version: '1.2.3' });
});

test('logs contain no payload, key or channel id', async () => {
  const relay = await relayForTest();
  const { channel, writeUrl, readKey } = await relay.keyedChannel();
  const reader = await listen(writeUrl, { authorization: `Bearer ${readKey}` });
  await send(writeUrl, { body: '{"payload-marker":1}' });
  relay.engine.endFollowers();
  relay.engine.goDown();
  await send(writeUrl, { body: '{"payload-marker":2}' });
  await expect.poll(() => reader.ended()).toBe(true);
  expect(relay.logged()).toContain('the engine ended a stream');
  expect(relay.logged()).toContain('did not acknowledge');
  for (const secret of [channel, readKey, 'payload-marker']) expect(relay.logged()).not.toContain(secret);
});

test('while it stops it answers everything, and closes the senders’ connections', async () => {
  const relay = await relayForTest();
  const channel = await relay.openChannel();
  const kept = connect(relay.port, '127.0.0.1');
  let received = '';
  kept.on('data', (part) => (received += part.toString()));
  const post = `POST ${new URL(channel).pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}`;
  kept.write(post);
  await expect.poll(() => received).toMatch(/keep-alive/i);
  const farewell = Promise.withResolvers<void>();
  const closing = relay.close(WAIT_MS, farewell.promise);
  await expect(send(`${relay.url}/readyz`, { method: 'GET' })).resolves.toMatchObject({ status: 503 });
  expect((await listen(channel)).status).toBe(200);
  received = '';
  kept.write(post);
  await expect.poll(() => received).toMatch(/^HTTP\/1.1 200/);
  expect(received).toMatch(/\r\nConnection: close\r\n/i);
  await expect.poll(() => kept.destroyed || kept.readableEnded).toBe(true);
  farewell.resolve();
  await closing;
});

test('a stop ends streams with an id, answers running requests, and refuses the rest', async () => {
  const relay = await relayForTest();
  const channel = await relay.openChannel();
  const fresh = await listen(channel);
  const served = await listen(channel);
  await expect.poll(() => served.frames()).toHaveLength(1);
  await send(channel, { body: '{}' });
  await expect.poll(() => served.messages()).toHaveLength(1);
  const slow = connect(relay.port, '127.0.0.1');
  let received = '';
  slow.on('data', (part) => (received += part.toString()));
  const post = `POST ${new URL(channel).pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n`;
  slow.write(`${post}Expect: 100-continue\r\n\r\n{`);
  await expect.poll(() => received).toContain('100 Continue');
  const closing = relay.close(WAIT_MS);
  await expect.poll(() => fresh.ended() && served.ended()).toBe(true);
  expect(served.frames().at(-1)).toEqual({ id: 'm1.1', event: 'end', data: '{}' });
  expect(fresh.frames().at(-1)).toMatchObject({ id: 'm1.1', event: 'end' });
  slow.write('}');
  await closing;
  expect(received).toContain('HTTP/1.1 200');
  await expect(send(channel, { body: '{}' })).rejects.toThrow(/ECONNREFUSED/);
});
