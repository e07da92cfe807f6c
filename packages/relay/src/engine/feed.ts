// The data of feeds and followers. They are plain records with separate functions, because a process may have tens of
// thousands of each, nearly all of them idle.
import type { Subscription } from '@nats-io/nats-core';
import type { Limit } from '@svc/lib/limit';
import type { Connection } from './connection.ts';
import type { FollowOptions, Layout, Names, StoredDelivery } from './engine.ts';

import type { ShardStates } from './shards.ts';
import type { Page, Store } from './store.ts';

/** What feeds and followers work with; one per process. */
export type FeedTools = {
  connection: Connection;
  store: Store;
  shards: ShardStates;
  names: Names;
  layout: Layout;
  /** The memory of all rings and paused followers together. */
  budget: { bytesLeft: number };
  /** Limits how many pages and large bodies are read at once, to bound their memory. */
  pages: Limit;
  largeBodies: Limit;
  /** The sequence below which the channel's byte limit has removed deliveries. */
  trimmedBelow: (channelId: string) => Promise<number>;
};

export type Feed = {
  channelId: string;
  shard: number;
  stream: string;
  subject: string;
  subscription: Subscription | null;
  /** The newest live sequence, 0 before the first. */
  newest: number;
  /**
   * The channel's newest delivery, or a position that was known to have none after it: since then every one has
   * arrived live. Null if one may have been missed. Up to `upTo` there is no other.
   */
  at: { seq: number; check: string | undefined } | null;
  upTo: number;
  /** Up to which sequence the leader has confirmed that the followers have everything. */
  confirmed: number;
  /**
   * The newest live deliveries, kept only while a follower reads the backlog: when it is close enough, it continues
   * from here instead of chasing the stream forever.
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
  after: FollowOptions['after'];
  readyTold: boolean;
  running: boolean;
  epoch: string;
  /** Everything up to it has been passed on. */
  cursor: number;
  /** For the delivery at the cursor; undefined if the cursor is not on one. */
  check: string | undefined;
  /** The next page must contain the delivery at the cursor: while that is kept, nothing after it was trimmed. */
  anchorNeeded: boolean;
  /** Read at the start or before a pause, not passed on yet. */
  waitingPage: Page | null;
  keptBytes: number;
  /** How often the stream did not have yet what has arrived live. */
  behind: number;
};

/** Everything after the sequence; undefined if the ring does not reach back that far. */
export function liveAfter({ ring }: Feed, seq: number): Live[] | undefined {
  const newest = ring.at(-1);
  if (newest === undefined || (ring[0]?.previous ?? 0) > seq) return undefined;
  return newest.seq <= seq ? [] : ring.slice(ring.findIndex((live) => live.seq > seq));
}
