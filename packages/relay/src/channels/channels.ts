// What is stored about channels besides their deliveries. The registry stream has one message per channel and the cursor
// stream one per named subscriber: the newest is the value. A cursor that is not written for 30 days is removed.
import { randomUUID } from 'node:crypto';
import { createLimit } from '@svc/lib/limit';
import { createFlights } from '@svc/lib/single-flight';
import { within } from '@svc/lib/timeout';
import {
  type Channel,
  ChannelTaken,
  type Engine,
  EngineUnavailable,
  type Layout,
  type Names,
  type Position,
  type SavedCursor,
  shardOf,
} from '../engine/engine.ts';
import { type Publisher, PublishRefused } from '../engine/publisher.ts';
import type { ShardStates } from '../engine/shards.ts';
import type { Store, StoredMessage } from '../engine/store.ts';
import type { ByteLimit } from './byte-limit.ts';

const MAX_REMEMBERED = 50_000;
/** After this time a channel is looked up again; until the engine answers, the cached value is used. */
const REMEMBER_MS = 60_000;
/** Callers do not wait for that, unless the channel was not used for this long. */
const COUNTS_MEANWHILE_MS = 10 * 60_000;
const WRITE_WITHIN_MS = 8000;
const WRONG_LAST_SEQUENCE = 10071;
/** Most cursors of one channel that are returned. */
const MAX_CURSORS = 1000;
const READS_AT_ONCE = 32;
const STATUS_AT_ONCE = 8;
/** Most deliveries of a channel whose sizes are added up one by one. */
const MAX_WEIGHED = 1000;

type Tools = {
  publisher: Pick<Publisher, 'publish'>;
  store: Pick<Store, 'last' | 'leaderLast' | 'info'>;
  names: Names;
};

/** If a replica does not have it yet, the leader is asked. */
async function newest({ store }: Tools, stream: string, subject: string): Promise<StoredMessage | undefined> {
  return (await store.last(stream, subject)) ?? (await store.leaderLast(stream, subject));
}

/** Each process caches a bounded number of channels. */
export function createChannelRegistry(
  tools: Tools,
  now: () => number = Date.now,
): Pick<Engine, 'createChannel' | 'findChannel'> {
  const { publisher, store, names } = tools;
  /** `found` is already resolved: it is returned for every delivery. */
  const remembered = new Map<string, { channel: Channel; found: Promise<Channel>; at: number }>();
  /** Concurrent lookups of a channel share one request. */
  const lookups = createFlights<Channel | undefined>();

  function remember(channel: Channel): void {
    remembered.delete(channel.id);
    remembered.set(channel.id, { channel, found: Promise.resolve(channel), at: now() });
    const oldest = remembered.size > MAX_REMEMBERED ? remembered.keys().next().value : undefined;
    if (oldest !== undefined) remembered.delete(oldest);
  }

  async function lookUp(id: string): Promise<Channel | undefined> {
    const message = await newest(tools, names.registryStream, names.channel(id));
    if (message === undefined) {
      remembered.delete(id);
      return undefined;
    }
    const channel = readChannel(id, message.data);
    remember(channel);
    return channel;
  }

  async function lookUpOrKnown(id: string, known: Channel | undefined): Promise<Channel | undefined> {
    try {
      return await lookUp(id);
    } catch (error) {
      if (known !== undefined && error instanceof EngineUnavailable) return known;
      throw error;
    }
  }

  return {
    findChannel(id, withinMs) {
      const known = remembered.get(id);
      const age = known === undefined ? 0 : now() - known.at;
      if (known !== undefined && age < REMEMBER_MS) return known.found;
      const lookup = lookups(id, () => lookUpOrKnown(id, known?.channel));
      if (known === undefined || age >= COUNTS_MEANWHILE_MS)
        return withinMs === undefined ? lookup : within(lookup, withinMs, () => notInTime(withinMs));
      // If it fails for another reason than the engine, the next caller gets the error.
      lookup.catch(() => remembered.delete(id));
      return known.found;
    },
    async createChannel(channel) {
      const subject = names.channel(channel.id);
      const { id: _, ...entry } = channel;
      const payload = Buffer.from(JSON.stringify(entry));
      const messageId = `channel:${channel.id}:${randomUUID()}`;
      try {
        await publisher.publish({
          subject,
          payload,
          messageId,
          deadlineMs: WRITE_WITHIN_MS,
          expectedLast: 0,
        });
      } catch (error) {
        if (!(error instanceof PublishRefused)) throw error;
        if (error.code !== WRONG_LAST_SEQUENCE) throw new EngineUnavailable(error.message, { cause: error });
        // It is our own message if only the acknowledgement was lost.
        const present = await store.leaderLast(names.registryStream, subject);
        if (present === undefined || !payload.equals(present.data))
          throw new ChannelTaken(`channel ${channel.id} exists`, { cause: error });
      }
      remember(channel);
    },
  };
}

