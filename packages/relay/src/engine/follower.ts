// One follower of a channel. Its state is its cursor: everything up to it has been passed on.
//
// - starting: finds out where to start, and whether something before that is lost. Then reading.
// - reading:  reads pages from the stream after the cursor. When there is no more, or the ring of live
//             deliveries reaches back to the cursor: live.
// - live:     takes what the feed offers, as long as each follows the cursor. After a hole: reading.
// - paused:   the receiving side is full. Nothing new is kept for it. `resume()`: reading.
// - closed:   final.
import { setTimeout as sleep } from 'node:timers/promises';
import { asError } from '@svc/lib/errors';
import { readParts } from '../channels/deliveries.ts';
import { decodeFrame } from '../protocol/frame.ts';
import {
  EngineUnavailable,
  type FollowOptions,
  type Gap,
  type Position,
  type StoredDelivery,
} from './engine.ts';
import { type Feed, type FeedTools, type FollowerState, liveAfter } from './feed.ts';
import type { ShardState } from './shards.ts';
import type { Page, StoredMessage } from './store.ts';

/** A live delivery for all followers of a feed; `stored` is null if its body must be read from parts. */
export type Offer = { seq: number; previous: number; stored: StoredDelivery | null };

const LONGEST_PAUSE_MS = 2000;
/** How often a replica may lack what has arrived live before the leader is asked. */
const BEHIND_BEFORE_LEADER = 3;
/** The same for the leader, before it counts as lost: 20 s in total, twice the longest election. */
const LEADER_CATCHES_UP_MS = 250;
const BEHIND_BEFORE_LOST = BEHIND_BEFORE_LEADER + 80;

