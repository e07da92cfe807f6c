// What feeds and followers are made of. They are plain records, and what is done with them are functions:
// there may be tens of thousands of each in a process, nearly all of them waiting.
import type { Subscription } from '@nats-io/nats-core';
import type { Connection } from './connection.ts';
import type { DirectReads } from './direct-read.ts';
import type { FollowOptions } from './engine.ts';
import type { Gate } from './gate.ts';
import type { Layout } from './layout.ts';
import type { KeepBudget, LiveRing } from './live-ring.ts';
import type { Names } from './names.ts';
import type { Page } from './page.ts';
import type { ShardStates } from './shard-states.ts';
import type { StreamApi } from './stream-api.ts';

/** What feeds and followers work with; one for all of a process. */
export type FeedTools = {
  connection: Connection;
  reads: DirectReads;
  api: StreamApi;
  shards: ShardStates;
  names: Names;
  layout: Layout;
  /** What rings and paused followers keep in memory, all together. */
  budget: KeepBudget;
  /** Pages, and large bodies, that are read at the same time: their memory is bounded. */
  pages: Gate;
  largeBodies: Gate;
  /** The sequence below which the channel's own limit of bytes has removed deliveries. */
  trimmedBelow: (channelId: string) => Promise<number>;
  /** The last sequence before a time, in milliseconds. */
  sequenceBefore: (stream: string, subject: string, time: number) => Promise<number>;
};

/** One channel's live deliveries in this process, by one subscription for all of its followers. */
export type Feed = {
  channelId: string;
  shard: number;
  subscription: Subscription | null;
  /** The newest sequence that came live, 0 before the first. */
  newest: number;
  /** Up to which sequence the leader has confirmed that the followers have everything. */
  confirmed: number;
  /** Only while a follower reads. */
  ring: LiveRing | null;
  followers: FollowerState[];
};

export type Mode = 'starting' | 'reading' | 'live' | 'paused' | 'closed';

export type FollowerState = {
  feed: Feed;
  options: FollowOptions;
  mode: Mode;
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
  /** Read by the check at the start or before a pause, not handed over yet. */
  waitingPage: Page | null;
  keptBytes: number;
  /** How often a replica said "nothing yet" of what has come live. */
  behind: number;
};

/** What followers tell of themselves. */
export type FollowerEvents = {
  onLive: (feed: Feed) => void;
  onClosed: (follower: FollowerState) => void;
};

export const streamOf = ({ shard }: Feed, { names }: FeedTools): string => names.shardStream(shard);

export const subjectOf = ({ shard, channelId }: Feed, { names }: FeedTools): string =>
  names.delivery(shard, channelId);

/** Not live, and not closed: the ring of live deliveries may be of use to it. */
export const isReading = ({ mode }: FollowerState): boolean =>
  mode === 'starting' || mode === 'reading' || mode === 'paused';
