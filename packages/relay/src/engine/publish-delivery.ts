// A delivery into its shard: in one message, or in parts and a head when it is too large for one.
import { hash, randomBytes } from 'node:crypto';
import { checkOf } from '../protocol/position.ts';
import { encodeFrame, encodeFrameOfParts } from '../protocol/stored-frame.ts';
import { largestFrame, storeParts } from './body-parts.ts';
import type { ByteLimit } from './byte-limit.ts';
import type { Connection } from './connection.ts';
import type { Delivery, Engine } from './engine.ts';
import { EngineUnavailable } from './errors.ts';
import type { Layout } from './layout.ts';
import { type Names, shardOf } from './names.ts';
import { type Acknowledgement, type Publisher, PublishRefused } from './publisher.ts';
import type { ShardStates } from './shard-states.ts';
import type { StreamApi } from './stream-api.ts';

/** The server's own default. */
const USUAL_MAX_PAYLOAD = 1024 * 1024;

export function createDeliveryPublisher(given: {
  connection: Connection;
  publisher: Publisher;
  byteLimit: ByteLimit;
  shards: ShardStates;
  api: StreamApi;
  names: Names;
  layout: Layout;
  /** A shard did not acknowledge in time. */
  onUnavailable: (shard: number) => void;
}): Engine['publish'] {
  const { connection, publisher, byteLimit, shards, api, names, layout, onUnavailable } = given;
  const ownId = randomBytes(9).toString('base64url');
  let unnamed = 0;

  return async (channelId, delivery, { messageId, deadlineMs }) => {
    const shard = shardOf(channelId, layout);
    unnamed += 1;
    // With the body: another one under a known id is another delivery, and must not be taken for a repetition.
    const id = `${channelId}:${messageId === undefined ? `${ownId}${unnamed}` : `${messageId}:${hash('sha256', delivery.body, 'base64url')}`}`;
    try {
      const { seq, duplicate } = await store(shard, channelId, delivery, id, deadlineMs);
      if (!duplicate) byteLimit.stored(channelId, seq, delivery.body.length);
      const epoch = shards.known(shard)?.epoch ?? '';
      return { position: { epoch, seq, check: checkOf(id) }, duplicate };
    } catch (error) {
      onUnavailable(shard);
      if (error instanceof PublishRefused) throw new EngineUnavailable(error.message, { cause: error });
      throw error;
    }
  };

  function store(
    shard: number,
    channelId: string,
    delivery: Delivery,
    messageId: string,
    deadlineMs: number,
  ): Promise<Acknowledgement> {
    const largest = largestFrame(connection.nats.info?.max_payload ?? USUAL_MAX_PAYLOAD);
    const frame = delivery.body.length < largest ? encodeFrame(delivery) : undefined;
    if (frame === undefined || frame.length > largest)
      return storeInParts(shard, channelId, delivery, messageId, deadlineMs, largest);
    const subject = names.delivery(shard, channelId);
    return publisher.publish({ subject, payload: frame, messageId, deadlineMs });
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
    const parts = await storeParts({ publisher, names, shard, channelId, body, partBytes, deadlineMs });
    const stored = await publisher.publish({
      subject: names.delivery(shard, channelId),
      payload: encodeFrameOfParts(delivery, parts),
      messageId,
      deadlineMs: deadline - performance.now(),
      bodySize: body.length,
    });
    // The sender does not wait for it.
    if (stored.duplicate) void removeParts(shard, channelId, parts.name);
    return stored;
  }

  /** Nothing names them. Should it fail, they go with their age. */
  async function removeParts(shard: number, channelId: string, name: string): Promise<void> {
    const subject = names.part(shard, channelId, name, '*');
    await api.purge(names.shardStream(shard), subject).catch((error: unknown) => {
      if (!(error instanceof EngineUnavailable)) throw error;
    });
  }
}
