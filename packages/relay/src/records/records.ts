// The records of teams in JetStream: one message per path, the newest is the value. A reader gets every path that changed
// after its position, possibly twice. A record has a version, so that does no harm, and reading is simple: pages of the
// stream after a position. A live copy only announces that there is something to read.
//
// All readers of a channel in this process share a feed, which reads each change once; those of one path have their own. A
// reader that is new, or too slow, reads by itself until it has what the feed has.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Subscription } from '@nats-io/nats-core';
import { asError } from '@svc/lib/errors';
import type { Connection } from '../engine/connection.ts';
import {
  EngineClosed,
  EngineUnavailable,
  type Layout,
  type Names,
  type RecordReading,
  type Records,
  shardOf,
} from '../engine/engine.ts';
import { type Publisher, PublishRefused } from '../engine/publisher.ts';
import type { Store, StoredMessage } from '../engine/store.ts';

/** The path was written meanwhile: look at it again. */
export class RecordChanged extends Error {}

const LOOK_EVERY_MS = 5000;
/** A replica that is behind is asked again; then the leader is asked. */
const BEHIND_MS = 10;
const BEHIND_BEFORE_LEADER = 20;
const LONGEST_PAUSE_MS = 2000;
const WRONG_LAST_SEQUENCE = 10071;

type Reader = RecordReading & { cursor: number; hasRoom: boolean; isReady: boolean; isClosed: boolean };

type Feed = {
  stream: string;
  subject: string;
  epoch: string;
  /** When the stream itself is looked at again. */
  lookAt: number;
  subscription: Subscription | null;
  /** Everything up to it was passed to `readers`. */
  cursor: number;
  /** What a live copy has announced. */
  wanted: number;
  wake: () => void;
  /** Those that have everything up to the cursor, and all others. */
  readers: Set<Reader>;
  others: Set<Reader>;
};

