// All feeds of this process, and the checks that find what came to the streams and not to us. A live copy can
// be lost: with its connection, with a leader that died between storing and repeating it, or because a replica
// was behind when a follower stopped reading. So a shard is checked after each of those, and now and then.
import type { Msg } from '@nats-io/nats-core';
import type { Follower, FollowOptions } from './engine.ts';
import { EngineClosed, EngineUnavailable } from './errors.ts';
import { closeFeed, dropRing, dropRingIfIdle, openFeed, takeLive } from './feed.ts';
import { createFollowing, positionOf } from './follower.ts';
import { type Feed, type FeedTools, type FollowerState, streamOf, subjectOf } from './following.ts';
import { createGate } from './gate.ts';
import { shardOf } from './names.ts';

export type Feeds = {
  follow: (channelId: string, options: FollowOptions) => Follower;
  /** Looks for what was missed in a shard, now and, should that fail, every second until it does not. */
  check: (shard: number, thorough?: boolean) => Promise<void>;
  checkAll: (thorough?: boolean) => Promise<void>;
  /** A shard has a new leader: what it has after the last delivered position is read, and compared. */
  elected: (shard: number) => void;
  close: () => void;
};

export type FeedTiming = {
  /** After a follower went live on a replicated stream. */
  afterLiveMs: number;
  everyMs: number;
};

export const feedTiming: FeedTiming = { afterLiveMs: 1000, everyMs: 30_000 };
const CHECKS_AT_ONCE = 32;
const OWED_EVERY_MS = 1000;

