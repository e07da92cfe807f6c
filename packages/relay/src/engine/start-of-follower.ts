// Where a follower begins, and whether something after its cursor may be lost.
import { setTimeout as sleep } from 'node:timers/promises';
import type { FollowOptions, Gap, Position } from './engine.ts';
import { type Feed, type FeedTools, streamOf, subjectOf } from './following.ts';
import type { Page } from './page.ts';
import type { ShardState } from './shard-states.ts';

export type Start = { at: Position; gap: Gap | null; page: Page | undefined };

/** A new leader may have to catch up before it knows the newest; after this it is taken at its word. */
const ASKS_BEFORE_LOST = 4;
const ASK_EVERY_MS = 500;
/** How much before the crash is told again, when a cluster has lost its newest. */
const TOLD_AGAIN_MS = 120_000;

/** What comes next comes live. */
const nothingMore: Page = { anchor: null, messages: [], end: true };

export async function findStart(after: FollowOptions['after'], feed: Feed, tools: FeedTools): Promise<Start> {
  if (after === 'new' || after === 'oldest') {
    const { epoch, first, last } = await tools.shards.fresh(feed.shard);
    if (after === 'new') return { at: { epoch, seq: last }, gap: null, page: nothingMore };
    return { at: { epoch, seq: Math.max(0, first - 1) }, gap: null, page: undefined };
  }
  const known = tools.shards.known(feed.shard);
  // As it was before the page is read: what the page does not show is not there up to this end.
  const before = known?.epoch === after.epoch ? known : await tools.shards.fresh(feed.shard);
  if (after.epoch !== before.epoch) return fromOldest(after, before, feed, tools);

  const page = await tools.pages(() =>
    tools.reads.page(streamOf(feed, tools), subjectOf(feed, tools), after.seq),
  );
  // The delivery that stood there still does: it is the same stream, and nothing after it was trimmed.
  const proven = after.check !== undefined && page.anchor === after.check;
  const lost = proven ? undefined : await lostBeside(page, after, feed, tools);
  if (lost !== undefined) return lost;
  const passed = await nothingUpTo(after, page, before, feed, tools);
  return { at: passed ?? after, gap: null, page: passed === undefined ? page : undefined };
}

/** As `lostAfter`, with what a page has shown. Where no delivery stands at the position, fewer questions do. */
async function lostBeside(
  page: Page,
  after: Position,
  feed: Feed,
  tools: FeedTools,
): Promise<Start | undefined> {
  if (after.check !== undefined) return lostAfter(after, feed, tools);
  // Asked after the page was read: what was trimmed before that shows.
  const state = await tools.shards.fresh(feed.shard);
  if (after.epoch !== state.epoch) return fromOldest(after, state, feed, tools);
  if (page.anchor !== null) return undefined;
  if (after.seq > state.last) return lostAfter(after, feed, tools);
  const trimmed = await trimmedAfter(after.seq, state, feed, tools);
  return trimmed ? fromOldest(after, state, feed, tools) : undefined;
}

/** Another delivery has the number of the one at the cursor. */
export const isOther = ({ anchor }: Page, check: string | undefined): boolean =>
  anchor !== null && check !== undefined && anchor !== check;

/**
 * What is lost after a position, and from where to go on; undefined when nothing is. Asked only when a read did
 * not show the delivery that stood there.
 */