export function createRecords(given: {
  connection: Connection;
  publisher: Pick<Publisher, 'publish'>;
  store: Store;
  names: Names;
  layout: Layout;
}): Records {
  const { connection, publisher, store, names, layout } = given;
  /** By subject. */
  const feeds = new Map<string, Feed>();

  const placeOf = (channelId: string, path: string) => {
    const shard = shardOf(channelId, layout);
    return { stream: names.recordStream(shard), subject: names.record(shard, channelId, path) };
  };

  function openFeed(channelId: string, path: string): Feed {
    const feed: Feed = {
      ...placeOf(channelId, path),
      epoch: '',
      lookAt: 0,
      subscription: null,
      cursor: 0,
      wanted: 0,
      wake: () => undefined,
      readers: new Set(),
      others: new Set(),
    };
    feed.subscription = connection.nats.subscribe(
      names.announced(shardOf(channelId, layout), channelId, path),
      {
        callback(error, message) {
          if (error !== null) return;
          feed.wanted = Math.max(feed.wanted, Number(message.headers?.get('Nats-Sequence')));
          feed.wake();
        },
      },
    );
    feeds.set(feed.subject, feed);
    return feed;
  }

  /** Until the last reader has left. */
  async function run(feed: Feed): Promise<void> {
    for (let failures = 0; feed.readers.size + feed.others.size > 0; ) {
      try {
        await readOn(feed);
        failures = 0;
      } catch (error) {
        if (!(error instanceof EngineUnavailable)) endAll(feed, asError(error));
        failures += 1;
        await sleep(Math.min(LONGEST_PAUSE_MS, 50 * 2 ** failures));
      }
    }
    if (!connection.nats.isClosed()) feed.subscription?.unsubscribe();
    if (feeds.get(feed.subject) === feed) feeds.delete(feed.subject);
  }

  async function readOn(feed: Feed): Promise<void> {
    if (performance.now() >= feed.lookAt) {
      const epoch = await epochOf(feed.stream);
      // The stream was created again: the readers come back, and get everything.
      if (feed.epoch !== '' && feed.epoch !== epoch)
        return endAll(feed, new EngineUnavailable(`${feed.stream} was created again`));
      feed.epoch = epoch;
      feed.lookAt = performance.now() + LOOK_EVERY_MS;
    }
    for (const reader of feed.others) await catchUp(feed, reader);
    if (feed.readers.size > 0) await readShared(feed);
    if (feed.wanted > feed.cursor || [...feed.others].some(({ hasRoom }) => hasRoom)) return;
    await announced(feed);
  }

  async function epochOf(stream: string): Promise<string> {
    const info = await store.info(stream);
    if (info === undefined)
      throw new EngineUnavailable(`stream ${stream} is missing: run svc-relay provision`);
    return Date.parse(info.created).toString(36);
  }

  /** A reader by itself, until it has what the feed has or there is no space. */
  async function catchUp(feed: Feed, reader: Reader): Promise<void> {
    const isComplete = reader.after?.epoch !== feed.epoch;
    if (!reader.isReady && reader.cursor === 0 && !isComplete) reader.cursor = reader.after?.seq ?? 0;
    for (let end = false; !end && reader.hasRoom && !reader.isClosed; ) {
      const page = await store.page(feed.stream, feed.subject, reader.cursor);
      for (const message of page.messages) if (reader.hasRoom) pass(feed, reader, message);
      if (!page.end) continue;
      // A replica that is behind ends too early, and what was not sent would count as removed.
      const next = isComplete ? await leaderAfter(feed, reader.cursor) : undefined;
      if (next !== undefined && reader.hasRoom) pass(feed, reader, next);
      end = next === undefined;
    }
    if (!reader.hasRoom || reader.isClosed) return;
    feed.others.delete(reader);
    feed.readers.add(reader);
    // Some may come twice.
    feed.cursor = feed.readers.size === 1 ? reader.cursor : Math.min(feed.cursor, reader.cursor);
    if (reader.isReady) return;
    reader.isReady = true;
    reader.onReady({ epoch: feed.epoch, seq: reader.cursor }, isComplete);
  }

  const leaderAfter = (feed: Feed, cursor: number) => store.leaderNext(feed.stream, feed.subject, cursor + 1);

  async function readShared(feed: Feed): Promise<void> {
    for (let behind = 0; ; ) {
      const page = await store.page(feed.stream, feed.subject, feed.cursor);
      for (const message of page.messages) passToAll(feed, message);
      if (!page.end) continue;
      if (feed.cursor >= feed.wanted) return;
      behind = page.messages.length > 0 ? 0 : behind + 1;
      if (behind > BEHIND_BEFORE_LEADER) break;
      await sleep(BEHIND_MS);
    }
    const { wanted } = feed;
    for (;;) {
      const next = await leaderAfter(feed, feed.cursor);
      if (next === undefined) break;
      passToAll(feed, next);
    }
    // What was announced has been replaced or removed since.
    feed.cursor = Math.max(feed.cursor, wanted);
  }

  function passToAll(feed: Feed, message: StoredMessage): void {
    feed.cursor = Math.max(feed.cursor, message.seq);
    for (const reader of feed.readers) {
      pass(feed, reader, message);
      if (reader.hasRoom) continue;
      feed.readers.delete(reader);
      feed.others.add(reader);
    }
  }

  function pass(feed: Feed, reader: Reader, { seq, data }: StoredMessage): void {
    if (reader.isClosed) return;
    reader.cursor = Math.max(reader.cursor, seq);
    reader.hasRoom = reader.onRecord(data, { epoch: feed.epoch, seq });
  }

  /** Until something is announced, or for some seconds: an announcement may be lost. */
  async function announced(feed: Feed): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, LOOK_EVERY_MS);
    feed.wake = resolve;
    await promise;
    clearTimeout(timer);
  }

  function leave(feed: Feed, reader: Reader): void {
    reader.isClosed = true;
    feed.readers.delete(reader);
    feed.others.delete(reader);
    feed.wake();
  }

  function endAll(feed: Feed, reason: Error): void {
    for (const reader of [...feed.readers, ...feed.others]) {
      leave(feed, reader);
      reader.onEnd(reason);
    }
  }

  return {
    /** The newest at a path, from the leader. */
    async last(channelId: string, path: string): Promise<{ seq: number; data: Uint8Array } | undefined> {
      const { stream, subject } = placeOf(channelId, path);
      return store.leaderLast(stream, subject);
    },
    count(channelId: string, machine: string): Promise<number> {
      const { stream, subject } = placeOf(channelId, `${machine}.>`);
      return store.count(stream, subject, 0);
    },
    /** Durable before it resolves. Fails with RecordChanged if the last message of the path is not the expected one. */
    async put(
      channelId: string,
      path: string,
      data: Uint8Array,
      options: { messageId: string; expectedLast: number; deadlineMs: number; ttlSeconds?: number },
    ): Promise<{ seq: number }> {
      const { subject } = placeOf(channelId, path);
      try {
        return await publisher.publish({ subject, payload: data, ...options });
      } catch (error) {
        if (!(error instanceof PublishRefused)) throw error;
        if (error.code === WRONG_LAST_SEQUENCE) throw new RecordChanged(path, { cause: error });
        throw new EngineUnavailable(error.message, { cause: error });
      }
    },
    async forget(channelId: string, machine: string): Promise<void> {
      const { stream, subject } = placeOf(channelId, `${machine}.>`);
      await store.purge(stream, subject);
    },
    follow(channelId: string, reading: RecordReading) {
      const reader: Reader = { ...reading, cursor: 0, hasRoom: true, isReady: false, isClosed: false };
      const known = feeds.get(placeOf(channelId, reading.path).subject);
      const feed = known ?? openFeed(channelId, reading.path);
      feed.others.add(reader);
      if (known === undefined) void run(feed);
      else feed.wake();
      return {
        resume(): void {
          reader.hasRoom = true;
          feed.wake();
        },
        close: () => leave(feed, reader),
      };
    },
    close(): void {
      for (const feed of feeds.values()) endAll(feed, new EngineClosed('the relay is stopping'));
    },
  };
}