export function createFeeds(tools: FeedTools, timing: FeedTiming): Feeds {
  const { shards, reads, api, layout, names } = tools;
  const feeds = new Map<string, Feed>();
  const checks = createGate(CHECKS_AT_ONCE);
  /** Shards whose last check failed: tried again until it does not. */
  const owed = new Set<number>();
  /** The newest sequence of each shard when it was last checked thoroughly. */
  const lastChecked = new Map<number, number>();
  let soon = new Set<Feed>();
  let soonTimer: NodeJS.Timeout | undefined;
  let closed = false;
  let checkingAll = false;

  const following = createFollowing(tools, {
    /** By what a replica said, which may be behind. */
    onLive(feed) {
      dropRingIfIdle(feed);
      if (shards.known(feed.shard)?.replicated !== true || closed) return;
      soon.add(feed);
      soonTimer ??= setTimeout(checkSoon, timing.afterLiveMs).unref();
    },
    onClosed(follower) {
      const { feed } = follower;
      // A new list: the old one may be gone through at this moment.
      feed.followers = feed.followers.filter((other) => other !== follower);
      dropRingIfIdle(feed);
      if (feed.followers.length > 0) return;
      closeFeed(feed, tools);
      if (feeds.get(feed.channelId) === feed) feeds.delete(feed.channelId);
    },
  });

  function onMessage(feed: Feed, message: Msg): void {
    const offered = takeLive(feed, message, tools);
    if (offered === undefined) {
      // They look whether the stream still has what they had, and otherwise go back.
      for (const follower of feed.followers) following.readAgain(follower);
      return void check(feed.shard);
    }
    for (const follower of feed.followers) following.offer(follower, offered);
  }

  shards.onNewEpoch((shard) => {
    lastChecked.delete(shard);
    for (const feed of feeds.values()) {
      if (feed.shard !== shard) continue;
      feed.newest = 0;
      feed.confirmed = 0;
      dropRing(feed);
      for (const follower of feed.followers) following.beginAgain(follower);
    }
  });

  function checkSoon(): void {
    const now = soon;
    soon = new Set();
    soonTimer = undefined;
    for (const feed of now) {
      void succeeds(() => checks(() => checkFeed(feed))).then((done) => done || owed.add(feed.shard));
    }
  }

  /** By a replica. */
  async function checkFeed(feed: Feed): Promise<void> {
    const from = leastCursor(feed);
    if (from === undefined) return;
    const missed = await reads.next(streamOf(feed, tools), subjectOf(feed, tools), from + 1);
    if (missed !== undefined) readAgain(feed, missed.seq);
  }

  /** By the leader; skipped when the shard has got nothing since it was last confirmed. */
  async function confirmFeed(feed: Feed, last: number, settled: number): Promise<void> {
    const from = leastCursor(feed);
    // A leader that has not come as far as the one before cannot confirm anything.
    if (from === undefined || last < settled || feed.confirmed >= last) return;
    const next = { seq: from + 1, next_by_subj: subjectOf(feed, tools) };
    const missed = await api.read(streamOf(feed, tools), next);
    if (missed !== undefined) return readAgain(feed, missed.seq);
    feed.confirmed = settled;
    for (const follower of feed.followers)
      if (follower.mode === 'live' && follower.cursor < settled) {
        follower.cursor = settled;
        follower.check = undefined;
      }
  }

  function readAgain(feed: Feed, missed: number): void {
    for (const follower of feed.followers) if (follower.cursor < missed) following.readAgain(follower);
  }

  async function check(shard: number, thorough = false): Promise<void> {
    const done = await succeeds(async () => {
      const { last } = await shards.fresh(shard);
      // A leader of this moment may still have to apply its newest; what was there at the last check is.
      const settled = lastChecked.get(shard) ?? 0;
      if (thorough) lastChecked.set(shard, last);
      const here = [...feeds.values()].filter((feed) => feed.shard === shard);
      const one = (feed: Feed): Promise<void> =>
        thorough ? confirmFeed(feed, last, settled) : checkFeed(feed);
      await Promise.all(here.map((feed) => checks(() => one(feed))));
    });
    if (done) owed.delete(shard);
    else owed.add(shard);
  }

  /** One at a time: what two of them find out about one leader and the next must not be mixed. */
  async function checkAll(thorough = false): Promise<void> {
    if (thorough && checkingAll) return;
    checkingAll ||= thorough;
    try {
      await checkEach(thorough);
    } finally {
      if (thorough) checkingAll = false;
    }
  }

  async function checkEach(thorough: boolean): Promise<void> {
    if (thorough)
      await succeeds(async () => {
        await Promise.all([shards.look(names.registryStream), shards.look(names.cursorStream)]);
      });
    for (let shard = 0; shard < layout.shards; shard += 1) {
      if (closed) return;
      await check(shard, thorough);
    }
  }

  const timer = setInterval(() => void checkAll(true), timing.everyMs).unref();
  const owedTimer = setInterval(() => {
    for (const shard of owed) {
      owed.delete(shard);
      void check(shard);
    }
  }, OWED_EVERY_MS).unref();

  return {
    follow(channelId, options) {
      const shard = shardOf(channelId, layout);
      const feed = feeds.get(channelId) ?? openFeed(channelId, shard, tools, onMessage);
      feeds.set(channelId, feed);
      const follower = newFollower(feed, options);
      feed.followers = [...feed.followers, follower];
      // At once, so that the subscription and the first question leave together. Answers come later.
      void following.run(follower);
      return {
        resume: () => following.resume(follower),
        close: () => following.close(follower),
        position: () => (follower.readyTold ? positionOf(follower) : null),
      };
    },
    check,
    checkAll,
    elected(shard) {
      for (const feed of feeds.values())
        if (feed.shard === shard) for (const follower of feed.followers) following.readAgain(follower);
      void check(shard);
    },
    close() {
      closed = true;
      clearInterval(timer);
      clearInterval(owedTimer);
      clearTimeout(soonTimer);
      const reason = new EngineClosed('the relay stops');
      for (const feed of feeds.values())
        for (const follower of feed.followers) following.end(follower, reason);
    },
  };
}

function newFollower(feed: Feed, options: FollowOptions): FollowerState {
  return {
    feed,
    options,
    mode: 'starting',
    after: options.after,
    readyTold: false,
    running: false,
    epoch: '',
    cursor: 0,
    check: undefined,
    anchorNeeded: false,
    waitingPage: null,
    keptBytes: 0,
    behind: 0,
  };
}

/** Undefined when none of them is live: the others read anyway. */
function leastCursor(feed: Feed): number | undefined {
  let least: number | undefined;
  for (const { mode, cursor } of feed.followers)
    if (mode === 'live') least = Math.min(least ?? Number.POSITIVE_INFINITY, cursor);
  return least;
}

/** That the engine does not answer shows in its health. */
async function succeeds(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof EngineUnavailable)) throw error;
    return false;
  }
}
