import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Position, StoredDelivery } from '../engine/engine.ts';
import type { Cursor, CursorKeeper } from './cursor-keeper.ts';
import { createMetrics } from './metrics.ts';
import { createSubscribers, type Subscriber } from './subscribers.ts';

const PING_MS = 30_000;
const position = (seq: number): Position => ({ epoch: 'e', seq });
const stored = (seq: number): StoredDelivery => ({
  position: position(seq),
  delivery: { headers: {}, query: {}, receivedAt: 1, body: Buffer.from('{}') },
});

function fakeSocket() {
  const written: string[] = [];
  const socket = Object.assign(new EventEmitter(), {
    written,
    writableLength: 0,
    destroyed: false,
    cork: () => undefined,
    uncork: () => undefined,
    write: (text: Buffer | string) => written.push(text.toString()),
    setTimeout: () => undefined,
    destroySoon: () => undefined,
    destroy() {
      socket.destroyed = true;
      socket.emit('close');
    },
  });
  return socket;
}

function set() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const moved: (Position | null)[] = [];
  const cursors: CursorKeeper = {
    begin: () => undefined,
    moved: ({ at }) => void moved.push(at),
    release: () => undefined,
    drop: () => undefined,
    settle: async () => undefined,
  };
  const metrics = createMetrics();
  const subscribers = createSubscribers({
    cursors,
    metrics,
    pingMs: PING_MS,
    stallMs: 1000,
    maxUnsentBytes: 64 * 1024 * 1024,
  });
  const add = (cursor: Cursor | null = null) => {
    const socket = fakeSocket();
    const subscriber = subscribers.add({
      socket: socket as unknown as Socket,
      channel: 'c',
      address: 'a',
      raw: true,
      cursor,
      acknowledges: false,
      head: 'HEAD\r\n\r\n',
    });
    return { socket, subscriber };
  };
  return { subscribers, add, moved, metrics };
}

const follow = (subscriber: Subscriber, at: () => Position | null): void => {
  subscriber.follower = { resume: () => undefined, close: () => undefined, position: at };
};

test('head and ready are sent together', () => {
  const { subscribers, add } = set();
  const { socket, subscriber } = add();
  subscribers.ready(subscriber, position(4));
  expect(socket.written).toEqual([
    expect.stringMatching(/^HEAD\r\n\r\nretry: \d+\nevent: ready\ndata: .*e\.4.*\n\n$/),
  ]);
});

test('a reader gets the head of its stream even while the engine is slow to start it', () => {
  const { subscribers, add } = set();
  const { socket, subscriber } = add();
  vi.advanceTimersByTime(PING_MS);
  expect(socket.written.join('')).toBe('HEAD\r\n\r\nevent: ping\ndata: {}\n\n');
  subscribers.ready(subscriber, position(4));
  expect(socket.written.join('').match(/HEAD/g)).toHaveLength(1);
});

test('every reader gets a heartbeat in every interval, and regularly its position', () => {
  const { subscribers, add } = set();
  const readers = Array.from({ length: 25 }, () => add());
  for (const { subscriber } of readers) {
    follow(subscriber, () => position(9));
    subscribers.ready(subscriber, position(4));
  }
  vi.advanceTimersByTime(20 * 60_000);
  for (const { socket } of readers) {
    const pings = socket.written.filter((text) => text.startsWith('event: ping'));
    expect(pings).toHaveLength(40);
    const positions = pings.filter((text) => text === 'event: ping\ndata: {"position":"e.9"}\n\n');
    expect(positions).toHaveLength(2);
  }
});

test('a reader that has not read the last frames gets no additional heartbeat', () => {
  const { subscribers, add } = set();
  const { socket, subscriber } = add();
  subscribers.ready(subscriber, position(1));
  socket.writableLength = 100;
  vi.advanceTimersByTime(10 * PING_MS);
  expect(socket.written).toHaveLength(1);
});

