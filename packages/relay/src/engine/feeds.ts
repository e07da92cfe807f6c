// All feeds of this process. A feed is one channel's live deliveries: one subscription, shared by its followers, to the
// subject on which the stream repeats what it stores. And the checks that find deliveries that were stored but did not
// reach us: a live copy can be lost with its connection, with a leader that died between storing and repeating it, or
// because a replica was behind when a follower stopped reading. So a shard is checked after each of those, and
// regularly.
import type { Msg } from '@nats-io/nats-core';
import { createLimit } from '@svc/lib/limit';
import { checkOf, decodeFrame } from '../protocol/frame.ts';
import { EngineClosed, EngineUnavailable, type Follower, type FollowOptions, shardOf } from './engine.ts';
import type { Feed, FeedTools, FollowerState, Live } from './feed.ts';
import { createFollowing, newFollower, type Offer, positionOf } from './follower.ts';

export type FeedTiming = {
  /** How long a feed stays after its last follower: most readers that are cut off come back at once. */
  lingerMs: number;
  /** How often feeds that may have missed something are checked, and how often all are. */
  soonMs: number;
  everyMs: number;
};

export const feedTiming: FeedTiming = { lingerMs: 5000, soonMs: 1000, everyMs: 30_000 };
const CHECKS_AT_ONCE = 32;
const RING_DELIVERIES = 512;
const RING_BYTES = 2 * 1024 * 1024;

