// Reading from the real engine: resume, gaps, keys, names, status, several processes.
import { describe, expect, test } from 'vitest';
import { type Listening, listen, send } from '../src/http/testing/relay-for-test.ts';
import { at, newChannel, relayWorld } from './relay-world.ts';

async function post(url: string, number: number, size = 0): Promise<string> {
  const body = JSON.stringify({ number, filler: 'x'.repeat(size) });
  const headers = { 'x-codehost-delivery': `delivery-${number}`, 'content-type': 'application/json' };
  const answer = await send(url, { headers, body });
  expect(answer.status).toBe(200);
  return JSON.parse(answer.body).id;
}
const numbers = (reader: Listening): number[] =>
  reader.messages().map(({ data }) => JSON.parse(data).body.number);
/** The epoch may include a check of the message; the number is the position in the stream. */
const sequence = (id: string): number => Number(id.split('.')[1]);
const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);
const ready = async (reader: Listening): Promise<void> => {
  await expect.poll(() => reader.text()).toContain('event: ready');
};

describe('one relay', () => {
  test('what was posted while no one listened is kept, and a cut loses and repeats nothing', async () => {
    const world = await relayWorld();
    const relay = await world.startRelay();
    const { readUrl, readKey } = await newChannel(relay);
    const key = { authorization: `Bearer ${readKey}` };
    for (const number of range(1, 20)) await post(readUrl, number);
    const first = await listen(`${readUrl}?since=oldest`, key);
    await expect.poll(() => numbers(first)).toEqual(range(1, 20));
    const last = first.messages()[9]?.id ?? '';
    first.cut();
    for (const number of range(21, 40)) await post(readUrl, number);
    const second = await listen(readUrl, { ...key, 'last-event-id': last });
    await expect.poll(() => numbers(second)).toEqual(range(11, 40));
    await post(readUrl, 41);
    await expect.poll(() => numbers(second).at(-1)).toBe(41);
    const ids = second.messages().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('a repeated delivery is answered as a duplicate, and stored once', async () => {
    const world = await relayWorld();
    const relay = await world.startRelay();
    const { readUrl, readKey } = await newChannel(relay);
    const headers = { 'x-codehost-delivery': 'same' };
    const first = JSON.parse((await send(readUrl, { headers, body: '{}' })).body);
    const again = JSON.parse((await send(readUrl, { headers, body: '{}' })).body);
    expect(again).toEqual({ ok: true, id: first.id, duplicate: true });
    const status = await send(`${readUrl}/status`, {
      method: 'GET',
      headers: { authorization: `Bearer ${readKey}` },
    });
    const { stored, newest } = JSON.parse(status.body);
    expect([stored, sequence(newest)]).toEqual([1, sequence(first.id)]);
  });

  test('a cursor older than what is kept gets a gap', async () => {
    const world = await relayWorld({ words: ['--max-deliveries', '10', '--shrink'] });
    const relay = await world.startRelay();
    const { readUrl, readKey } = await newChannel(relay);
    const key = { authorization: `Bearer ${readKey}` };
    const first = await post(readUrl, 1);
    for (const number of range(2, 40)) await post(readUrl, number);
    const late = await listen(readUrl, { ...key, 'last-event-id': first });
    await expect.poll(() => numbers(late).at(-1)).toBe(40);
    const gap = late.frames().find(({ event }) => event === 'gap');
    const { requested, oldest } = JSON.parse(gap?.data ?? '{}');
    expect([requested, sequence(oldest)]).toEqual([first, sequence(late.messages()[0]?.id ?? '')]);
    const other = await listen(readUrl, { ...key, 'last-event-id': 'another.5' });
    await expect.poll(() => other.frames().some(({ event }) => event === 'gap')).toBe(true);
  });

  test('channels are separate, and each is read with its own key', async () => {
    const world = await relayWorld();
    const relay = await world.startRelay();
    const [one, other] = [await newChannel(relay), await newChannel(relay)];
    expect((await listen(one.readUrl)).status).toBe(401);
    expect((await listen(one.readUrl, { authorization: `Bearer ${other.readKey}` })).status).toBe(401);
    const reader = await listen(`${one.readUrl}?since=oldest`, { 'x-svc-relay-key': one.readKey });
    await ready(reader);
    await post(other.writeUrl, 1);
    await post(one.writeUrl, 2);
    await expect.poll(() => numbers(reader)).toEqual([2]);
  });
});

describe('two relays on one engine', () => {
  test('what one accepts, the other streams, and a reader can resume at either', async () => {
    const world = await relayWorld();
    const [one, other] = await Promise.all([world.startRelay(), world.startRelay()]);
    const { readUrl, readKey } = await newChannel(one);
    const key = { authorization: `Bearer ${readKey}` };
    const here = await listen(readUrl, key);
    const there = await listen(at(other, readUrl), key);
    await Promise.all([ready(here), ready(there)]);
    for (const number of range(1, 30)) await post(number % 2 === 0 ? readUrl : at(other, readUrl), number);
    await expect.poll(() => numbers(here)).toEqual(range(1, 30));
    await expect.poll(() => numbers(there)).toEqual(range(1, 30));
    expect(here.messages().map(({ id }) => id)).toEqual(there.messages().map(({ id }) => id));
    const resumed = await listen(readUrl, { ...key, 'last-event-id': there.messages()[14]?.id ?? '' });
    await expect.poll(() => numbers(resumed)).toEqual(range(16, 30));
  });

  test('a named subscriber continues at the other relay, and status shows its lag', async () => {
    const world = await relayWorld();
    const [one, other] = await Promise.all([world.startRelay(), world.startRelay()]);
    const { readUrl, readKey } = await newChannel(one);
    const key = { authorization: `Bearer ${readKey}` };
    const first = await listen(`${readUrl}?subscriber=laptop`, key);
    await ready(first);
    for (const number of range(1, 10)) await post(readUrl, number);
    await expect.poll(() => numbers(first)).toEqual(range(1, 10));
    first.cut();
    const status = async () =>
      JSON.parse((await send(`${at(other, readUrl)}/status`, { method: 'GET', headers: key })).body);
    await expect
      .poll(async () => (await status()).subscribers.named)
      .toMatchObject([{ subscriber: 'laptop', lag: 0 }]);
    for (const number of range(11, 17)) await post(readUrl, number);
    expect(await status()).toMatchObject({
      stored: 17,
      subscribers: { connected: 0, named: [{ subscriber: 'laptop', connected: false, lag: 7 }] },
    });
    const second = await listen(`${at(other, readUrl)}?subscriber=laptop`, key);
    await expect.poll(() => numbers(second)).toEqual(range(11, 17));
    await expect
      .poll(async () => (await status()).subscribers)
      .toMatchObject({
        connected: 1,
        named: [{ connected: true, lag: 0 }],
      });
  });

  test('a reader loses nothing in a planned stop', async () => {
    const world = await relayWorld();
    const [one, other] = await Promise.all([world.startRelay(), world.startRelay()]);
    const { readUrl, readKey } = await newChannel(one);
    const key = { authorization: `Bearer ${readKey}` };
    const quiet = await listen(readUrl, key);
    const reader = await listen(readUrl, key);
    await Promise.all([ready(reader), ready(quiet)]);
    let posted = 0;
    const postMore = async (count: number): Promise<void> => {
      for (const end = posted + count; posted < end; ) await post(at(other, readUrl), (posted += 1));
    };
    await postMore(20);
    const stopping = one.process.stop();
    while (!reader.ended()) await postMore(1);
    await postMore(20);
    expect(await stopping).toBe(0);
    const end = reader.frames().at(-1);
    expect(end?.event).toBe('end');
    const resumed = await listen(at(other, readUrl), { ...key, 'last-event-id': end?.id ?? '' });
    await expect.poll(() => [...numbers(reader), ...numbers(resumed)]).toEqual(range(1, posted));
  });
});
