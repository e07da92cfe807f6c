// Stores a delivery in its shard: in one message, or in parts and a head if it is too large for one. The parts are
// stored and acknowledged before the head that names them, so they are readable when the head is. They are in the same
// stream and expire with it; a head whose parts are gone is reported as a gap.
import { hash, randomBytes } from 'node:crypto';
import { createLimit } from '@svc/lib/limit';
import type { Connection } from '../engine/connection.ts';
import {
  type Delivery,
  type Engine,
  EngineUnavailable,
  type Layout,
  type Names,
  type Position,
  shardOf,
} from '../engine/engine.ts';

import { type Acknowledgement, HEADERS_BYTES, type Publisher, PublishRefused } from '../engine/publisher.ts';
import type { ShardStates } from '../engine/shards.ts';
import type { Store } from '../engine/store.ts';
import { type BodyParts, checkOf, decodeFrame, encodeFrame, encodeFrameOfParts } from '../protocol/frame.ts';
import type { ByteLimit } from './byte-limit.ts';

/** The server's default. */
const USUAL_MAX_PAYLOAD = 1024 * 1024;
/** Larger messages slow a cluster down, whatever the server allows. */
const LARGEST_MESSAGE = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 4;
/** A stream remembers stored ids for 5 minutes. After this time we do not rely on it. */
const REMEMBERED_MS = 4 * 60_000;
/** How much the clocks of a relay and a NATS node may differ. */
const CLOCKS_MS = 60_000;
const MAX_LOOKED_THROUGH = 16;

