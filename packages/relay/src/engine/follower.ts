// One follower of a channel. All that counts is its cursor: everything up to it has been handed over.
//
// - starting: finds out where to begin, and whether something before that is lost. Then reading.
// - reading:  takes pages from the stream after the cursor. When there is no more, or the ring of live
//             deliveries reaches back to the cursor: live.
// - live:     takes what the feed offers, as long as each follows the cursor. A hole: reading.
// - paused:   the taker is full. Nothing new is kept for it. `resume()`: reading.
// - closed:   for good.
import { setTimeout as sleep } from 'node:timers/promises';
import { type BodyParts, decodeFrame } from '../protocol/stored-frame.ts';
import { readParts } from './body-parts.ts';
import type { Delivery, Position, StoredDelivery } from './engine.ts';
import { EngineUnavailable } from './errors.ts';
import {
  type FeedTools,
  type FollowerEvents,
  type FollowerState,
  type Mode,
  streamOf,
  subjectOf,
} from './following.ts';
import type { Page, StoredMessage } from './page.ts';
import { findStart, isOther, lostAfter, type Start } from './start-of-follower.ts';

/** A live delivery for all followers of a feed; `stored` null when its body must be read from parts. */
export type Offer = { seq: number; previous: number; stored: StoredDelivery | null };

/** What is done with followers, for all of them the same. */
export type Following = {
  /** Goes on in `starting` or `reading`, until live, paused or closed. */
  run: (me: FollowerState) => Promise<void>;
  offer: (me: FollowerState, offered: Offer) => void;
  /** The feed has missed something after the cursor. */
  readAgain: (me: FollowerState) => void;
  /** The stream was made anew. */
  beginAgain: (me: FollowerState) => void;
  resume: (me: FollowerState) => void;
  close: (me: FollowerState) => void;
  end: (me: FollowerState, reason: Error) => void;
};

const LONGEST_PAUSE_MS = 2000;
/** So often a replica may say "nothing yet" of what has come live, before the leader is asked. */
const BEHIND_BEFORE_LEADER = 3;
/** And so often the leader itself, before what was heard of is taken for lost: 20 s, twice the longest election. */
const LEADER_CATCHES_UP_MS = 250;
const BEHIND_BEFORE_LOST = BEHIND_BEFORE_LEADER + 80;

