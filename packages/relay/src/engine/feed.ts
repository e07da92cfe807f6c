// A feed's own part: the subscription to the subject on which the stream repeats what it stores, and the ring.
import type { Msg } from '@nats-io/nats-core';
import { checkOf } from '../protocol/position.ts';
import { decodeFrame } from '../protocol/stored-frame.ts';
import type { StoredDelivery } from './engine.ts';
import type { Offer } from './follower.ts';
import { type Feed, type FeedTools, isReading } from './following.ts';
import { createLiveRing } from './live-ring.ts';

export function openFeed(
  channelId: string,
  shard: number,
  { connection, names }: FeedTools,
  onMessage: (feed: Feed, message: Msg) => void,
): Feed {
  const feed: Feed = {
    channelId,
    shard,
    subscription: null,
    newest: 0,
    confirmed: 0,
    ring: null,
    followers: [],
  };
  feed.subscription = connection.nats.subscribe(names.live(shard, channelId), {
    callback(error, message) {
      if (error === null) onMessage(feed, message);
    },
  });
  return feed;
}

export function closeFeed(feed: Feed, { connection }: FeedTools): void {
  if (!connection.nats.isClosed()) feed.subscription?.unsubscribe();
  dropRing(feed);
}

/** Undefined for a sequence that was there already: the stream was made anew, or has lost its newest. */
export function takeLive(feed: Feed, message: Msg, tools: FeedTools): Offer | undefined {
  const seq = Number(message.headers?.get('Nats-Sequence'));
  const previous = Number(message.headers?.get('Nats-Last-Sequence'));
  if (!(seq > feed.newest)) return undefined;
  feed.newest = seq;
  const check = checkOf(message.headers?.get('Nats-Msg-Id') ?? '');
  const stored = readLive(feed, { seq, check }, message.data, tools);
  if (stored === null) dropRing(feed);
  else if (feed.followers.some(isReading)) {
    feed.ring ??= createLiveRing(tools.budget);
    feed.ring.push({ seq, previous, stored });
  }
  return { seq, previous, stored };
}

/** Null when it is not all there: then followers read it from the stream. */
function readLive(
  feed: Feed,
  at: { seq: number; check: string },
  data: Uint8Array,
  { shards }: FeedTools,
): StoredDelivery | null {
  const frame = decodeFrame(data);
  const epoch = shards.known(feed.shard)?.epoch;
  if (frame === undefined || frame.parts !== null || epoch === undefined) return null;
  const { parts: _, ...delivery } = frame;
  return { position: { epoch, ...at }, delivery };
}

/** Nobody reads any more: nothing need be kept. */
export function dropRingIfIdle(feed: Feed): void {
  if (feed.ring !== null && !feed.followers.some(isReading)) dropRing(feed);
}

export function dropRing(feed: Feed): void {
  feed.ring?.clear();
  feed.ring = null;
}
