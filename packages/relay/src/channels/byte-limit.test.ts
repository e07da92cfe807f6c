import { untilHolds, WAIT_MS } from '@svc/testkit';
import { expect, test } from 'vitest';
import type { Position } from '../engine/engine.ts';
import {
  anotherEngine,
  deliveryOf,
  engineForTest,
  listen,
  publishText,
} from '../engine/testing/engine-for-test.ts';

const KILOBYTE = 1024;

test('a channel keeps about its byte limit, over all processes, and others are not affected', async () => {
  const limit = 256 * KILOBYTE;
  const { engine, nats } = await engineForTest({ shards: 1, maxBytesPerChannel: limit });
  const second = await anotherEngine(nats.servers);
  await publishText(engine, 'small', 'stays');
  const positions: Position[] = [];
  for (let at = 0; at < 600; at += 1) {
    const body = Buffer.alloc(2 * KILOBYTE, String(at % 10));
    const by = at % 2 === 0 ? engine : second;
    positions.push(
      (await by.publish('big', deliveryOf(body), { messageId: `${at}`, deadlineMs: WAIT_MS })).position,
    );
  }
  await untilHolds(async () => {
    const { bytes, stored } = await engine.status('big');
    expect(bytes).toBeGreaterThan(limit * 0.7);
    expect(bytes).toBeLessThan(limit * 1.4);
    expect(stored).toBeLessThan(200);
  });
  expect(await engine.status('small')).toMatchObject({ stored: 1 });

  const { received } = listen(second, 'big', positions[5]);
  await expect.poll(() => received.positions.at(-1)).toEqual(positions.at(-1));
  expect(received.gaps).toEqual([{ requested: positions[5], oldest: received.positions[0] }]);
});

test('a channel keeps its byte limit if its last deliveries arrive while the ones before are being counted', async () => {
  const { engine } = await engineForTest({ shards: 1, maxBytesPerChannel: 64 * KILOBYTE });
  const body = Buffer.alloc(2 * KILOBYTE);
  const publish = () =>
    engine.publish('big', deliveryOf(body), { messageId: undefined, deadlineMs: WAIT_MS });
  await Promise.all(Array.from({ length: 100 }, publish));
  await expect.poll(async () => (await engine.status('big')).stored).toBeLessThan(40);
});

test('a cursor from ready, with nothing of the channel before it, gets a gap if bytes were trimmed', async () => {
  const { engine } = await engineForTest({ shards: 1, maxBytesPerChannel: 64 * KILOBYTE });
  await publishText(engine, 'other', 'keeps the stream long');
  const { received, follower } = listen(engine, 'big');
  await expect.poll(() => received.ready).not.toBeNull();
  follower.close();
  for (let at = 0; at < 100; at += 1)
    await engine.publish('big', deliveryOf(Buffer.alloc(2 * KILOBYTE)), {
      messageId: undefined,
      deadlineMs: WAIT_MS,
    });
  await expect.poll(async () => (await engine.status('big')).stored).toBeLessThan(60);
  const again = listen(engine, 'big', received.ready ?? 'new');
  await expect.poll(() => again.received.gaps).toHaveLength(1);
});

test('status and lag are exact', async () => {
  const { engine } = await engineForTest({ shards: 1 });
  expect(await engine.status('one')).toEqual({ stored: 0, bytes: 0, oldest: null, newest: null });
  const first = await publishText(engine, 'one', 'a'.repeat(1000));
  await publishText(engine, 'other', 'x');
  await publishText(engine, 'one', 'b'.repeat(1000));
  const large = Buffer.alloc(3 * 1024 * KILOBYTE);
  const last = await engine.publish('one', deliveryOf(large), { messageId: 'large', deadlineMs: WAIT_MS });
  const again = await engine.publish('one', deliveryOf(large), { messageId: 'large', deadlineMs: WAIT_MS });
  expect(again).toEqual({ ...last, duplicate: true });
  const status = await engine.status('one');
  expect(status).toMatchObject({ stored: 3, oldest: first.position, newest: last.position });
  expect(status.bytes).toBeGreaterThan(2000 + large.length);
  expect(status.bytes).toBeLessThan(2000 + large.length + 1000);
  expect(await engine.countAfter('one', first.position)).toBe(2);
  expect(await engine.countAfter('one', last.position)).toBe(0);
  expect(await engine.countAfter('one', { epoch: 'another', seq: 1 })).toBe(3);
});
