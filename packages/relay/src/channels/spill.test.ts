import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { natsClusterForTest, temporaryFolder, until, WAIT_MS } from '@svc/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openConnection } from '../engine/connection.ts';
import { type Delivery, type Engine, EngineUnavailable } from '../engine/engine.ts';

import { PublishRefused } from '../engine/publisher.ts';
import { anotherEngine, engineForTest, listen } from '../engine/testing/engine-for-test.ts';
import { provision } from '../provision/provision.ts';
import { openSpill } from './spill.ts';

type Stored = { channelId: string; text: string; messageId: string | undefined };

/** Has two shards, by the first letter of a channel; each can lose its leader. What is sent meanwhile has to wait. */
function createEngine() {
  const stored: Stored[] = [];
  const known = new Set<string>();
  const leaderless = new Set<number>();
  const shardOf = (channelId: string): number => (channelId.startsWith('a') ? 0 : 1);
  const seen = { asked: 0, firstSentAt: [] as (number | undefined)[], refuses: false };
  const publish: Engine['publish'] = async (channelId, { body }, { messageId, deadlineMs, firstSentAt }) => {
    const end = performance.now() + deadlineMs;
    seen.asked += 1;
    seen.firstSentAt.push(firstSentAt);
    if (seen.refuses) {
      const cause = new PublishRefused('message size exceeds maximum', 10054);
      throw new EngineUnavailable('refused', { cause });
    }
    while (leaderless.has(shardOf(channelId))) {
      if (performance.now() >= end) throw new EngineUnavailable('no leader');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    // The first ones need not be stored first.
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
    const duplicate = known.has(String(messageId));
    if (!duplicate) stored.push({ channelId, text: body.toString(), messageId });
    known.add(String(messageId));
    return { position: { epoch: 'e', seq: stored.length }, duplicate };
  };
  return { publish, shardOf, stored, leaderless, seen };
}

function setUp(given: { folder?: string; maxBytes?: number; engine?: ReturnType<typeof createEngine> } = {}) {
  const { folder = join(temporaryFolder(), 'spill'), maxBytes = 2 ** 20, engine = createEngine() } = given;
  const logged: string[] = [];
  const log = (_: object, words: string): void => void logged.push(words);
  const start = async (options: Partial<Parameters<typeof openSpill>[0]> = {}) => {
    const spill = await openSpill({
      folder,
      maxBytes,
      engine,
      logger: { info: log, warn: log, error: log } as never,
      timing: { holdAfterMs: 50, everyMs: 5, retryMs: 5 },
      ...options,
    });
    let isOpen = true;
    const close = async (withinMs = 0): Promise<void> => {
      if (isOpen) await spill.close(withinMs);
      isOpen = false;
    };
    onTestFinished(() => close());
    const post = (channelId: string, text: string, messageId?: string) =>
      spill.publish(channelId, deliveryOf(text), { messageId, deadlineMs: WAIT_MS });
    return { ...spill, close, post };
  };
  return { folder, file: join(folder, 'spilled'), engine, logged, start };
}

const deliveryOf = (text: string): Delivery => ({
  headers: { 'x-a': 'ä' },
  query: { q: '1' },
  receivedAt: Date.now(),
  body: Buffer.from(text),
});

const spilled = { spilled: true };

/** A disk that does `first` before it writes or syncs. */
function openedWith(name: 'write' | 'datasync', first: () => Promise<void>) {
  return async (...given: Parameters<typeof open>) => {
    const handle = await open(...given);
    const method = handle[name].bind(handle) as (...words: unknown[]) => Promise<unknown>;
    const delayed = (...words: unknown[]) => first().then(() => method(...words));
    return Object.assign(handle, { [name]: delayed });
  };
}

test('with a leader everything goes to the engine, and nothing is written', async () => {
  const { engine, file, start } = setUp();
  const { post, state } = await start();
  expect(await post('a', 'one', 'id')).toEqual({ position: { epoch: 'e', seq: 1 }, duplicate: false });
  expect(engine.stored).toEqual([{ channelId: 'a', text: 'one', messageId: 'id' }]);
  expect(state()).toEqual({ total: 0, waiting: 0, bytes: 0, oldestAt: null, refusing: null });
  expect([statSync(file).size, statSync(file).mode & 0o777]).toEqual([0, 0o600]);
});

test('without a leader a delivery is on disk when it is answered, and stored when the leader is back', async () => {
  const { engine, file, start } = setUp();
  const { post, state } = await start();
  engine.leaderless.add(0);
  expect(await post('a', 'the text', 'id')).toEqual(spilled);
  expect(readFileSync(file, 'latin1')).toContain('the text');
  expect(state()).toMatchObject({ total: 1, waiting: 1, bytes: statSync(file).size, refusing: null });
  // Another shard is not affected.
  expect(await post('b', 'other')).toMatchObject({ duplicate: false });
  engine.leaderless.clear();
  await until(() => state().waiting === 0);
  expect(engine.stored.at(-1)).toEqual({ channelId: 'a', text: 'the text', messageId: 'id' });
  await until(() => state().bytes === 0);
  expect(statSync(file).size).toBe(0);
  expect(await post('a', 'next')).toMatchObject({ duplicate: false });
  expect(state()).toMatchObject({ total: 1, bytes: 0 });
});

test('once a channel is held, later deliveries do not wait for the engine, and follow it in order', async () => {
  const { engine, start } = setUp();
  const { post, state } = await start();
  engine.leaderless.add(0);
  for (let number = 0; number < 10; number += 1) await post('a1', String(number));
  // Only the first, by its sender's post.
  expect(engine.seen.firstSentAt.filter((at) => at === undefined)).toHaveLength(1);
  engine.leaderless.clear();
  for (let number = 10; number < 20; number += 1) await post('a1', String(number));
  await until(() => state().waiting === 0 && engine.stored.length === 20);
  expect(engine.stored.map(({ text }) => text)).toEqual(Array.from({ length: 20 }, (_, at) => String(at)));
});

test('a sender that continues while held deliveries are stored keeps its order', async () => {
  const { engine, start } = setUp();
  const { post } = await start();
  for (let number = 0; number < 300; number += 1) {
    if (number % 100 === 20) engine.leaderless.add(0);
    if (number % 100 === 60) engine.leaderless.clear();
    await post('a1', String(number));
  }
  await until(() => engine.stored.length === 300);
  expect(engine.stored.map(({ text }) => Number(text))).toEqual(Array.from({ length: 300 }, (_, at) => at));
});

test('a delivery whose acknowledgement was lost is stored once, also without an id of the sender', async () => {
  const { engine, start } = setUp();
  let isLost = true;
  const lossy = {
    ...engine,
    publish: async (...given: Parameters<Engine['publish']>) => {
      const published = await engine.publish(...given);
      if (isLost) throw new EngineUnavailable('the acknowledgement was lost');
      return published;
    },
  };
  const { post, state } = await start({ engine: lossy });
  expect(await post('a', 'one')).toEqual(spilled);
  expect(await post('a', 'two', 'named')).toEqual(spilled);
  isLost = false;
  await until(() => state().waiting === 0);
  expect(engine.stored.map(({ text }) => text)).toEqual(['one', 'two']);
  expect(engine.seen.firstSentAt.at(-1)).toBeTypeOf('number');
});

test('another process with the same folder stores the leftover deliveries, in order, with headers', async () => {
  const { engine, start } = setUp();
  const first = await start();
  engine.leaderless.add(0).add(1);
  for (let number = 0; number < 10; number += 1) await first.post(number % 2 ? 'a' : 'b', String(number));
  await first.close();
  expect(engine.stored).toEqual([]);
  engine.leaderless.clear();
  const deliveries: Delivery[] = [];
  const second = await start({
    engine: {
      ...engine,
      publish: (channelId, delivery, options) => {
        deliveries.push(delivery);
        return engine.publish(channelId, delivery, options);
      },
    },
  });
  await until(() => second.state().waiting === 0);
  const of = (channel: string) => engine.stored.filter(({ channelId }) => channelId === channel);
  expect(of('a').map(({ text }) => text)).toEqual(['1', '3', '5', '7', '9']);
  expect(of('b').map(({ text }) => text)).toEqual(['0', '2', '4', '6', '8']);
  expect(deliveries[0]).toMatchObject({ headers: { 'x-a': 'ä' }, query: { q: '1' } });
  await until(() => second.state().bytes === 0);
});

test('bodies of 25 MiB are held while there is space, and come back byte for byte', async () => {
  const { engine, start } = setUp({ maxBytes: 60 * 2 ** 20 });
  const first = await start();
  engine.leaderless.add(0);
  const bodies = [1, 2, 3].map(() => randomBytes(25 * 2 ** 20));
  const answers = await Promise.allSettled(
    bodies.map((body, index) =>
      first.publish('a', { ...deliveryOf(''), body }, { messageId: `${index}`, deadlineMs: 1000 }),
    ),
  );
  const taken = bodies.filter((_, index) => answers[index]?.status === 'fulfilled');
  expect(taken).toHaveLength(2);
  await first.close();
  engine.leaderless.clear();
  const stored: Buffer[] = [];
  const publish: Engine['publish'] = (channelId, delivery, options) => {
    stored.push(delivery.body);
    return engine.publish(channelId, delivery, options);
  };
  const second = await start({ engine: { ...engine, publish } });
  await until(() => second.state().waiting === 0);
  expect(stored).toHaveLength(2);
  expect(taken.every((body) => stored.some((one) => one.equals(body)))).toBe(true);
});

test('a torn end is set aside, whatever it is, and the complete records before it are stored', async () => {
  const tails = [
    (file: string) => truncateSync(file, statSync(file).size - 3),
    (file: string) => appendFileSync(file, Buffer.from([0, 0, 1])),
    (file: string) => appendFileSync(file, Buffer.alloc(4096)),
    (file: string) => appendFileSync(file, Buffer.alloc(100, 255)),
    (file: string) => {
      const bytes = readFileSync(file);
      bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
      writeFileSync(file, bytes);
    },
  ];
  for (const [index, tear] of tails.entries()) {
    const { engine, file, logged, start } = setUp();
    const first = await start();
    engine.leaderless.add(0);
    await first.post('a', 'whole');
    await first.post('a', 'last');
    await first.close();
    tear(file);
    const second = await start();
    expect(logged.join('\n')).toContain('never acknowledged');
    expect(existsSync(`${file}.torn`)).toBe(true);
    // It is written after the complete records.
    await second.post('a', 'after');
    engine.leaderless.clear();
    await until(() => second.state().waiting === 0);
    const isCut = index === 0 || index === 4;
    expect(engine.stored.map(({ text }) => text)).toEqual(
      isCut ? ['whole', 'after'] : ['whole', 'last', 'after'],
    );
    await second.close();
  }
});

test('when it is full, the engine gets the sender’s whole timeout; deliveries that would overtake are refused', async () => {
  const { engine, start } = setUp({ maxBytes: 10_000 });
  const { post, publish, state } = await start();
  engine.leaderless.add(0).add(1);
  expect(await post('a', 'x'.repeat(8000))).toEqual(spilled);
  await expect(post('a', 'y'.repeat(8000))).rejects.toMatchObject({ code: 'engine-unavailable' });
  const impatient = publish('b', deliveryOf('z'.repeat(8000)), { messageId: 'z', deadlineMs: 200 });
  await expect(impatient).rejects.toThrow('no leader');
  const patient = post('b', 'w'.repeat(8000));
  const { asked } = engine.seen;
  await until(() => engine.seen.asked > asked);
  engine.leaderless.clear();
  expect(await patient).toMatchObject({ duplicate: false });
  await until(() => state().waiting === 0 && state().bytes === 0);
  expect(new Set(engine.stored.map(({ text }) => text[0]))).toEqual(new Set(['w', 'x']));
});

test('a delivery that is being written counts for the limit of the file', async () => {
  const { engine, start } = setUp({ maxBytes: 10_000 });
  const disk = { asked: false, ...Promise.withResolvers<void>() };
  const openFile = openedWith('datasync', () => {
    disk.asked = true;
    return disk.promise;
  });
  const { post, state } = await start({ openFile });
  engine.leaderless.add(0);
  const first = post('a', 'x'.repeat(8000));
  await until(() => disk.asked);
  const answers = Promise.allSettled([first, post('a', 'y'.repeat(8000))]);
  disk.resolve();
  expect(await answers).toMatchObject([
    { value: spilled },
    { reason: { message: expect.stringContaining('the spill is full') } },
  ]);
  engine.leaderless.clear();
  await until(() => state().bytes === 0);
  expect(state().refusing).toBeNull();
  engine.leaderless.add(0);
  expect(await post('a', 'z'.repeat(8000))).toEqual(spilled);
});

test('when the oldest has waited too long, nothing more is held, and nothing is dropped', async () => {
  const { engine, start } = setUp();
  let time = 1_000_000;
  const { post, state } = await start({ now: () => time });
  engine.leaderless.add(0);
  await post('a', 'one');
  time += 121_000;
  expect(state().refusing).toContain('too long');
  await expect(post('a', 'two')).rejects.toMatchObject({ code: 'engine-unavailable' });
  engine.leaderless.clear();
  await until(() => state().waiting === 0);
  expect(state().refusing).toBeNull();
  expect(engine.stored.map(({ text }) => text)).toEqual(['one']);
});

test.each(['write', 'datasync'] as const)(
  'a disk that fails to %s holds nothing, until it is empty',
  async (broken) => {
    const { engine, start, file } = setUp();
    const disk = { fails: false };
    const openFile = openedWith(broken, async () => {
      if (disk.fails) throw new Error('ENOSPC: no space left on device');
    });
    const { post, publish, state } = await start({ openFile });
    engine.leaderless.add(0).add(1);
    expect(await post('a', 'one')).toEqual(spilled);
    disk.fails = true;
    // It would overtake the first.
    await expect(post('a', 'two')).rejects.toThrow('no space left');
    expect(state().refusing).toContain('no space left');
    const other = publish('b', deliveryOf('three'), { messageId: 'three', deadlineMs: 300 });
    await expect(other).rejects.toMatchObject({ code: 'engine-unavailable' });
    disk.fails = false;
    engine.leaderless.clear();
    await until(() => state().waiting === 0 && state().refusing === null);
    expect(statSync(file).size).toBe(0);
    engine.leaderless.add(0);
    expect(await post('a', 'four')).toEqual(spilled);
    engine.leaderless.clear();
    await until(() => state().waiting === 0);
    expect(engine.stored.map(({ text }) => text)).toEqual(['one', 'four']);
  },
);

test('a delivery that the stream refuses is not held: it would be refused again', async () => {
  const { engine, start } = setUp();
  const { post, state } = await start();
  engine.seen.refuses = true;
  await expect(post('a', 'one')).rejects.toThrow('refused');
  expect(state()).toMatchObject({ total: 0, waiting: 0 });
});

test('a folder is used by one process, and a link is not followed', async () => {
  const { folder, file, start } = setUp();
  const first = await start();
  await expect(setUp({ folder }).start()).rejects.toThrow('another relay process uses it');
  await first.close();
  await (await start()).close();
  renameSync(file, join(folder, 'elsewhere'));
  symlinkSync(join(folder, 'elsewhere'), file);
  await expect(start()).rejects.toThrow('ELOOP');
});

test('the leader of a cluster is killed: no post fails, none is lost or doubled, each sender keeps its order', async () => {
  const cluster = await natsClusterForTest({ size: 3 });
  const stream = 'svc-relay-shard-00';
  await provision({ nats: { servers: cluster.urls }, shards: 1 });
  const engine = await anotherEngine(cluster.urls);
  const { start } = setUp();
  const { post, state } = await start({ engine, timing: { holdAfterMs: 300 } });
  const sent = Array.from({ length: 8 }, () => 0);
  const sending = { over: false };
  const senders = sent.map(async (_, sender) => {
    while (!sending.over) {
      const number = (sent[sender] = (sent[sender] ?? 0) + 1);
      await post('one', `${sender} ${number}`, `${sender}-${number}`);
    }
  });
  const count = (): number => sent.reduce((sum, number) => sum + number, 0);
  await until(() => count() > 200);
  const leader = await until(() => cluster.streamLeader(stream));
  await leader.kill();
  await until(() => state().total > 20);
  await until(() => state().waiting === 0);
  const before = count();
  await until(() => count() > before + 200);
  sending.over = true;
  await Promise.all(senders);
  await until(() => state().waiting === 0);
  const { received } = listen(engine, 'one', 'oldest');
  await until(() => received.bodies.length >= count());
  for (const [sender, number] of sent.entries()) {
    const its = received.bodies.filter((body) => body.startsWith(`${sender} `));
    expect(its).toEqual(Array.from({ length: number }, (_, at) => `${sender} ${at + 1}`));
  }
});

test('a delivery whose id the stream has forgotten is not stored again', async () => {
  const { engine } = await engineForTest({ shards: 1, dedupeWindowMs: 100 });
  const publish = (text: string, options: { firstSentAt?: number } = {}, receivedAt = 1) =>
    engine.publish(
      'one',
      { ...deliveryOf(text), receivedAt },
      { messageId: text, deadlineMs: WAIT_MS, ...options },
    );
  const { position } = await publish('a');
  for (let number = 0; number < 300; number += 1) await publish(`other ${number}`);
  // The stream needs a moment to forget.
  await until(async () => !(await publish('other 0')).duplicate);
  const old = { firstSentAt: Date.now() - 10 * 60_000 };
  expect(await publish('a', old)).toEqual({ position, duplicate: true });
  expect(await publish('new', old)).toMatchObject({ duplicate: false });
  expect(await publish('new', old)).toMatchObject({ duplicate: true });
});

test('one search is enough for many old deliveries of a channel, until the stream may have forgotten ids again', async () => {
  const { engine, nats } = await engineForTest({ shards: 1 });
  const watcher = await openConnection(nats, 'watcher');
  onTestFinished(() => watcher.close());
  let reads = 0;
  watcher.nats.subscribe('$JS.API.DIRECT.GET.>', { callback: () => void (reads += 1) });
  await watcher.nats.flush();
  const firstSentAt = Date.now() - 10 * 60_000;
  const readsOf = async (...texts: string[]): Promise<number> => {
    const before = reads;
    for (const text of texts)
      await engine.publish('one', deliveryOf(text), { messageId: text, deadlineMs: WAIT_MS, firstSentAt });
    await watcher.nats.flush();
    return reads - before;
  };
  // Nothing is stored yet, so there is nothing to search.
  await readsOf('first');
  expect(await readsOf('second')).toBeGreaterThan(0);
  expect(await readsOf(...Array.from({ length: 50 }, (_, number) => `delivery ${number}`))).toBe(0);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5 * 60_000 });
  onTestFinished(() => void vi.useRealTimers());
  expect(await readsOf('late', 'later')).toBe(1);
});