export function createFollowing(tools: FeedTools, events: FollowerEvents): Following {
  const { reads, api, names, pages, largeBodies, budget } = tools;

  async function run(me: FollowerState): Promise<void> {
    if (me.running) return;
    me.running = true;
    for (let failures = 0; is(me, 'starting') || is(me, 'reading'); ) {
      try {
        await (is(me, 'starting') ? begin(me) : readOn(me));
        failures = 0;
      } catch (error) {
        if (!(error instanceof EngineUnavailable)) end(me, wrapped(error));
        failures += 1;
        await sleep(Math.min(LONGEST_PAUSE_MS, 50 * 2 ** failures));
      }
    }
    me.running = false;
  }

  async function begin(me: FollowerState): Promise<void> {
    const start = await findStart(me.after, me.feed, tools);
    if (!is(me, 'starting')) return;
    me.epoch = start.at.epoch;
    me.cursor = start.at.seq;
    me.check = start.at.check;
    me.waitingPage = start.page ?? null;
    me.anchorNeeded = false;
    me.mode = 'reading';
    if (!me.readyTold) {
      me.readyTold = true;
      me.options.onReady(start.at);
    }
    if (start.gap !== null && is(me, 'reading')) me.options.onGap(start.gap);
  }

  async function readOn(me: FollowerState): Promise<void> {
    if (takeFromRing(me)) return;
    const page = takeWaitingPage(me) ?? (await nextPage(me));
    if (!is(me, 'reading')) return;
    if (me.anchorNeeded && (page.anchor === null || isOther(page, me.check))) {
      const lost = await lostAfter(positionOf(me), me.feed, tools);
      if (!is(me, 'reading')) return;
      me.anchorNeeded = false;
      if (lost !== undefined) return goOnFrom(me, lost);
    }
    for (const [index, message] of page.messages.entries()) {
      if (!is(me, 'reading')) return keepRest(me, page, index);
      const handing = hand(me, message);
      if (handing !== undefined) await handing;
    }
    if (page.messages.length > 0) me.behind = 0;
    if (page.end && is(me, 'reading')) await endOfPages(me);
  }

  function nextPage(me: FollowerState): Promise<Page> {
    return pages(() => reads.page(streamOf(me.feed, tools), subjectOf(me.feed, tools), me.cursor));
  }

  /** What was read and not taken waits for `resume()`, as far as the budget of all followers allows. */
  function keepRest(me: FollowerState, page: Page, from: number): void {
    if (!is(me, 'paused')) return;
    const messages = page.messages.slice(from);
    const bytes = messages.reduce((sum, { data }) => sum + data.length, 0);
    if (bytes > budget.bytesLeft) return;
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

  /** Live, unless the feed has heard of more than was read. */
  async function endOfPages(me: FollowerState): Promise<void> {
    const { feed } = me;
    if (feed.newest <= me.cursor) return goLive(me);
    if (feed.ring?.after(me.cursor) !== undefined) return;
    me.behind += 1;
    if (me.behind <= BEHIND_BEFORE_LEADER) return sleep(5 * me.behind);
    const heard = feed.newest;
    const next = { seq: me.cursor + 1, next_by_subj: subjectOf(feed, tools) };
    const { last } = await tools.shards.fresh(feed.shard);
    const message = await api.read(streamOf(feed, tools), next);
    if (!is(me, 'reading')) return;
    if (message !== undefined) return hand(me, message);
    // A leader of this moment may still have to apply what the one before has acknowledged.
    if (last < heard && me.behind <= BEHIND_BEFORE_LOST) return sleep(LEADER_CATCHES_UP_MS);
    me.options.onGap({ requested: positionOf(me), oldest: null });
    me.behind = 0;
    me.anchorNeeded = false;
    // Heard of, and trimmed since; or never stored by those that are left, and the numbers come again.
    if (last < heard) feed.newest = Math.max(me.cursor, last);
    else {
      me.cursor = Math.max(me.cursor, heard);
      me.check = undefined;
    }
  }

  function takeFromRing(me: FollowerState): boolean {
    const live = me.waitingPage === null ? me.feed.ring?.after(me.cursor) : undefined;
    if (live === undefined) return false;
    for (const { stored } of live) {
      if (!is(me, 'reading')) return true;
      handOver(me, stored);
    }
    if (is(me, 'reading')) goLive(me);
    return true;
  }

  function goLive(me: FollowerState): void {
    me.mode = 'live';
    me.behind = 0;
    events.onLive(me.feed);
  }

  /** A promise only when there is something to wait for. */
  function hand(me: FollowerState, message: StoredMessage): Promise<void> | undefined {
    if (message.seq <= me.cursor) return undefined;
    const frame = decodeFrame(message.data);
    if (frame === undefined) {
      passOver(me, message.seq);
      return undefined;
    }
    const { parts, body, ...rest } = frame;
    if (parts !== null) return handParts(me, message, rest, parts);
    handOver(me, {
      position: { epoch: me.epoch, seq: message.seq, check: message.check },
      delivery: { ...rest, body },
    });
    return undefined;
  }

  async function handParts(
    me: FollowerState,
    { seq, check }: StoredMessage,
    rest: Omit<Delivery, 'body'>,
    parts: BodyParts,
  ): Promise<void> {
    const { shard, channelId } = me.feed;
    const prefix = names.partsPrefix(shard, channelId);
    const body = await largeBodies(() => readParts(reads, streamOf(me.feed, tools), prefix, parts));
    if (!is(me, 'reading')) return;
    if (body === undefined) return passOver(me, seq);
    handOver(me, { position: { epoch: me.epoch, seq, check }, delivery: { ...rest, body } });
  }

  function handOver(me: FollowerState, stored: StoredDelivery): void {
    me.cursor = stored.position.seq;
    me.check = stored.position.check;
    me.anchorNeeded = true;
    try {
      if (!me.options.onDelivery(stored) && !is(me, 'closed')) me.mode = 'paused';
    } catch (error) {
      // It may come from the callback of the connection, which must go on for the others.
      end(me, wrapped(error));
    }
  }

  function readAgain(me: FollowerState): void {
    if (!is(me, 'live')) return;
    me.mode = 'reading';
    me.anchorNeeded = true;
    void run(me);
  }

  function end(me: FollowerState, reason: Error): void {
    if (is(me, 'closed')) return;
    close(me);
    me.options.onEnd(reason);
  }

  function close(me: FollowerState): void {
    if (is(me, 'closed')) return;
    me.mode = 'closed';
    takeWaitingPage(me);
    events.onClosed(me);
  }

  return {
    run,
    offer(me, { seq, previous, stored }) {
      if (!is(me, 'live') || seq <= me.cursor) return;
      if (previous > me.cursor || stored === null) readAgain(me);
      else handOver(me, stored);
    },
    readAgain,
    beginAgain(me) {
      if (is(me, 'closed') || is(me, 'starting')) return;
      me.after = positionOf(me);
      takeWaitingPage(me);
      const wasPaused = is(me, 'paused');
      me.mode = 'starting';
      if (!wasPaused) void run(me);
    },
    resume(me) {
      if (is(me, 'paused')) me.mode = 'reading';
      void run(me);
    },
    close,
    end,
  };
}

/** A function, so that the mode may have changed since it was last looked at. */
function is({ mode }: FollowerState, wanted: Mode): boolean {
  return mode === wanted;
}

export function positionOf({ epoch, cursor: seq, check }: FollowerState): Position {
  return check === undefined ? { epoch, seq } : { epoch, seq, check };
}

function goOnFrom(me: FollowerState, lost: Start): void {
  // Backwards: what came live after it was lost in a crash, and its numbers come again.
  if (lost.at.seq < me.cursor) me.feed.newest = Math.min(me.feed.newest, lost.at.seq);
  me.epoch = lost.at.epoch;
  me.cursor = lost.at.seq;
  me.check = undefined;
  if (lost.gap !== null) me.options.onGap(lost.gap);
}

/** A delivery that is there and cannot be told: a gap, never a broken body. */
function passOver(me: FollowerState, seq: number): void {
  me.options.onGap({ requested: positionOf(me), oldest: { epoch: me.epoch, seq: seq + 1 } });
  me.cursor = seq;
  me.check = undefined;
  me.anchorNeeded = true;
}

function wrapped(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
