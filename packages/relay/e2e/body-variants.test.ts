// Every body reaches the reader byte for byte, and its signature verifies there.
import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { readRelayMessage } from '@svc/core';
import { until } from '@svc/testkit';
import { expect, test } from 'vitest';
import { listen } from '../src/http/testing/relay-for-test.ts';
import { type Variant, variants } from './body-variants.ts';
import { newChannel, relayWorld } from './relay-world.ts';

const SECRET = 'the secret of the hook';
const signature = (body: Buffer): string =>
  `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;

function post(url: string, variant: Variant, id: string): Promise<number> {
  const { body, headers = {}, sending = 'whole' } = variant;
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method: 'POST',
      agent: false,
      headers: {
        'content-type': 'application/json',
        'x-codehost-event': 'push',
        'x-codehost-delivery': id,
        'x-hub-signature-256': signature(body),
        ...(sending === 'whole' && { 'content-length': String(body.length) }),
        ...(sending === 'slowly' && { 'content-length': String(body.length) }),
        ...(sending === 'chunked' && { 'transfer-encoding': 'chunked' }),
        ...(sending === 'awaited' && { expect: '100-continue', 'content-length': String(body.length) }),
        ...headers,
      },
    });
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    if (sending === 'awaited') outgoing.on('continue', () => outgoing.end(body));
    else if (sending === 'slowly') void inPieces(outgoing, body);
    else outgoing.end(body);
    if (sending === 'awaited') outgoing.flushHeaders();
  });
}

async function inPieces(outgoing: ReturnType<typeof request>, body: Buffer): Promise<void> {
  for (const byte of body) await new Promise((sent) => outgoing.write(Buffer.from([byte]), sent));
  outgoing.end();
}

test(`${variants.length} bodies, byte for byte, with a valid signature`, async () => {
  const world = await relayWorld();
  const relay = await world.startRelay('--no-limits');
  const { readUrl, readKey } = await newChannel(relay);
  const reader = await listen(`${readUrl}?raw=1`, { authorization: `Bearer ${readKey}` });
  await expect.poll(() => reader.text()).toContain('ready');
  for (const [index, variant] of variants.entries())
    expect([variant.name, await post(readUrl, variant, `id-${index}`)]).toEqual([variant.name, 200]);
  // Frames are looked for only when the last, large ones can be there: that takes long.
  const bytes = variants.reduce((sum, { body }) => sum + (body.length * 4) / 3, 0);
  await until(() => reader.bytes() > bytes && reader.messages().length >= variants.length);
  expect(reader.messages()).toHaveLength(variants.length);
  const received = reader.messages().map(({ data }) => readRelayMessage(data));
  for (const [index, frame] of received.entries()) {
    const variant = variants[index];
    if (!frame.ok || variant === undefined) throw new Error(`${variant?.name}: no frame`);
    const body = Buffer.from(frame.message.body.data, frame.message.body.encoding);
    expect([variant.name, frame.message.exact, body.equals(variant.body)]).toEqual([
      variant.name,
      true,
      true,
    ]);
    expect([variant.name, signature(body)]).toEqual([
      variant.name,
      frame.message.headers['x-hub-signature-256'],
    ]);
  }
});
