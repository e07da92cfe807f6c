// Which channels exist. The registry stream keeps one message per channel, which is its value; each process
// remembers a bounded number of those it has seen.
import { randomUUID } from 'node:crypto';
import type { DirectReads } from './direct-read.ts';
import type { Channel } from './engine.ts';
import { ChannelTaken, EngineUnavailable } from './errors.ts';
import type { Names } from './names.ts';
import { type Publisher, PublishRefused } from './publisher.ts';
import type { StreamApi } from './stream-api.ts';

export type ChannelRegistry = {
  create: (channel: Channel) => Promise<void>;
  find: (id: string, withinMs?: number) => Promise<Channel | undefined>;
};

const MAX_REMEMBERED = 50_000;
/** After so long a channel is looked up again; until the engine answers, what is remembered counts. */
const REMEMBER_MS = 60_000;
/** And nobody waits for that, unless the channel was not asked for during so long. */
const COUNTS_MEANWHILE_MS = 10 * 60_000;
const CREATE_WITHIN_MS = 8000;
const WRONG_LAST_SEQUENCE = 10071;

/** `found` is resolved: it is handed out for every delivery. */
type Remembered = { channel: Channel; found: Promise<Channel>; at: number };

export function createChannelRegistry(
  {
    publisher,
    reads,
    api,
    names,
  }: { publisher: Publisher; reads: DirectReads; api: StreamApi; names: Names },
  now: () => number = Date.now,
): ChannelRegistry {
  const remembered = new Map<string, Remembered>();
  const lookups = new Map<string, Promise<Channel | undefined>>();
  const stream = names.registryStream;

  function remember(channel: Channel): void {
    remembered.delete(channel.id);
    remembered.set(channel.id, { channel, found: Promise.resolve(channel), at: now() });
    const oldest = remembered.size > MAX_REMEMBERED ? remembered.keys().next().value : undefined;
    if (oldest !== undefined) remembered.delete(oldest);
  }

  /** What a replica does not have yet, the leader has: a channel made elsewhere is found at once. */
  async function lookUp(id: string): Promise<Channel | undefined> {
    const subject = names.channel(id);
    const message =
      (await reads.last(stream, subject)) ?? (await api.read(stream, { last_by_subj: subject }));
    if (message === undefined) {
      remembered.delete(id);
      return undefined;
    }
    const channel = readChannel(id, message.data);
    remember(channel);
    return channel;
  }

  function find(id: string, withinMs?: number): Promise<Channel | undefined> {
    const known = remembered.get(id);
    const age = known === undefined ? 0 : now() - known.at;
    if (known !== undefined && age < REMEMBER_MS) return known.found;
    const lookup = lookups.get(id) ?? startLookup(id, known?.channel);
    if (known !== undefined && age < COUNTS_MEANWHILE_MS) {
      // Should it fail for another reason than the engine, the next one that waits for it is told.
      lookup.catch(() => remembered.delete(id));
      return known.found;
    }
    return withinMs === undefined ? lookup : inTime(lookup, withinMs);
  }

  /** One for all that ask meanwhile. */
  function startLookup(id: string, known: Channel | undefined): Promise<Channel | undefined> {
    const lookup = lookUp(id)
      .catch((error: unknown) => {
        if (known !== undefined && error instanceof EngineUnavailable) return known;
        throw error;
      })
      .finally(() => lookups.delete(id));
    lookups.set(id, lookup);
    return lookup;
  }

  async function create(channel: Channel): Promise<void> {
    const subject = names.channel(channel.id);
    const payload = Buffer.from(writeChannel(channel));
    const messageId = `channel:${channel.id}:${randomUUID()}`;
    try {
      await publisher.publish({ subject, payload, messageId, deadlineMs: CREATE_WITHIN_MS, expectedLast: 0 });
    } catch (error) {
      if (!(error instanceof PublishRefused)) throw error;
      if (error.code !== WRONG_LAST_SEQUENCE) throw new EngineUnavailable(error.message, { cause: error });
      // Ours, when an acknowledgement was lost on its way.
      const present = await api.read(stream, { last_by_subj: subject });
      if (present === undefined || !present.data.equals(payload))
        throw new ChannelTaken(`channel ${channel.id} exists`, { cause: error });
    }
    remember(channel);
  }

  return { create, find };
}

async function inTime(lookup: Promise<Channel | undefined>, withinMs: number): Promise<Channel | undefined> {
  const timer = Promise.withResolvers<never>();
  const late = setTimeout(
    () => timer.reject(new EngineUnavailable(`a channel was not found out within ${withinMs} ms`)),
    withinMs,
  );
  try {
    return await Promise.race([lookup, timer.promise]);
  } finally {
    clearTimeout(late);
  }
}

function writeChannel({ readKeyHash, createdAt }: Channel): string {
  return JSON.stringify({ readKeyHash, createdAt });
}

function readChannel(id: string, data: Uint8Array): Channel {
  const { readKeyHash, createdAt }: Omit<Channel, 'id'> = JSON.parse(Buffer.from(data).toString());
  if (readKeyHash !== null && typeof readKeyHash !== 'string')
    throw new EngineUnavailable(`the registry's entry for channel ${id} cannot be read`);
  return { id, readKeyHash, createdAt };
}
