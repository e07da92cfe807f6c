// What feeds and followers are made of. They are plain records, and what is done with them are functions: there may be
// tens of thousands of each in a process, nearly all of them waiting.
import type { Subscription } from '@nats-io/nats-core';
import type { Limit } from '@svc/lib/limit';
import type { Connection } from './connection.ts';
import type { FollowOptions, Layout, Names, StoredDelivery } from './engine.ts';

import type { ShardStates } from './shards.ts';
import type { Page, Store } from './store.ts';

/** What feeds and followers work with; one for all of a process. */
export type FeedTools = {
  connection: Connection;
  store: Store;
  shards: ShardStates;
  names: Names;
  layout: Layout;
  /** What rings and paused followers keep in memory, all together. */
  budget: { bytesLeft: number };
  /** Pages, and large bodies, that are read at the same time: their memory is bounded. */
  pages: Limit;
  largeBodies: Limit;
  /** The sequence below which the channel's own limit of bytes has removed deliveries. */
  trimmedBelow: (channelId: string) => Promise<number>;
};

export type Feed = {
  channelId: string;
  shard: number;
  stream: string;
  subject: string;
  subscription: Subscription | null;
  /** The newest sequence that came live, 0 before the first. */
  newest: number;
  /**
   * The channel's newest delivery, or where it was last known that there is none after: since then every one has
   * come live. Null when one may have been missed. Up to `upTo` there is no other.
   */
  at: { seq: number; check: string | undefined } | null;
  upTo: number;
  /** Up to which sequence the leader has confirmed that the followers have everything. */
  confirmed: number;
  /**
   * The newest live deliveries, kept only while some follower reads the backlog: when it has come near enough, it
   * goes on from here instead of chasing the stream for ever.
   */
  ring: Live[];
  ringBytes: number;
  followers: FollowerState[];
  /** When its last follower left. */
  idleSince: number;
};

/** `previous` is the channel's delivery before this one. */
export type Live = { seq: number; previous: number; stored: StoredDelivery };

export type FollowerState = {
  feed: Feed;
  options: FollowOptions;
  mode: 'starting' | 'reading' | 'live' | 'paused' | 'closed';
  /** Where to start. */
  after: FollowOptions['after'];
  readyTold: boolean;
  running: boolean;
  epoch: string;
  /** Everything up to it has been handed over. */
  cursor: number;
  /** Of the delivery at the cursor; undefined when the cursor is not on one. */
  check: string | undefined;
  /** The next page must show the delivery at the cursor: while that is kept, nothing after it was trimmed. */
  anchorNeeded: boolean;
  /** Read at the start or before a pause, not handed over yet. */
  waitingPage: Page | null;
  keptBytes: number;
  /** How often the stream said "nothing yet" of what has come live. */
  behind: number;
};

/** Everything after the sequence; undefined when the ring does not reach back so far. */
export function liveAfter({ ring }: Feed, seq: number): Live[] | undefined {
  const newest = ring.at(-1);
  if (newest === undefined || (ring[0]?.previous ?? 0) > seq) return undefined;
  return newest.seq <= seq ? [] : ring.slice(ring.findIndex((live) => live.seq > seq));
}
