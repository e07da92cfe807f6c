// Followers on a real nats-server: handover from backlog to live, holes, gaps, pauses, restarts, parts.
import { hash } from 'node:crypto';
import { headers as createHeaders } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { natsForTest, WAIT_MS } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { encodeFrame } from '../protocol/frame.ts';
import { provision } from '../provision/provision.ts';
import { shardOf } from './engine.ts';
import { anotherEngine, deliveryOf, engineForTest, listen, publishText } from './testing/engine-for-test.ts';

const numbers = (count: number): string[] => Array.from({ length: count }, (_, at) => String(at));

async function api(url: string, subject: string, request?: unknown): Promise<void> {
  const nats = await connect({ servers: url });
  const answer = await nats.request(
    `$JS.API.${subject}`,
    request === undefined ? '' : JSON.stringify(request),
    { timeout: WAIT_MS },
  );
  expect(answer.json()).not.toHaveProperty('error');
  await nats.close();
}

test('backlog and live while others publish: each once, in order', async () => {
  const { engine, nats } = await engineForTest();
  const writer = await anotherEngine(nats.servers);
  const wanted = numbers(3000);
  const readers = [];
  for (const text of wanted) {
    // It starts while publishing continues.
    if (Number(text) % 500 === 100) readers.push(listen(engine, 'busy', 'oldest'));
    await publishText(writer, 'busy', text);
    if (Number(text) % 3 === 0) await publishText(writer, 'noise-a', text);
  }
  expect(readers).toHaveLength(6);
  for (const { received } of readers) {
    await expect.poll(() => received.bodies.length).toBe(wanted.length);
    expect(received.bodies).toEqual(wanted);
    expect(received.gaps).toEqual([]);
  }
});

test('resumes after a position, also after the one from ready', async () => {
  const { engine } = await engineForTest();
  const fresh = listen(engine, 'one');
  await expect.poll(() => fresh.received.ready).not.toBeNull();
  fresh.follower.close();
  const positions = [];
  for (const text of numbers(5)) positions.push((await publishText(engine, 'one', text)).position);
  const fromReady = listen(engine, 'one', fresh.received.ready ?? 'new');
  const fromSecond = listen(engine, 'one', positions[1]);
  const fromLast = listen(engine, 'one', positions[4]);
  await expect.poll(() => fromReady.received.bodies).toEqual(numbers(5));
  await expect.poll(() => fromSecond.received.bodies).toEqual(['2', '3', '4']);
  await publishText(engine, 'one', 'new');
  await expect.poll(() => fromLast.received.bodies).toEqual(['new']);
  expect([fromReady, fromSecond, fromLast].flatMap(({ received }) => received.gaps)).toEqual([]);
});

test('a resume with nothing new costs one read, and none while the feed is still open', async () => {
  const { engine, nats, server } = await engineForTest();
  const { received, follower } = listen(engine, 'one');
  await expect.poll(() => received.ready).not.toBeNull();
  const { position } = await publishText(engine, 'one', 'last');
  await expect.poll(() => received.bodies).toEqual(['last']);
  follower.close();

  const back = await readsFor(server.monitorUrl, () => listen(engine, 'one', position));
  expect(back.reads).toBe(0);
  // It is live: it gets the next delivery.
  await publishText(engine, 'one', 'next');
  await expect.poll(() => back.received.bodies).toEqual(['next']);
  // One that has missed it needs a read.
  const late = await readsFor(server.monitorUrl, () => listen(engine, 'one', position));
  expect(late.reads).toBe(1);
  await expect.poll(() => late.received.bodies).toEqual(['next']);
  await engine.close();

  const other = await anotherEngine(nats.servers);
  const elsewhere = await readsFor(server.monitorUrl, () => listen(other, 'one', back.received.positions[0]));
  expect(elsewhere.reads).toBe(1);
});

/** How many messages the server receives from the reading connection until a follower is ready. */
async function readsFor(monitorUrl: string, start: () => ReturnType<typeof listen>) {
  const sent = async (): Promise<number> => {
    const { connections } = (await (await fetch(`${monitorUrl}/connz`)).json()) as {
      connections: { name: string; in_msgs: number }[];
    };
    return connections.find(({ name }) => name === 'svc-relay read')?.in_msgs ?? 0;
  };
  const before = await sent();
  const { received } = start();
  await expect.poll(() => received.ready).not.toBeNull();
  return { received, reads: (await sent()) - before };
}