function notInTime(withinMs: number): never {
  throw new EngineUnavailable(`a channel could not be looked up within ${withinMs} ms`);
}

function readChannel(id: string, data: Uint8Array): Channel {
  const { readKeyHash, createdAt, admin }: Omit<Channel, 'id'> = JSON.parse(Buffer.from(data).toString());
  if (readKeyHash !== null && typeof readKeyHash !== 'string')
    throw new EngineUnavailable(`the registry's entry for channel ${id} cannot be read`);
  return { id, readKeyHash, createdAt, ...(admin !== undefined && { admin }) };
}

export function createCursors(tools: Tools): Pick<Engine, 'saveCursor' | 'cursor' | 'cursors'> {
  const { publisher, store, names } = tools;

  async function read(subject: string): Promise<SavedCursor | undefined> {
    const message = await newest(tools, names.cursorStream, subject);
    if (message === undefined) return undefined;
    const text = Buffer.from(message.data).toString();
    const { subscriber, at, ...position }: Position & { subscriber: string; at: number } = JSON.parse(text);
    return { subscriber, position, at };
  }

  return {
    async saveCursor(channelId, subscriber, { epoch, seq, check }) {
      const at = Date.now();
      const subject = names.cursor(channelId, tokenOf(subscriber));
      await publisher.publish({
        subject,
        payload: Buffer.from(JSON.stringify({ subscriber, epoch, seq, check, at })),
        messageId: `${subject}:${epoch}.${seq}:${at}`,
        deadlineMs: WRITE_WITHIN_MS,
      });
    },
    cursor: (channelId, subscriber) => read(names.cursor(channelId, tokenOf(subscriber))),
    async cursors(channelId) {
      const info = await store.info(names.cursorStream, names.cursor(channelId, '*'));
      const subjects = Object.keys(info?.state.subjects ?? {}).slice(0, MAX_CURSORS);
      const limit = createLimit(READS_AT_ONCE);
      const found = await Promise.all(subjects.map((subject) => limit(() => read(subject))));
      return found.filter((cursor) => cursor !== undefined);
    },
  };
}

/** Any name, as one token of a subject. */
const tokenOf = (subscriber: string): string => Buffer.from(subscriber).toString('base64url');

export function createChannelStatus(given: {
  store: Store;
  shards: ShardStates;
  byteLimit: ByteLimit;
  names: Names;
  layout: Layout;
}): Pick<Engine, 'status' | 'countAfter'> {
  const { store, shards, byteLimit, names, layout } = given;
  const limit = createLimit(STATUS_AT_ONCE);

  const placeOf = (channelId: string) => {
    const shard = shardOf(channelId, layout);
    return { shard, stream: names.shardStream(shard), subject: names.delivery(shard, channelId) };
  };

  async function status(channelId: string) {
    const { shard, stream, subject } = placeOf(channelId);
    const [{ epoch }, stored, first, last] = await Promise.all([
      shards.fresh(shard),
      store.count(stream, subject, 0),
      store.next(stream, subject, 1),
      store.last(stream, subject),
    ]);
    const bytes =
      stored > MAX_WEIGHED
        ? await byteLimit.bytesAfter(channelId, (first?.seq ?? 1) - 1)
        : await store.weigh(stream, subject, stored);
    const position = (message: StoredMessage | undefined): Position | null =>
      message === undefined ? null : { epoch, seq: message.seq, check: message.check };
    return { stored, bytes, oldest: position(first), newest: position(last) };
  }

  return {
    status: (channelId) => limit(() => status(channelId)),
    countAfter: (channelId, position) =>
      limit(async () => {
        const { shard, stream, subject } = placeOf(channelId);
        const { epoch, last } = await shards.fresh(shard);
        // After a position of an earlier stream with this name, everything is still to come.
        const seq = position.epoch === epoch ? position.seq : 0;
        return seq >= last ? 0 : store.count(stream, subject, seq);
      }),
  };
}