export function createDeliveryPublisher(given: {
  connection: Connection;
  publisher: Publisher;
  byteLimit: ByteLimit;
  shards: ShardStates;
  store: Store;
  names: Names;
  layout: Layout;
  /** A shard did not acknowledge in time. */
  onUnavailable: (shard: number) => void;
}): Engine['publish'] {
  const { connection, publisher, byteLimit, shards, store, names, layout, onUnavailable } = given;
  const ownId = randomBytes(9).toString('base64url');
  let unnamed = 0;

  /**
   * Includes the body: a different body under a known id is another delivery, not a repetition. This hash takes two
   * thirds of the time of SHA-256 on processors without instructions for that.
   */
  function idOf(channelId: string, { body }: Delivery, messageId: string | undefined): string {
    unnamed += 1;
    if (messageId === undefined) return `${channelId}:${ownId}${unnamed}`;
    return `${channelId}:${messageId}:${hash('sha512-256', body, 'base64url')}`;
  }

  function positionOf(shard: number, seq: number, id: string): Position {
    return { epoch: shards.known(shard)?.epoch ?? '', seq, check: checkOf(id) };
  }

  async function storeInParts(
    shard: number,
    channelId: string,
    delivery: Delivery,
    messageId: string,
    deadlineMs: number,
    partBytes: number,
  ): Promise<Acknowledgement> {
    const deadline = performance.now() + deadlineMs;
    const { body } = delivery;
    // Part of every part's subject, so the parts of a repetition can be removed.
    const name = randomBytes(12).toString('hex');
    const sequences = Array.from({ length: Math.ceil(body.length / partBytes) }, () => 0);
    const parts = sequences.keys();
    const storeSome = async (): Promise<void> => {
      for (const part of parts) {
        const { seq } = await publisher.publish({
          subject: names.part(shard, channelId, name, part),
          payload: body.subarray(part * partBytes, (part + 1) * partBytes),
          messageId: `${name}.${part}`,
          deadlineMs: deadline - performance.now(),
        });
        sequences[part] = seq;
      }
    };
    await Promise.all(Array.from({ length: PARTS_AT_ONCE }, storeSome));
    const stored = await publisher.publish({
      subject: names.delivery(shard, channelId),
      payload: encodeFrameOfParts(delivery, { size: body.length, sequences }),
      messageId,
      deadlineMs: deadline - performance.now(),
      bodySize: body.length,
    });
    // No head names these parts. If this fails, they expire; the sender does not wait for it.
    if (stored.duplicate)
      store.purge(names.shardStream(shard), names.part(shard, channelId, name, '*')).catch(onlyUnavailable);
    return stored;
  }

  /** By channel: its deliveries that were stored from `since` until `at`, by `keyOf`. */
  const searched = new Map<string, { since: number; at: number; upTo: number; found: Map<string, number> }>();
  const looking = createLimit(1);

  /**
   * The sequence of a delivery whose id the stream may have forgotten. Undefined if it is not stored, or was stored so
   * recently, after the last search, that the stream remembers it.
   */
  async function findStored(
    shard: number,
    channelId: string,
    id: string,
    { receivedAt }: Delivery,
    since: number,
  ): Promise<number | undefined> {
    const stream = names.shardStream(shard);
    const subject = names.delivery(shard, channelId);
    let seen = searched.get(channelId);
    if (seen === undefined || seen.since > since) {
      const first = await store.since(stream, subject, since - CLOCKS_MS);
      if (first === undefined) return undefined;
      seen = { since, at: 0, upTo: first.seq - 1, found: new Map() };
      if (searched.size >= MAX_LOOKED_THROUGH) searched.clear();
      searched.set(channelId, seen);
    }
    const began = Date.now();
    for (let end = Math.abs(began - seen.at) < REMEMBERED_MS; !end; ) {
      const page = await store.page(stream, subject, seen.upTo);
      for (const { seq, check, data } of page.messages) {
        seen.found.set(keyOf(check, decodeFrame(data)?.receivedAt), seq);
        seen.upTo = seq;
      }
      end = page.end;
      if (end) seen.at = began;
    }
    return seen.found.get(keyOf(checkOf(id), receivedAt));
  }

  return async (channelId, delivery, { messageId, deadlineMs, firstSentAt }) => {
    const shard = shardOf(channelId, layout);
    const id = idOf(channelId, delivery, messageId);
    if (firstSentAt !== undefined && Date.now() - firstSentAt > REMEMBERED_MS) {
      const seq = await looking(() => findStored(shard, channelId, id, delivery, firstSentAt));
      if (seq !== undefined) return { position: positionOf(shard, seq, id), duplicate: true };
    }
    const largest =
      Math.min(connection.nats.info?.max_payload ?? USUAL_MAX_PAYLOAD, LARGEST_MESSAGE) - HEADERS_BYTES;
    try {
      const payload = delivery.body.length < largest ? encodeFrame(delivery) : undefined;
      const subject = names.delivery(shard, channelId);
      const { seq, duplicate } = await (payload === undefined || payload.length > largest
        ? storeInParts(shard, channelId, delivery, id, deadlineMs, largest)
        : publisher.publish({ subject, payload, messageId: id, deadlineMs }));
      if (!duplicate) byteLimit.stored(channelId, seq, delivery.body.length);
      if (firstSentAt !== undefined)
        searched.get(channelId)?.found.set(keyOf(checkOf(id), delivery.receivedAt), seq);
      return { position: positionOf(shard, seq, id), duplicate };
    } catch (error) {
      onUnavailable(shard);
      if (error instanceof PublishRefused) throw new EngineUnavailable(error.message, { cause: error });
      throw error;
    }
  };
}

function keyOf(check: string, receivedAt: number | undefined): string {
  return `${check} ${receivedAt}`;
}

/** Undefined if a part is missing or does not match the head. */
export async function readParts(
  store: Store,
  stream: string,
  partsPrefix: string,
  { size, sequences }: BodyParts,
): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < sequences.length; at += PARTS_AT_ONCE) {
    const some = sequences.slice(at, at + PARTS_AT_ONCE);
    for (const part of await Promise.all(some.map((seq) => store.bySequence(stream, seq)))) {
      if (part === undefined || !part.subject.startsWith(partsPrefix)) return undefined;
      parts.push(part.data);
    }
  }
  const body = Buffer.concat(parts);
  return body.length === size ? body : undefined;
}

function onlyUnavailable(error: unknown): void {
  if (!(error instanceof EngineUnavailable)) throw error;
}