export async function lostAfter(after: Position, feed: Feed, tools: FeedTools): Promise<Start | undefined> {
  const query = { seq: Math.max(1, after.seq), next_by_subj: subjectOf(feed, tools) };
  let state = await tools.shards.fresh(feed.shard);
  let there = await tools.api.read(streamOf(feed, tools), query);
  for (let asks = 1; after.seq > state.last && asks < ASKS_BEFORE_LOST; asks += 1) {
    await sleep(ASK_EVERY_MS);
    state = await tools.shards.fresh(feed.shard);
    there = await tools.api.read(streamOf(feed, tools), query);
  }
  if (after.epoch !== state.epoch) return fromOldest(after, state, feed, tools);
  const isThere = there?.seq === after.seq;
  if (isThere && (after.check === undefined || there?.check === after.check)) return undefined;
  if (isThere || after.seq > state.last) return fromBeforeCrash(after, state, feed, tools);
  if (await trimmedAfter(after.seq, state, feed, tools)) return fromOldest(after, state, feed, tools);
  if (after.check === undefined) return undefined;
  // Only the oldest are ever trimmed: one that is gone while older ones are kept was lost in a crash.
  const oldest = await tools.reads.next(streamOf(feed, tools), subjectOf(feed, tools), 1);
  const vanished = oldest !== undefined && oldest.seq < after.seq;
  return vanished ? fromBeforeCrash(after, state, feed, tools) : undefined;
}

/** With a gap: from the oldest that is kept. */
async function fromOldest(
  requested: Position,
  state: ShardState,
  feed: Feed,
  tools: FeedTools,
): Promise<Start> {
  const { epoch } = state;
  const oldest = await tools.reads.next(streamOf(feed, tools), subjectOf(feed, tools), 1);
  const seq = oldest === undefined ? state.last : oldest.seq - 1;
  const gap = {
    requested,
    oldest: oldest === undefined ? null : { epoch, seq: oldest.seq, check: oldest.check },
  };
  return { at: { epoch, seq }, gap, page: undefined };
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
  const { epoch, first, last } = state;
  const [stream, subject] = [streamOf(feed, tools), subjectOf(feed, tools)];
  const now =
    (await tools.api.read(stream, { seq: Math.max(1, requested.seq), next_by_subj: subject })) ??
    (await tools.api.read(stream, { last_by_subj: subject }));
  if (now === undefined) return fromOldest(requested, state, feed, tools);
  const before = await tools.sequenceBefore(stream, subject, now.at - TOLD_AGAIN_MS);
  const seq = Math.min(Math.max(before, first - 1, 0), last);
  return { at: { epoch, seq }, gap: { requested, oldest: { epoch, seq: seq + 1 } }, page: undefined };
}

/**
 * The cursor of a quiet channel falls behind what its stream keeps, and then nobody could tell whether
 * something was lost. So when nothing follows it, the follower begins at the end of the stream instead. Only
 * where it is worth a question to the leader: a replica might not have the newest yet.
 */
async function nothingUpTo(
  after: Position,
  page: Page,
  state: ShardState,
  feed: Feed,
  tools: FeedTools,
): Promise<Position | undefined> {
  if (page.messages.length > 0 || !page.end) return undefined;
  if (after.seq > state.first + (state.last - state.first) / 2) return undefined;
  if (state.replicated) {
    const next = { seq: after.seq + 1, next_by_subj: subjectOf(feed, tools) };
    if ((await tools.api.read(streamOf(feed, tools), next)) !== undefined) return undefined;
  }
  return state.last > after.seq ? { epoch: state.epoch, seq: state.last } : undefined;
}

/** Whether deliveries between the sequence and the oldest that is kept may have been trimmed. */
async function trimmedAfter(seq: number, state: ShardState, feed: Feed, tools: FeedTools): Promise<boolean> {
  const [stream, subject] = [streamOf(feed, tools), subjectOf(feed, tools)];
  // By age or by the size of the whole stream: everything below `first` is gone, whosever it was.
  if (state.first > seq + 1) return true;
  const oldest = (await tools.reads.next(stream, subject, 1))?.seq;
  if (oldest === undefined || oldest <= seq) return false;
  if ((await tools.trimmedBelow(feed.channelId)) > seq + 1) return true;
  // The newest stay. Where not more have come at all, none of them was too many.
  const most = tools.layout.maxDeliveriesPerChannel;
  if (state.last - seq <= most) return false;
  const info = await tools.api.info(stream, subject);
  return (info?.state.subjects?.[subject] ?? 0) >= most;
}