test('a cursor moves when what was written has been sent, not before', async () => {
  const { subscribers, add, moved } = set();
  const { socket, subscriber } = add({
    channel: 'c',
    subscriber: 'laptop',
    at: position(0),
    saved: position(0),
  });
  subscribers.ready(subscriber, position(0));
  await Promise.resolve();
  moved.length = 0;
  socket.writableLength = 500;
  subscribers.deliver(subscriber, stored(1));
  await new Promise((resume) => setImmediate(resume));
  expect(moved).toEqual([]);
  socket.writableLength = 0;
  socket.emit('drain');
  expect(moved).toEqual([position(1)]);
  subscribers.deliver(subscriber, stored(2));
  socket.destroyed = true;
  await new Promise((resume) => setImmediate(resume));
  expect(moved).toEqual([position(1)]);
});

test('a reader with 1 MiB of unsent data is paused, and one with 8 MiB is disconnected', async () => {
  const { subscribers, add, metrics } = set();
  const { socket, subscriber } = add();
  let resumed = 0;
  subscriber.follower = { resume: () => void (resumed += 1), close: () => undefined, position: () => null };
  expect(subscribers.deliver(subscriber, stored(1))).toBe(true);
  socket.writableLength = 1024 * 1024;
  expect(subscribers.deliver(subscriber, stored(2))).toBe(false);
  socket.writableLength = 0;
  socket.emit('drain');
  expect(resumed).toBe(1);
  socket.writableLength = 8 * 1024 * 1024 + 1;
  expect(subscribers.deliver(subscriber, stored(3))).toBe(false);
  expect([socket.destroyed, subscribers.count()]).toEqual([true, 0]);
  expect(await metrics.registry.metrics()).toContain('reason="slow"} 1');
});

const large = (seq: number, megabytes: number): StoredDelivery => ({
  position: position(seq),
  delivery: { headers: {}, query: {}, receivedAt: 1, body: Buffer.alloc(megabytes * 1024 * 1024, 7) },
});

test('a large delivery is written as fast as it is read, and completely', () => {
  const { subscribers, add } = set();
  const { socket, subscriber } = add();
  let resumed = 0;
  subscriber.follower = { resume: () => void (resumed += 1), close: () => undefined, position: () => null };
  // What is written stays in the socket until the reader reads it.
  const written: Buffer[] = [];
  socket.write = (piece: Buffer | string) => {
    written.push(Buffer.from(piece as Buffer));
    socket.writableLength += piece.length;
    return 1;
  };
  expect(subscribers.deliver(subscriber, large(1, 24))).toBe(false);
  expect(socket.writableLength).toBeLessThan(2 * 1024 * 1024);
  expect(subscriber.position).toBeNull();
  for (let drains = 0; drains < 100; drains += 1) {
    socket.writableLength = 0;
    socket.emit('drain');
    expect(socket.writableLength).toBeLessThan(2 * 1024 * 1024);
  }
  expect(resumed).toBe(1);
  expect(subscriber.position).toEqual(position(1));
  const { data } =
    /^id: e\.1\ndata: (?<data>.*)\n\n$/.exec(Buffer.concat(written).toString('latin1'))?.groups ?? {};
  expect(Buffer.from(JSON.parse(data ?? '{}').bodyB, 'base64').equals(large(1, 24).delivery.body)).toBe(true);
});

test('above the budget those with the most unsent data are disconnected, and no others', async () => {
  const { subscribers, add } = set();
  const small = add();
  small.socket.writableLength = 1000;
  subscribers.deliver(small.subscriber, stored(1));
  const stuck = Array.from({ length: 10 }, () => add());
  for (const { socket, subscriber } of stuck) {
    socket.writableLength = 2 * 1024 * 1024;
    subscribers.deliver(subscriber, large(1, 24));
  }
  await new Promise((resume) => setImmediate(resume));
  expect(subscribers.unsentBytes()).toBeLessThanOrEqual(64 * 1024 * 1024);
  expect(stuck.filter(({ socket }) => socket.destroyed)).toHaveLength(8);
  expect(small.socket.destroyed).toBe(false);
  for (const { socket } of [small, ...stuck]) if (!socket.destroyed) socket.destroy();
  expect([subscribers.unsentBytes(), subscribers.count(), subscribers.ofAddress('a')]).toEqual([0, 0, 0]);
});