test('the feed of a channel without followers is closed a moment later', async () => {
  const { engine, server } = await engineForTest({ timing: { lingerMs: 100, soonMs: 50 } });
  const { received, follower } = listen(engine, 'one');
  await expect.poll(() => received.ready).not.toBeNull();
  const subscriptions = async (): Promise<string> =>
    (await fetch(`${server.monitorUrl}/subsz?subs=1`)).text();
  await expect.poll(subscriptions).toMatch(/svc-relay\.live\.\d\.one/);
  follower.close();
  await expect.poll(subscriptions).not.toMatch(/svc-relay\.live\.\d\.one/);
});

test('a paused follower keeps nothing and loses nothing', async () => {
  const { engine } = await engineForTest();
  let open = true;
  const { received, follower } = listen(engine, 'one', 'new', () => open);
  await expect.poll(() => received.ready).not.toBeNull();
  await publishText(engine, 'one', '0');
  await expect.poll(() => received.bodies).toEqual(['0']);
  open = false;
  const other = listen(engine, 'one');
  await expect.poll(() => other.received.ready).not.toBeNull();
  for (const text of numbers(1000).slice(1)) await publishText(engine, 'one', text);
  // What one follower of a feed got was offered to every other one.
  await expect.poll(() => other.received.bodies.at(-1)).toBe('999');
  expect(received.bodies).toEqual(['0', '1']);
  open = true;
  follower.resume();
  await expect.poll(() => received.bodies.length).toBe(1000);
  expect(received.bodies).toEqual(numbers(1000));
  await publishText(engine, 'one', '1000');
  await expect.poll(() => received.bodies.at(-1)).toBe('1000');
});

test('a live copy that got lost is read from the stream when the next one shows the hole', async () => {
  const { engine, repeat } = await engineWithoutRepeats();
  const { received } = listen(engine, 'one');
  await expect.poll(() => received.ready).not.toBeNull();
  const stored = [];
  for (const text of numbers(5)) stored.push((await publishText(engine, 'one', text, text)).position.seq);
  repeat('one', '0', stored[0], 0, 'one:0');
  await expect.poll(() => received.bodies).toEqual(['0']);
  repeat('one', '4', stored[4], stored[3], 'one:4');
  await expect.poll(() => received.bodies).toEqual(numbers(5));
  expect(received.gaps).toEqual([]);
});

test('a lost live copy is found without another delivery, by the regular check', async () => {
  const { engine } = await engineWithoutRepeats({ everyMs: 300 });
  const { received, follower } = listen(engine, 'one');
  await expect.poll(() => received.ready).not.toBeNull();
  await publishText(engine, 'one', '0');
  await expect.poll(() => received.bodies).toEqual(['0']);
  const { position } = await publishText(engine, 'quiet', 'x');
  await expect.poll(() => follower.position()?.seq).toBe(position.seq);
});

/** The stream does not repeat what it stores, as when its leader dies in between: the test repeats it, or not. */
async function engineWithoutRepeats(timing: { everyMs?: number } = {}) {
  const server = await natsForTest();
  const nats = { servers: [server.url] };
  await provision({ nats, shards: 1 });
  const client = await connect(nats);
  onTestFinished(() => client.close());
  const info = await client.request('$JS.API.STREAM.INFO.svc-relay-shard-00', '', { timeout: WAIT_MS });
  const { republish: _, ...silent } = info.json<{ config: Record<string, unknown> }>().config;
  await api(server.url, 'STREAM.DELETE.svc-relay-shard-00');
  await api(server.url, 'STREAM.CREATE.svc-relay-shard-00', silent);
  function repeat(channel: string, text: string, seq = 0, previous = 0, messageId = ''): void {
    const headers = createHeaders();
    headers.set('Nats-Msg-Id', `${messageId}:${hash('sha512-256', text, 'base64url')}`);
    headers.set('Nats-Sequence', String(seq));
    headers.set('Nats-Last-Sequence', String(previous));
    client.publish(`svc-relay.live.0.${channel}`, encodeFrame(deliveryOf(text)), { headers });
  }
  return { engine: await anotherEngine(nats.servers, timing), repeat };
}

