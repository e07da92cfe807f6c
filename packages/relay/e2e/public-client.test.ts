// The public relay's client package, unchanged, against this relay.
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SmeeClient } from 'smee-client';
import { expect, onTestFinished, test } from 'vitest';
import { send } from '../src/http/testing/relay-for-test.ts';
import { relayWorld } from './relay-world.ts';

const SECRET = 'the secret of the hook';
const quiet = { info: () => undefined, error: () => undefined };

async function receiver() {
  const received: { headers: IncomingHttpHeaders; url: string; body: string }[] = [];
  // A client of an earlier server at the same port may still be asking it.
  const path = `/${crypto.randomUUID()}`;
  const server = createServer((request, response) => {
    if (request.url?.startsWith(path) !== true) {
      response.writeHead(404).end();
      return;
    }
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      received.push({ headers: request.headers, url: request.url ?? '', body });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { received, path, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}` };
}

test('it makes a channel, connects, and forwards everything with valid signatures', async () => {
  const world = await relayWorld();
  const relay = await world.startRelay('--open-channels', '--no-limits');
  const { received, path, url } = await receiver();
  const source = await SmeeClient.createChannel({ newChannelUrl: `${relay.url}/new` });
  expect(source).toMatch(new RegExp(`^${relay.url}/[A-Za-z0-9_-]{22,}$`));
  const client = new SmeeClient({ source, target: url, logger: quiet });
  await client.start();
  onTestFinished(() => client.stop());
  const count = 200;
  for (let number = 0; number < count; number += 1) {
    const body = JSON.stringify({ number, text: 'é<>&' });
    const answer = await send(`${source}?page=${number}`, {
      headers: {
        'content-type': 'application/json',
        'x-codehost-event': 'push',
        'x-codehost-delivery': `delivery-${number}`,
        'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
      },
      body,
    });
    expect(answer.status).toBe(200);
  }
  await expect.poll(() => received.length).toBeGreaterThanOrEqual(count);
  const ids = received.map(({ headers }) => String(headers['x-codehost-delivery']));
  const sent = Array.from({ length: count }, (_, number) => `delivery-${number}`);
  expect(ids.toSorted()).toEqual(sent.toSorted());
  for (const { headers, body } of received)
    expect(headers['x-hub-signature-256']).toBe(
      `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
    );
  expect(received.find(({ headers }) => headers['x-codehost-delivery'] === 'delivery-7')?.url).toBe(
    `${path}?page=7`,
  );
});

test('it misses nothing that was sent while the relay restarted', async () => {
  const world = await relayWorld();
  const first = await world.startRelay('--open-channels', '--no-limits');
  const second = await world.startRelay('--no-limits');
  const { received, url } = await receiver();
  const source = await SmeeClient.createChannel({ newChannelUrl: `${first.url}/new` });
  const client = new SmeeClient({ source, target: url, logger: quiet });
  await client.start();
  onTestFinished(() => client.stop());
  const post = (relayUrl: string, id: string): Promise<unknown> =>
    send(relayUrl + new URL(source).pathname, {
      headers: { 'x-codehost-delivery': id, 'content-type': 'application/json' },
      body: '{}',
    });
  await post(first.url, 'before');
  await expect.poll(() => received).toHaveLength(1);
  expect(await first.process.stop()).toBe(0);
  await post(second.url, 'meanwhile');
  await world.startRelay('--no-limits', '--port', String(first.port));
  await post(second.url, 'after');
  await expect.poll(() => received).toHaveLength(3);
  expect(received.map(({ headers }) => headers['x-codehost-delivery'])).toEqual([
    'before',
    'meanwhile',
    'after',
  ]);
});

test('without the opt-in it gets no channel', async () => {
  const world = await relayWorld();
  const relay = await world.startRelay();
  await expect(SmeeClient.createChannel({ newChannelUrl: `${relay.url}/new` })).rejects.toThrow(
    'Failed to create channel',
  );
});