export function createFeeds(tools: FeedTools, timing: FeedTiming) {
  const { connection, shards, store, layout, names, budget } = tools;
  const feeds = new Map<string, Feed>();
  const checks = createLimit(CHECKS_AT_ONCE);
  /** Feeds that may have missed something, and feeds without followers. */
  const unconfirmed = new Set<Feed>();
  const idle = new Set<Feed>();
  /** The newest sequence of each shard when all of it was last checked. */
  const lastChecked = new Map<number, number>();
  let closed = false;
  let checking = false;
  let allCheckedAt = performance.now();

  const following = createFollowing(tools, {
    onLive(feed, me) {
      feed.at = { seq: me.cursor, check: me.check };
      feed.upTo = me.cursor;
      dropRingIfIdle(feed);
      // The replica that answered may be behind.
      if (shards.known(feed.shard)?.replicated === true) unconfirmed.add(feed);
    },
    onClosed(follower) {
      const { feed } = follower;
      // A new list, because the old one may be being iterated.
      feed.followers = feed.followers.filter((other) => other !== follower);
      dropRingIfIdle(feed);
      if (feed.followers.length > 0) return;
      feed.idleSince = performance.now();
      idle.add(feed);
      if (closed) closeFeed(feed);
    },
  });

  function openFeed(channelId: string): Feed {
    const shard = shardOf(channelId, layout);
    const feed: Feed = {
      channelId,
      shard,
      stream: names.shardStream(shard),
      subject: names.delivery(shard, channelId),
      subscription: null,
      newest: 0,
      at: null,
      upTo: 0,
      confirmed: 0,
      ring: [],
      ringBytes: 0,
      followers: [],
      idleSince: 0,
    };
    feed.subscription = connection.nats.subscribe(names.live(shard, channelId), {
      callback(error, message) {
        if (error === null) onMessage(feed, message);
      },
    });
    feeds.set(channelId, feed);
    return feed;
  }

  function closeFeed(feed: Feed): void {
    if (!connection.nats.isClosed()) feed.subscription?.unsubscribe();
    dropRing(feed);
    unconfirmed.delete(feed);
    idle.delete(feed);
    feeds.delete(feed.channelId);
  }

  function onMessage(feed: Feed, message: Msg): void {
    const offered = takeLive(feed, message);
    for (const follower of feed.followers) {
      // They check whether the stream still has what they had, and otherwise go back.
      if (offered === undefined) following.readAgain(follower);
      else following.offer(follower, offered);
    }
    if (offered === undefined) unconfirmed.add(feed);
  }

  /** Undefined for a repeated sequence: the stream was created again, or has lost its newest. */
  function takeLive(feed: Feed, { headers, data }: Msg): Offer | undefined {
    const seq = Number(headers?.get('Nats-Sequence'));
    const previous = Number(headers?.get('Nats-Last-Sequence'));
    if (!(seq > feed.newest)) return undefined;
    feed.newest = seq;
    const at = { seq, check: checkOf(headers?.get('Nats-Msg-Id') ?? '') };
    feed.at = feed.at !== null && previous <= feed.upTo ? at : null;
    feed.upTo = seq;
    const frame = decodeFrame(data);
    const epoch = shards.known(feed.shard)?.epoch;
    // Incomplete: followers read it from the stream.
    if (frame === undefined || frame.parts !== null || epoch === undefined) {
      dropRing(feed);
      return { seq, previous, stored: null };
    }
    const { parts: _, ...delivery } = frame;
    const stored = { position: { epoch, ...at }, delivery };
    if (feed.followers.some(isReading)) keepInRing(feed, { seq, previous, stored });
    return { seq, previous, stored };
  }

  function keepInRing(feed: Feed, { seq, previous, stored }: Live): void {
    const { ring } = feed;
    const size = stored.delivery.body.length;
    if (size > budget.bytesLeft || size > RING_BYTES || (ring.length > 0 && ring.at(-1)?.seq !== previous))
      dropRing(feed);
    if (size > budget.bytesLeft || size > RING_BYTES) return;
    // A view would keep the whole chunk from the socket in memory.
    const delivery = { ...stored.delivery, body: Buffer.from(stored.delivery.body) };
    ring.push({ seq, previous, stored: { ...stored, delivery } });
    feed.ringBytes += size;
    budget.bytesLeft -= size;
    while (ring.length > RING_DELIVERIES || feed.ringBytes > RING_BYTES) dropRing(feed, 1);
  }

  function dropRing(feed: Feed, count = feed.ring.length): void {
    for (const { stored } of feed.ring.splice(0, count)) {
      feed.ringBytes -= stored.delivery.body.length;
      budget.bytesLeft += stored.delivery.body.length;
    }
  }

  function dropRingIfIdle(feed: Feed): void {
    if (!feed.followers.some(isReading)) dropRing(feed);
  }

  shards.onNewEpoch((shard) => {
    lastChecked.delete(shard);
    for (const feed of feedsOf(shard)) {
      Object.assign(feed, { newest: 0, confirmed: 0, at: null });
      dropRing(feed);
      for (const follower of feed.followers) following.beginAgain(follower);
    }
  });

  const feedsOf = (shard: number): Feed[] => [...feeds.values()].filter((feed) => feed.shard === shard);

  /** Asks the leader; skipped if the shard has received nothing since the last confirmation. */
  async function confirm(feed: Feed, last: number, settled: number): Promise<void> {
    const live = feed.followers.filter(({ mode }) => mode === 'live');
    // A leader that is behind the previous one cannot confirm anything.
    if (live.length === 0 || last < settled || feed.confirmed >= last) return;
    const from = Math.min(...live.map(({ cursor }) => cursor));
    const missed = await store.leaderNext(feed.stream, feed.subject, from + 1);
    if (missed !== undefined) {
      feed.at = null;
      for (const follower of live) if (follower.cursor < missed.seq) following.readAgain(follower);
      return;
    }
    feed.confirmed = Math.max(feed.confirmed, settled);
    feed.upTo = Math.max(feed.upTo, settled);
    for (const follower of live)
      if (follower.mode === 'live' && follower.cursor < settled) {
        follower.cursor = settled;
        follower.check = undefined;
      }
  }

  /** Searches for what was missed in a shard, or by some of its feeds. Retried a moment later if the engine does not answer. */
  async function check(shard: number, only?: ReadonlySet<Feed>): Promise<void> {
    if (closed) return;
    const here = feedsOf(shard).filter((feed) => only?.has(feed) !== false);
    try {
      const { last } = await shards.fresh(shard);
      // A new leader may not have applied its newest yet; what the last check of all saw is applied.
      const settled = only === undefined ? (lastChecked.get(shard) ?? 0) : 0;
      if (only === undefined) lastChecked.set(shard, last);
      await Promise.all(here.map((feed) => checks(() => confirm(feed, last, settled))));
    } catch (error) {
      // Health shows that the engine does not answer.
      if (!(error instanceof EngineUnavailable)) throw error;
      for (const feed of here) unconfirmed.add(feed);
    }
  }

  /** One at a time: results from one leader and the next must not be mixed. */
  async function checkNow(): Promise<void> {
    for (const feed of idle) if (performance.now() - feed.idleSince > timing.lingerMs) closeFeed(feed);
    if (checking) return;
    checking = true;
    const all = performance.now() - allCheckedAt >= timing.everyMs;
    if (all) allCheckedAt = performance.now();
    const now = new Set(unconfirmed);
    unconfirmed.clear();
    const wanted = new Set([...now].map(({ shard }) => shard).concat(shards.failing()));
    if (all) await shards.checkOthers().catch(() => undefined);
    for (let shard = 0; shard < layout.shards; shard += 1)
      if (all) await check(shard);
      else if (wanted.has(shard)) await check(shard, now);
    checking = false;
  }

  const timer = setInterval(() => void checkNow(), timing.soonMs).unref();

  /** Live copies may have been lost: what follows the last delivered position is read and compared. */
  function recheck(feed: Feed): void {
    feed.at = null;
    unconfirmed.add(feed);
    for (const follower of feed.followers) following.readAgain(follower);
  }

  return {
    follow(channelId: string, options: FollowOptions): Follower {
      const feed = feeds.get(channelId) ?? openFeed(channelId);
      idle.delete(feed);
      const follower = newFollower(feed, options);
      feed.followers = [...feed.followers, follower];
      // At once, so the subscription and the first request are sent together. Answers come later.
      void following.run(follower);
      return {
        resume: () => following.resume(follower),
        close: () => following.close(follower),
        position: () => (follower.readyTold ? positionOf(follower) : null),
      };
    },
    check,
    elected: (shard: number): void => feedsOf(shard).forEach(recheck),
    reconnected: (): void => [...feeds.values()].forEach(recheck),
    close(): void {
      closed = true;
      clearInterval(timer);
      const reason = new EngineClosed('the relay is stopping');
      for (const feed of feeds.values())
        for (const follower of feed.followers) following.end(follower, reason);
    },
  };
}

/** Not live and not closed: it may need the ring of live deliveries. */
const isReading = ({ mode }: FollowerState): boolean => mode !== 'live' && mode !== 'closed';