test('a trimmed cursor is a gap, then what is kept; the newest trimmed one is not a gap', async () => {
  const { engine } = await engineForTest({ shards: 1, maxDeliveriesPerChannel: 5 });
  const positions = [];
  for (const text of numbers(12)) {
    positions.push((await publishText(engine, 'one', text)).position);
    await publishText(engine, 'other', 'noise');
  }
  const late = listen(engine, 'one', positions[2]);
  await expect.poll(() => late.received.bodies).toEqual(['7', '8', '9', '10', '11']);
  expect(late.received.events.slice(0, 2)).toEqual(['ready', 'gap']);
  expect(late.received.gaps).toEqual([{ requested: positions[2], oldest: positions[7] }]);
  expect(late.received.ready?.seq).toBe((positions[7]?.seq ?? 0) - 1);
  const fine = listen(engine, 'one', positions[8]);
  await expect.poll(() => fine.received.bodies).toEqual(['9', '10', '11']);
  const oldest = listen(engine, 'one', 'oldest');
  await expect.poll(() => oldest.received.bodies).toEqual(['7', '8', '9', '10', '11']);
  expect([...fine.received.gaps, ...oldest.received.gaps]).toEqual([]);
});

test('a position from ready, with nothing of the channel there, is a gap after too many deliveries', async () => {
  const { engine } = await engineForTest({ shards: 1, maxDeliveriesPerChannel: 5 });
  const fresh = listen(engine, 'one');
  await expect.poll(() => fresh.received.ready).not.toBeNull();
  fresh.follower.close();
  const from = fresh.received.ready ?? 'new';
  for (const text of numbers(5)) await publishText(engine, 'one', text);
  const all = listen(engine, 'one', from);
  await expect.poll(() => all.received.bodies).toEqual(numbers(5));
  expect(all.received.gaps).toEqual([]);
  all.follower.close();
  await publishText(engine, 'one', '5');
  const late = listen(engine, 'one', from);
  await expect.poll(() => late.received.bodies).toEqual(['1', '2', '3', '4', '5']);
  expect(late.received.gaps).toEqual([{ requested: from, oldest: late.received.positions[0] }]);
});

test('what is trimmed while a follower is paused is reported as a gap', async () => {
  const { engine } = await engineForTest({ shards: 1, maxDeliveriesPerChannel: 5 });
  let open = false;
  const { received, follower } = listen(engine, 'one', 'new', () => open);
  await expect.poll(() => received.ready).not.toBeNull();
  for (const text of numbers(600)) await publishText(engine, 'one', text);
  open = true;
  follower.resume();
  await expect.poll(() => received.bodies.at(-1)).toBe('599');
  expect(received.bodies).toEqual(['0', '595', '596', '597', '598', '599']);
  expect(received.gaps).toEqual([{ requested: received.positions[0], oldest: received.positions[1] }]);
});

test('a stream that was lost and created again is a gap for old cursors and for followers', async () => {
  const { engine, server, nats } = await engineForTest({ shards: 1, timing: { everyMs: 200 } });
  const { position } = await publishText(engine, 'one', 'old');
  await publishText(engine, 'one', 'older');
  const { received } = listen(engine, 'one', position);
  await expect.poll(() => received.bodies).toEqual(['older']);
  await api(server.url, 'STREAM.DELETE.svc-relay-shard-00');
  await provision({ nats });
  await publishText(engine, 'one', 'fresh');
  await expect.poll(() => received.bodies).toEqual(['older', 'fresh']);
  expect(received.gaps).toHaveLength(1);
  const other = await anotherEngine(nats.servers);
  const late = listen(other, 'one', position);
  await expect.poll(() => late.received.bodies).toEqual(['fresh']);
  expect(late.received.gaps).toEqual([{ requested: position, oldest: late.received.positions[0] }]);
  expect(late.received.positions[0]?.epoch).not.toBe(position.epoch);
});

test('a cluster that lost its newest and reused their numbers: a gap, and what is stored is delivered', async () => {
  const { engine, repeat } = await engineWithoutRepeats();
  const { received } = listen(engine, 'one');
  await expect.poll(() => received.ready).not.toBeNull();
  const stored = [];
  for (const text of numbers(3)) stored.push((await publishText(engine, 'one', text, text)).position);
  // The live copy of the crashed leader, with the number that another delivery has now.
  repeat('one', 'lost', stored[2]?.seq, 0, 'one:lost');
  await expect.poll(() => received.events).toContain('lost');
  const requested = received.positions.at(-1);
  const before = received.events.length;
  repeat('one', '1', stored[1]?.seq, stored[0]?.seq, 'one:1');
  await expect.poll(() => received.events.slice(before)).toEqual(['gap', '0', '1', '2']);
  expect(received.gaps).toEqual([{ requested, oldest: { epoch: stored[0]?.epoch, seq: 1 } }]);

  const resumed = listen(engine, 'one', requested);
  await expect.poll(() => resumed.received.events).toEqual(['ready', 'gap', '0', '1', '2']);
  const fine = listen(engine, 'one', stored[1]);
  await expect.poll(() => fine.received.events).toEqual(['ready', '2']);
});