/** The functions for followers, shared by all of them. */
export function createFollowing(
  tools: FeedTools,
  events: { onLive: (feed: Feed, me: FollowerState) => void; onClosed: (follower: FollowerState) => void },
) {
  const { store, shards, names, pages, largeBodies, budget } = tools;

  /** Runs in `starting` or `reading`, until live, paused or closed. */
  async function run(me: FollowerState): Promise<void> {
    if (me.running) return;
    me.running = true;
    for (let failures = 0; is(me, 'starting') || is(me, 'reading'); ) {
      try {
        await (is(me, 'starting') ? begin(me) : readOn(me));
        failures = 0;
      } catch (error) {
        if (!(error instanceof EngineUnavailable)) end(me, asError(error));
        failures += 1;
        await sleep(Math.min(LONGEST_PAUSE_MS, 50 * 2 ** failures));
      }
    }
    me.running = false;
  }

  async function begin(me: FollowerState): Promise<void> {
    const { at, gap, page } = await findStart(me.after, me.feed, tools);
    if (!is(me, 'starting')) return;
    Object.assign(me, {
      epoch: at.epoch,
      cursor: at.seq,
      check: at.check,
      waitingPage: page,
      anchorNeeded: false,
    });
    me.mode = 'reading';
    if (!me.readyTold) {
      me.readyTold = true;
      me.options.onReady(at);
    }
    if (gap !== null && is(me, 'reading')) me.options.onGap(gap);
  }

  async function readOn(me: FollowerState): Promise<void> {
    if (takeFromRing(me)) return;
    const { stream, subject } = me.feed;
    const page = takeWaitingPage(me) ?? (await pages(() => store.page(stream, subject, me.cursor)));
    if (!is(me, 'reading')) return;
    if (me.anchorNeeded && (page.anchor === null || (me.check !== undefined && page.anchor !== me.check))) {
      const lost = await lostAfter(positionOf(me), page, me.feed, tools);
      if (!is(me, 'reading')) return;
      me.anchorNeeded = false;
      if (lost !== undefined) return goOnFrom(me, lost);
    }
    for (const [index, message] of page.messages.entries()) {
      if (!is(me, 'reading')) return keepRest(me, page.messages.slice(index));
      const handing = hand(me, message);
      if (handing !== undefined) await handing;
    }
    if (page.messages.length > 0) me.behind = 0;
    if (page.end && is(me, 'reading')) await endOfPages(me);
  }

  /** Keeps what was read and not taken for `resume()`, as far as the budget of all followers allows. */
  function keepRest(me: FollowerState, messages: StoredMessage[]): void {
    const bytes = messages.reduce((sum, { data }) => sum + data.length, 0);
    if (!is(me, 'paused') || bytes > budget.bytesLeft) return;
    budget.bytesLeft -= bytes;
    me.keptBytes = bytes;
    me.waitingPage = { anchor: me.check ?? '', messages, end: false };
  }

  function takeWaitingPage(me: FollowerState): Page | null {
    const page = me.waitingPage;
    me.waitingPage = null;
    budget.bytesLeft += me.keptBytes;
    me.keptBytes = 0;
    return page;
  }

  /** Becomes live, unless the feed has received more than was read. */
  async function endOfPages(me: FollowerState): Promise<void> {
    const { feed } = me;
    if (feed.newest <= me.cursor) return goLive(me);
    if (liveAfter(feed, me.cursor) !== undefined) return;
    me.behind += 1;
    if (me.behind <= BEHIND_BEFORE_LEADER) return sleep(5 * me.behind);
    const received = feed.newest;
    const { last } = await shards.fresh(feed.shard);
    const message = await store.leaderNext(feed.stream, feed.subject, me.cursor + 1);
    if (!is(me, 'reading')) return;
    if (message !== undefined) return hand(me, message);
    // A new leader may not have applied yet what the previous one acknowledged.
    if (last < received && me.behind <= BEHIND_BEFORE_LOST) return sleep(LEADER_CATCHES_UP_MS);
    me.options.onGap({ requested: positionOf(me), oldest: null });
    me.behind = 0;
    me.anchorNeeded = false;
    // Received and trimmed since; or never stored by the remaining replicas, and the numbers will be reused.
    if (last < received) feed.newest = Math.max(me.cursor, last);
    else moveTo(me, Math.max(me.cursor, received));
  }

  function takeFromRing(me: FollowerState): boolean {
    const live = me.waitingPage === null ? liveAfter(me.feed, me.cursor) : undefined;
    if (live === undefined) return false;
    for (const { stored } of live) {
      if (!is(me, 'reading')) return true;
      deliver(me, stored);
    }
    if (is(me, 'reading')) goLive(me);
    return true;
  }

  function goLive(me: FollowerState): void {
    me.mode = 'live';
    me.behind = 0;
    events.onLive(me.feed, me);
  }

  /** A promise only if there is something to wait for. */
  function hand(me: FollowerState, message: StoredMessage): Promise<void> | undefined {
    if (message.seq <= me.cursor) return undefined;
    const frame = decodeFrame(message.data);
    if (frame === undefined) {
      passOver(me, message.seq);
      return undefined;
    }
    const { parts, body, ...rest } = frame;
    const position = { epoch: me.epoch, seq: message.seq, check: message.check };
    if (parts === null) {
      deliver(me, { position, delivery: { ...rest, body } });
      return undefined;
    }
    const prefix = names.partsPrefix(me.feed.shard, me.feed.channelId);
    return largeBodies(async () => {
      const whole = await readParts(store, me.feed.stream, prefix, parts);
      if (!is(me, 'reading')) return;
      if (whole === undefined) passOver(me, message.seq);
      else deliver(me, { position, delivery: { ...rest, body: whole } });
    });
  }

  function deliver(me: FollowerState, stored: StoredDelivery): void {
    moveTo(me, stored.position.seq, stored.position.check);
    me.anchorNeeded = true;
    try {
      if (!me.options.onDelivery(stored) && !is(me, 'closed')) me.mode = 'paused';
    } catch (error) {
      // It may come from the callback of the connection, which must continue for the others.
      end(me, asError(error));
    }
  }

  /** The feed may have missed something after the cursor. */
  function readAgain(me: FollowerState): void {
    if (!is(me, 'live')) return;
    me.mode = 'reading';
    me.anchorNeeded = true;
    void run(me);
  }

  function close(me: FollowerState): void {
    if (is(me, 'closed')) return;
    me.mode = 'closed';
    takeWaitingPage(me);
    events.onClosed(me);
  }

  function end(me: FollowerState, reason: Error): void {
    if (is(me, 'closed')) return;
    close(me);
    me.options.onEnd(reason);
  }

  return {
    run,
    offer(me: FollowerState, { seq, previous, stored }: Offer): void {
      if (!is(me, 'live') || seq <= me.cursor) return;
      if (previous > me.cursor || stored === null) readAgain(me);
      else deliver(me, stored);
    },
    readAgain,
    /** The stream was created again. */
    beginAgain(me: FollowerState): void {
      if (is(me, 'closed') || is(me, 'starting')) return;
      me.after = positionOf(me);
      takeWaitingPage(me);
      const wasPaused = is(me, 'paused');
      me.mode = 'starting';
      if (!wasPaused) void run(me);
    },
    resume(me: FollowerState): void {
      if (is(me, 'paused')) me.mode = 'reading';
      void run(me);
    },
    close,
    end,
  };
}

