// The byte limit per channel. JetStream counts a subject's messages, not its bytes, so each process counts what it
// stores, and after each sixteenth of a channel's limit it writes a note to the registry: up to which sequence, how many
// bytes. The notes of all processes add up to the size of the channel; if it is too large, the oldest deliveries are
// removed. The cost is one small write per sixteenth, and a channel may exceed its limit by a sixteenth per process.
// What a process had not noted when it died is not counted; age and the limits of the stream bound that.
import { EngineUnavailable, type Layout, type Names, shardOf } from '../engine/engine.ts';

import { type Publisher, PublishRefused } from '../engine/publisher.ts';
import type { ShardStates } from '../engine/shards.ts';
import type { Store } from '../engine/store.ts';

export type ByteLimit = {
  /** Called for each delivery that was stored here. */
  stored: (channelId: string, seq: number, bytes: number) => void;
  /** The bytes after a sequence, as far as known. */
  bytesAfter: (channelId: string, seq: number) => Promise<number>;
  /** The sequence below which deliveries were removed; 0 if none were. */
  trimmedBelow: (channelId: string) => Promise<number>;
};

/** A sequence, and the bytes stored up to it since the note before. */
type Note = [to: number, bytes: number];
/** The notes are in ascending order. */
type Ledger = { epoch: string; below: number; notes: Note[] };

const STEPS = 16;
const MAX_NOTES = 64;
const MAX_COUNTED_CHANNELS = 20_000;
const WRITE_WITHIN_MS = 8000;
const ATTEMPTS = 5;

export function createByteLimit(given: {
  publisher: Publisher;
  store: Store;
  shards: ShardStates;
  names: Names;
  layout: Layout;
}): ByteLimit {
  const { publisher, store, shards, names, layout } = given;
  const limit = layout.maxBytesPerChannel;
  const step = Math.ceil(limit / STEPS);
  const counted = new Map<string, Note[]>();
  const underWay = new Set<string>();

  function stored(channelId: string, seq: number, bytes: number): void {
    const notes = counted.get(channelId);
    const last = notes?.at(-1);
    if (notes === undefined) {
      counted.set(channelId, [[seq, bytes]]);
      if (counted.size > MAX_COUNTED_CHANNELS) forgetOldest();
    } else if (last !== undefined && last[1] < step) {
      last[0] = Math.max(last[0], seq);
      last[1] += bytes;
    } else notes.push([seq, bytes]);
    if (countedBytes(channelId) >= step) void noteDown(channelId);
  }

  const countedBytes = (channelId: string): number => sumOf(counted.get(channelId) ?? []);

  function forgetOldest(): void {
    const [oldest] = counted.keys();
    if (oldest === undefined) return;
    if (countedBytes(oldest) > step / 4) void noteDown(oldest);
    else counted.delete(oldest);
  }

  /** One at a time per channel; what is stored meanwhile is noted after it. */
  async function noteDown(channelId: string): Promise<void> {
    if (underWay.has(channelId)) return;
    underWay.add(channelId);
    let notes: Note[] = [];
    try {
      do {
        notes = counted.get(channelId) ?? [];
        counted.delete(channelId);
        await note(channelId, notes);
      } while (countedBytes(channelId) >= step);
    } catch (error) {
      if (!(error instanceof EngineUnavailable)) throw error;
      // Noted again after the next delivery.
      counted.set(channelId, [...notes, ...(counted.get(channelId) ?? [])]);
    } finally {
      underWay.delete(channelId);
    }
  }

  async function note(channelId: string, added: Note[]): Promise<void> {
    const shard = shardOf(channelId, layout);
    const { epoch } = await shards.fresh(shard);
    const oldest = await store.next(names.shardStream(shard), names.delivery(shard, channelId), 1);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const present = await store.leaderLast(names.registryStream, names.bytes(channelId));
      const ledger = withNotes(ledgerIn(present?.data, epoch), added, oldest?.seq ?? 0);
      const trimmed = trim(ledger, limit);
      if (await write(channelId, trimmed, present?.seq ?? 0)) {
        if (trimmed.below > ledger.below) await removeBelow(shard, channelId, trimmed.below);
        return;
      }
    }
    throw new EngineUnavailable('too many relays update the byte count of one channel at once');
  }

  /** False if another process wrote in between. */
  async function write(channelId: string, ledger: Ledger, expectedLast: number): Promise<boolean> {
    try {
      await publisher.publish({
        subject: names.bytes(channelId),
        payload: Buffer.from(JSON.stringify(ledger)),
        messageId: `bytes:${channelId}:${ledger.epoch}:${expectedLast}:${process.pid}:${Math.random()}`,
        deadlineMs: WRITE_WITHIN_MS,
        expectedLast,
      });
      return true;
    } catch (error) {
      if (error instanceof PublishRefused) return false;
      throw error;
    }
  }

  /** `below` was saved before, so a cursor below it gets a gap. */
  async function removeBelow(shard: number, channelId: string, below: number): Promise<void> {
    const stream = names.shardStream(shard);
    await store.purge(stream, names.delivery(shard, channelId), below);
    await store.purge(stream, names.part(shard, channelId, '*', '*'), below);
  }

  async function ledgerOf(channelId: string): Promise<Ledger> {
    const message = await store.last(names.registryStream, names.bytes(channelId));
    return ledgerIn(message?.data, shards.known(shardOf(channelId, layout))?.epoch ?? '');
  }

  return {
    stored,
    async bytesAfter(channelId, seq) {
      const { notes } = await ledgerOf(channelId);
      return sumOf(notes.filter(([to]) => to > seq)) + countedBytes(channelId);
    },
    trimmedBelow: async (channelId) => (await ledgerOf(channelId)).below,
  };
}

/** A ledger of an earlier stream with this name does not count. */
function ledgerIn(data: Uint8Array | undefined, epoch: string): Ledger {
  const fresh: Ledger = { epoch, below: 0, notes: [] };
  if (data === undefined) return fresh;
  const ledger: Ledger = JSON.parse(Buffer.from(data).toString());
  return ledger.epoch === epoch ? ledger : fresh;
}

/** Drops the notes of deliveries that were removed by age or count. */
function withNotes(ledger: Ledger, added: Note[], oldestKept: number): Ledger {
  const notes = [...ledger.notes, ...added]
    .filter(([to]) => to >= oldestKept)
    .toSorted(([one], [other]) => one - other);
  return { ...ledger, notes: notes.slice(-MAX_NOTES) };
}

/** Keeps the newest notes that fit into the limit; the rest is removed. The newest note always stays. */
function trim(ledger: Ledger, limit: number): Ledger {
  let sum = 0;
  for (let at = ledger.notes.length - 1; at >= 0; at -= 1) {
    const [to, bytes] = ledger.notes[at] ?? [0, 0];
    sum += bytes;
    if (sum <= limit || at === ledger.notes.length - 1) continue;
    return { ...ledger, below: Math.max(ledger.below, to + 1), notes: ledger.notes.slice(at + 1) };
  }
  return ledger;
}

const sumOf = (notes: Note[]): number => notes.reduce((sum, [, bytes]) => sum + bytes, 0);