test('a delivery that is repeated twice is delivered once', async () => {
  const { engine, repeat } = await engineWithoutRepeats();
  const { received } = listen(engine, 'one');
  await expect.poll(() => received.ready).not.toBeNull();
  const stored = [];
  for (const text of numbers(2)) stored.push((await publishText(engine, 'one', text, text)).position.seq);
  for (let again = 0; again < 3; again += 1) {
    repeat('one', '0', stored[0], 0, 'one:0');
    repeat('one', '1', stored[1], stored[0], 'one:1');
    await expect.poll(() => received.events).toContain('1');
  }
  const { position } = await publishText(engine, 'one', '2', '2');
  repeat('one', '2', position.seq, stored[1], 'one:2');
  await expect.poll(() => received.events).toContain('2');
  expect(received.events).toEqual(['ready', '0', '1', '2']);
});

test('a cursor beyond the end, as after a lost disk, is a gap', async () => {
  const { engine } = await engineForTest();
  const { position } = await publishText(engine, 'one', 'a');
  const requested = { ...position, seq: position.seq + 100 };
  const { received } = listen(engine, 'one', requested);
  await expect.poll(() => received.bodies).toEqual(['a']);
  expect(received.gaps).toEqual([{ requested, oldest: { epoch: position.epoch, seq: 1 } }]);
});

test('kill -9 of the server while following: nothing is missed', async () => {
  const { engine, server } = await engineForTest();
  const { received } = listen(engine, 'one');
  await expect.poll(() => received.ready).not.toBeNull();
  await publishText(engine, 'one', '0');
  await server.kill();
  await expect.poll(() => engine.health().connected).toBe(false);
  const waiting = Promise.all(
    numbers(20)
      .slice(1)
      .map((text) => publishText(engine, 'one', text)),
  );
  await server.start();
  await waiting;
  await expect.poll(() => new Set(received.bodies).size).toBe(20);
  expect(received.bodies).toHaveLength(20);
  expect(received.positions.map(({ seq }) => seq)).toEqual(
    received.positions.map(({ seq }) => seq).toSorted((a, b) => a - b),
  );
  await expect.poll(() => engine.health()).toMatchObject({ connected: true, reason: null });
});

test('large bodies are stored in parts; a missing part is a gap, never a broken body', async () => {
  const { engine, server } = await engineForTest({ shards: 1 });
  const { received } = listen(engine, 'one');
  await expect.poll(() => received.ready).not.toBeNull();
  const body = Buffer.alloc(25 * 1024 * 1024);
  for (let at = 0; at < body.length; at += 4) body.writeUInt32LE((at * 2654435761) >>> 0, at);
  const got: Buffer[] = [];
  const ready = Promise.withResolvers<unknown>();
  engine.follow('one', {
    after: 'new',
    onReady: ready.resolve,
    onDelivery: ({ delivery }) => got.push(delivery.body) > 0,
    onGap: () => undefined,
    onEnd: () => undefined,
  });
  await ready.promise;
  await publishText(engine, 'one', 'before');
  const { position } = await engine.publish('one', deliveryOf(body), {
    messageId: 'big',
    deadlineMs: WAIT_MS,
  });
  await publishText(engine, 'one', 'after');
  await expect.poll(() => got).toHaveLength(3);
  expect(got[1]?.equals(body)).toBe(true);
  await expect.poll(() => received.bodies.at(-1)).toBe('after');

  const subject = `svc-relay.part.${shardOf('one', { shards: 1 })}.one.>`;
  await api(server.url, 'STREAM.PURGE.svc-relay-shard-00', { filter: subject, seq: 4 });
  const again = listen(engine, 'one', 'oldest');
  await expect.poll(() => again.received.bodies).toEqual(['before', 'after']);
  expect(again.received.gaps.map(({ oldest }) => oldest?.seq)).toEqual([position.seq + 1]);
});

test('a closed engine ends its followers', async () => {
  const { engine } = await engineForTest();
  const { received } = listen(engine, 'one');
  await expect.poll(() => received.ready).not.toBeNull();
  await engine.close();
  expect(received.ended).toMatchObject({ code: 'engine-closed' });
});