export function newFollower(feed: Feed, options: FollowOptions): FollowerState {
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

/** A function, because the mode may have changed since the last check. */
function is({ mode }: FollowerState, wanted: FollowerState['mode']): boolean {
  return mode === wanted;
}

export function positionOf({ epoch, cursor: seq, check }: FollowerState): Position {
  return check === undefined ? { epoch, seq } : { epoch, seq, check };
}

function moveTo(me: FollowerState, seq: number, check?: string): void {
  me.cursor = seq;
  me.check = check;
}

function goOnFrom(me: FollowerState, { at, gap }: Start): void {
  // Backwards: later live deliveries were lost in a crash, and their numbers will be reused.
  if (at.seq < me.cursor) me.feed.newest = Math.min(me.feed.newest, at.seq);
  me.epoch = at.epoch;
  moveTo(me, at.seq);
  if (gap !== null) me.options.onGap(gap);
}

/** A delivery that exists but cannot be read: a gap, never a broken body. */
function passOver(me: FollowerState, seq: number): void {
  me.options.onGap({ requested: positionOf(me), oldest: { epoch: me.epoch, seq: seq + 1 } });
  moveTo(me, seq);
  me.anchorNeeded = true;
}

// Where a follower starts, and whether something after its position is lost.

/** `page`: what was read after `at` on the way. */
export type Start = { at: Position; gap: Gap | null; page: Page | null };

/** A new leader may have to catch up before it knows the newest; after this many answers it is accepted. */
const ASKS_BEFORE_LOST = 4;
const ASK_EVERY_MS = 500;
/** How much before the crash is sent again, if a cluster has lost its newest. */
const REPEATED_MS = 120_000;

/** Everything that follows arrives live. */
const nothingMore: Page = { anchor: null, messages: [], end: true };

async function findStart(after: FollowOptions['after'], feed: Feed, tools: FeedTools): Promise<Start> {
  const { shards, pages, store } = tools;
  if (after === 'new' || after === 'oldest') {
    const { epoch, first, last } = await shards.fresh(feed.shard);
    if (after === 'new') return { at: { epoch, seq: last }, gap: null, page: nothingMore };
    return { at: { epoch, seq: Math.max(0, first - 1) }, gap: null, page: null };
  }
  const known = shards.known(feed.shard);
  const state = known?.epoch === after.epoch ? known : await shards.fresh(feed.shard);
  if (after.epoch !== state.epoch) return fromOldest(after, state, feed, tools);
  if (isUpToDate(after, feed)) return { at: after, gap: null, page: nothingMore };
  const page = await pages(() => store.page(feed.stream, feed.subject, after.seq));
  // The same delivery is still there: it is the same stream, and nothing after it was trimmed.
  const isProven = after.check !== undefined && page.anchor === after.check;
  const lost = isProven ? undefined : await lostAfter(after, page, feed, tools);
  return lost ?? { at: after, gap: null, page };
}

/** The feed has received everything since: a reader that comes back at once needs no read. */
function isUpToDate({ seq, check }: Position, { at, upTo }: Feed): boolean {
  if (at === null || seq < at.seq || seq > upTo) return false;
  return seq === at.seq ? check === at.check : check === undefined;
}

/**
 * What is lost after a position, and where to continue; undefined if nothing is lost. Called only if a page after it
 * did not contain the delivery at the position.
 */
async function lostAfter(
  after: Position,
  page: Page,
  feed: Feed,
  tools: FeedTools,
): Promise<Start | undefined> {
  const { shards, store, layout, trimmedBelow } = tools;
  const { stream, subject } = feed;
  // Requested after the page was read, so it includes everything that was trimmed before.
  let state = await shards.fresh(feed.shard);
  for (let asks = 1; after.seq > state.last && asks < ASKS_BEFORE_LOST; asks += 1) {
    await sleep(ASK_EVERY_MS);
    state = await shards.fresh(feed.shard);
  }
  if (after.epoch !== state.epoch) return fromOldest(after, state, feed, tools);
  if (after.seq > state.last) return fromBeforeCrash(after, state, feed, tools);
  const there = after.check === undefined ? undefined : await store.leaderNext(stream, subject, after.seq);
  if (there?.seq === after.seq)
    return there.check === after.check ? undefined : fromBeforeCrash(after, state, feed, tools);
  // By age or by the size of the whole stream: everything below `first` is gone, in every channel.
  if (state.first > after.seq + 1) return fromOldest(after, state, feed, tools);
  const most = layout.maxDeliveriesPerChannel;
  const isTrimmed = async (): Promise<boolean> =>
    (await trimmedBelow(feed.channelId)) > after.seq + 1 ||
    // With fewer deliveries than the limit, none was trimmed.
    (state.last - after.seq > most && (await store.count(stream, subject, 0)) >= most);
  if (after.check === undefined) {
    // The newest always stays: if there is nothing after the position, nothing was trimmed.
    const isWhole = page.anchor !== null || page.messages.length === 0 || !(await isTrimmed());
    if (isWhole) return undefined;
  }
  const oldest = (await store.next(stream, subject, 1))?.seq;
  if (oldest === undefined) return undefined;
  // Only the oldest are trimmed: one that is gone while older ones are kept was lost in a crash.
  if (oldest <= after.seq)
    return after.check === undefined ? undefined : fromBeforeCrash(after, state, feed, tools);
  return after.check === undefined || (await isTrimmed()) ? fromOldest(after, state, feed, tools) : undefined;
}

/** With a gap: starts from the oldest that is kept. */
async function fromOldest(
  requested: Position,
  { epoch, last }: ShardState,
  { stream, subject }: Feed,
  { store }: FeedTools,
): Promise<Start> {
  const kept = await store.next(stream, subject, 1);
  const oldest = kept === undefined ? null : { epoch, seq: kept.seq, check: kept.check };
  return {
    at: { epoch, seq: oldest === null ? last : oldest.seq - 1 },
    gap: { requested, oldest },
    page: null,
  };
}

/**
 * The cluster has lost its newest deliveries and reused their numbers. Where that started is not known, so with a gap:
 * starts some time before the delivery that is now at the position.
 */
async function fromBeforeCrash(
  requested: Position,
  state: ShardState,
  feed: Feed,
  tools: FeedTools,
): Promise<Start> {
  const { store } = tools;
  const { stream, subject } = feed;
  const now =
    (await store.leaderNext(stream, subject, requested.seq)) ?? (await store.leaderLast(stream, subject));
  if (now === undefined) return fromOldest(requested, state, feed, tools);
  const since = await store.since(stream, subject, now.at - REPEATED_MS);
  const { epoch, first, last } = state;
  const seq = Math.min(Math.max((since ?? now).seq, first, 1) - 1, last);
  return { at: { epoch, seq }, gap: { requested, oldest: { epoch, seq: seq + 1 } }, page: null };
}
