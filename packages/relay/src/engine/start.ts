// Where a follower begins, and whether something after its position is lost.
import { setTimeout as sleep } from 'node:timers/promises';
import type { FollowOptions, Gap, Position } from './engine.ts';
import type { Feed, FeedTools } from './feed.ts';
import type { ShardState } from './shards.ts';
import type { Page } from './store.ts';

/** `page`: what was read after `at` to find it out. */
export type Start = { at: Position; gap: Gap | null; page: Page | null };

/** A new leader may have to catch up before it knows the newest; after this it is taken at its word. */
const ASKS_BEFORE_LOST = 4;
const ASK_EVERY_MS = 500;
/** How much before the crash is told again, when a cluster has lost its newest. */
const TOLD_AGAIN_MS = 120_000;

/** What comes next comes live. */
const nothingMore: Page = { anchor: null, messages: [], end: true };

export async function findStart(after: FollowOptions['after'], feed: Feed, tools: FeedTools): Promise<Start> {
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
  // The delivery that stood there still does: it is the same stream, and nothing after it was trimmed.
  const isProven = after.check !== undefined && page.anchor === after.check;
  const lost = isProven ? undefined : await lostAfter(after, page, feed, tools);
  return lost ?? { at: after, gap: null, page };
}

/** The feed has heard everything since: nothing has to be read for a reader that comes back at once. */
function isUpToDate({ seq, check }: Position, { at, upTo }: Feed): boolean {
  if (at === null || seq < at.seq || seq > upTo) return false;
  return seq === at.seq ? check === at.check : check === undefined;
}

/**
 * What is lost after a position, and from where to go on; undefined when nothing is. Asked only when a page after it
 * did not show the delivery that stood there.
 */
export async function lostAfter(
  after: Position,
  page: Page,
  feed: Feed,
  tools: FeedTools,
): Promise<Start | undefined> {
  const { shards, store, layout, trimmedBelow } = tools;
  const { stream, subject } = feed;
  // Asked after the page was read: what was trimmed before that shows.
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
  // By age or by the size of the whole stream: everything below `first` is gone, whosever it was.
  if (state.first > after.seq + 1) return fromOldest(after, state, feed, tools);
  // The newest always stays: where there is nothing after the position, nothing was trimmed.
  if (after.check === undefined && (page.anchor !== null || page.messages.length === 0)) return undefined;
  const oldest = (await store.next(stream, subject, 1))?.seq;
  if (oldest === undefined) return undefined;
  // Only the oldest are ever trimmed: one that is gone while older ones are kept was lost in a crash.
  if (oldest <= after.seq)
    return after.check === undefined ? undefined : fromBeforeCrash(after, state, feed, tools);
  const most = layout.maxDeliveriesPerChannel;
  const isTrimmed =
    (await trimmedBelow(feed.channelId)) > after.seq + 1 ||
    // Where not more have come at all, none of them was too many.
    (state.last - after.seq > most && (await store.count(stream, subject, 0)) >= most);
  return isTrimmed ? fromOldest(after, state, feed, tools) : undefined;
}

/** With a gap: from the oldest that is kept. */
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
 * The cluster has lost its newest deliveries and gave their numbers to others. Where that began is not known, so
 * with a gap: from some time before the delivery that now stands at the position.
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
  const since = await store.since(stream, subject, now.at - TOLD_AGAIN_MS);
  const { epoch, first, last } = state;
  const seq = Math.min(Math.max((since ?? now).seq, first, 1) - 1, last);
  return { at: { epoch, seq }, gap: { requested, oldest: { epoch, seq: seq + 1 } }, page: null };
}
