// The fake with the public relay's own client: what it forwards, and what is lost on the way.
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SmeeClient } from 'smee-client';
import { expect, onTestFinished, test } from 'vitest';
import { WAIT_MS } from '../waiting.ts';
import { type PublicRelay, startPublicRelay } from './public-relay.ts';

const secret = 'it protects nothing';

function codehostSignature(body: Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

async function relay(options?: { pingMs?: number }): Promise<PublicRelay> {
  const started = await startPublicRelay(options);
  onTestFinished(() => started.stop());
  return started;
}

/** A receiver that records whether the signature matches the received bytes. */
async function target() {
  const taken: { body: string; signed: boolean; headers: NodeJS.Dict<string | string[]>; url: string }[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    const signed = request.headers['x-hub-signature-256'] === codehostSignature(body);
    taken.push({ body: body.toString(), signed, headers: request.headers, url: request.url ?? '' });
    response.end();
  };
  const server = createServer((request, response) => void take(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { taken, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/webhook` };
}

async function client(source: string, to: string): Promise<void> {
  const silent = { info: () => undefined, error: () => undefined };
  const smee = new SmeeClient({ source, target: to, logger: silent });
  await smee.start();
  onTestFinished(() => smee.stop());
}

function post(channel: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(channel, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'ping',
      'x-github-delivery': crypto.randomUUID(),
      'x-hub-signature-256': codehostSignature(Buffer.from(body)),
      ...headers,
    },
  });
}

test('the real client creates a channel, and posts to it arrive signed', async () => {
  const { url } = await relay();
  const channel = await SmeeClient.createChannel({ newChannelUrl: `${url}/new` });
  expect(channel).toMatch(new RegExp(`^${url}/[A-Za-z0-9_-]{16}$`));
  const { taken, url: to } = await target();
  await client(channel, to);
  expect((await post(`${channel}?x=y`, '{"zen":"ünd","a":[1,2.5]}')).status).toBe(200);
  await expect.poll(() => taken).toHaveLength(1);
  expect(taken[0]).toMatchObject({
    signed: true,
    body: '{"zen":"ünd","a":[1,2.5]}',
    url: '/api/webhook?x=y',
  });
  expect(taken[0]?.headers).toMatchObject({ 'x-github-event': 'ping', 'content-type': 'application/json' });
});

test.each([
  ['compact ASCII', '{"a":1}', true],
  ['raw UTF-8', '{"a":"é"}', true],
  ['lower-case escapes', '{"a":"\\u001b"}', true],
  ['upper-case escapes, as the code host sends them', '{"a":"\\u001B"}', false],
  ['a number with a zero fraction', '{"a":1.0}', false],
  ['spaces', '{"a": 1}', false],
  ['a trailing newline', '{"a":1}\n', false],
  ['keys that look like numbers', '{"b":1,"1":2}', false],
  ['escaped slashes', '{"a":"\\/"}', false],
])('a signature survives the real server’s serialisation, or does not: %s', async (_name, body, survives) => {
  const channel = (await relay()).newChannel();
  const { taken, url: to } = await target();
  await client(channel, to);
  expect((await post(channel, body)).status).toBe(200);
  await expect.poll(() => taken).toHaveLength(1);
  expect(taken[0]?.signed).toBe(survives);
});

test.each([
  ['an array', '[]', {}, 400],
  ['nothing', '', {}, 400],
  ['not JSON', '{', {}, 400],
  ['a poisoned prototype', '{"a":{"__proto__":1}}', {}, 400],
  ['a poisoned constructor', '{"constructor":{"prototype":1}}', {}, 400],
  ['a form', 'payload={}', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
  ['another kind of JSON', '{}', { 'content-type': 'application/cloudevents+json' }, 415],
  ['a delivery id that is not a UUID', '{}', { 'x-github-delivery': '7' }, 400],
  ['a signature of another shape', '{}', { 'x-hub-signature-256': 'sha256=AB' }, 400],
  ['more than a mebibyte', JSON.stringify({ a: 'x'.repeat(1024 * 1024) }), {}, 413],
])('it rejects %s', async (_name, body, headers, status) => {
  const channel = (await relay()).newChannel();
  expect((await post(channel, body, headers)).status).toBe(status);
});

test('it answers 200 without a subscriber; later nothing is left', async () => {
  const { newChannel } = await relay();
  const channel = newChannel();
  expect((await post(channel, '{"a":1}')).status).toBe(200);
  expect((await fetch(`${channel}/redeliver`, { method: 'POST', body: '{}' })).status).toBe(200);
  const { taken, url: to } = await target();
  await client(channel, to);
  await post(channel, '{"a":2}');
  await expect.poll(() => taken.map(({ body }) => body)).toEqual(['{"a":2}']);
});

test('the frames to the byte: ids count ready and ping, and restart with every connection', async () => {
  const started = await relay({ pingMs: 10 * WAIT_MS });
  const channel = started.newChannel();
  for (const lastEventId of ['', '7']) {
    const response = await fetch(channel, {
      headers: { accept: 'text/event-stream', 'last-event-id': lastEventId },
    });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const readUntil = async (end: RegExp): Promise<void> => {
      while (!end.test(text)) text += (await reader?.read())?.value ?? '';
    };
    await readUntil(/\n\n$/);
    started.ping();
    await readUntil(/ping\ndata: \{\}\n\n$/);
    await post(channel, '{"a":1}');
    await readUntil(/"timestamp".*\n\n$/);
    expect(text).toMatch(
      /^id: 0\nevent: ready\ndata: \{\}\n\nid: 1\nevent: ping\ndata: \{\}\n\nid: 2\ndata: \{.*"body":\{"a":1\},"query":\{\},"timestamp":\d{13}\}\n\n$/,
    );
    await reader?.cancel();
  }
});

test('only an exact accept header opens a stream, and only a channel has one', async () => {
  const { url, newChannel } = await relay();
  for (const accept of ['text/event-stream, */*', 'text/html', 'Text/Event-Stream']) {
    const response = await fetch(newChannel(), { headers: { accept } });
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  }
  expect((await fetch(`${url}/${'a'.repeat(129)}`)).status).toBe(400);
  expect((await fetch(`${url}/new`, { redirect: 'manual' })).status).toBe(307);
});
