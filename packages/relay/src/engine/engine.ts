// The engine's interface for the relay's HTTP side, independent of NATS. `createEngine` in `create-engine.ts` implements
// it on JetStream.

/** The content of a POST, as readers get it. Header names are lower case. */
export type Delivery = {
  headers: Record<string, string>;
  query: Record<string, string>;
  /** When the relay took it, in milliseconds. */
  receivedAt: number;
  body: Buffer;
};

/**
 * `seq` counts within the stream of the channel's shard: growing, not dense for one channel. `epoch` identifies
 * the stream: one that was lost and created again has another epoch.
 */
export type Position = {
  epoch: string;
  seq: number;
  /**
   * Derived from the delivery's id. A cluster that lost its newest deliveries in a crash reuses their numbers; this
   * shows it to a cursor. Absent if there is no delivery at the position.
   */
  check?: string;
};

/** Followers of one channel in one process get the same object for a live delivery: never change it. */
export type StoredDelivery = { position: Position; delivery: Delivery };

/** `readKeyHash` null: anyone who knows the id may read, by opt-in. */
export type Channel = {
  id: string;
  readKeyHash: string | null;
  createdAt: number;
  /** The public key of a team's administrator. Such a channel has records instead of deliveries. */
  admin?: string;
};

export type Gap = {
  requested: Position;
  /** The oldest delivery that is still kept; null if there is none. */
  oldest: Position | null;
};

/** Callbacks never come before `follow` has returned, and none comes after `onEnd` or `close()`. */
export type FollowOptions = {
  /** `new` starts with the next delivery, `oldest` with the oldest one that is kept. */
  after: Position | 'new' | 'oldest';
  /** Once, before the first delivery: everything after `at` follows. */
  onReady: (at: Position) => void;
  /** False pauses. The delivery itself counts as taken; `resume()` continues with the next. */
  onDelivery: (stored: StoredDelivery) => boolean;
  /** Deliveries after `requested` are no longer kept, or may not be. What is kept follows. */
  onGap: (gap: Gap) => void;
  /** The engine was closed, or the channel's stream cannot be read any more. */
  onEnd: (reason: Error) => void;
};

export type Follower = {
  resume: () => void;
  close: () => void;
  /**
   * Everything up to here was passed on. It also grows while the channel is quiet, so a reader that gets it now and
   * then can resume without a gap after any quiet time. Null before `onReady`.
   */
  position: () => Position | null;
};

type PublishOptions = {
  /** The same id with the same body within minutes is stored once. */
  messageId: string | undefined;
  /** How long from now the caller waits. */
  deadlineMs: number;
  /** When it was first sent, in milliseconds: for a delivery that may be stored already, with its id forgotten. */
  firstSentAt?: number;
};

export type Published = { position: Position; duplicate: boolean };

export type SavedCursor = { subscriber: string; position: Position; at: number };

type ChannelStatus = {
  /** Deliveries that are kept. */
  stored: number;
  /** Their size, bodies and headers; an estimate for channels with more than 1,000 of them. */
  bytes: number;
  oldest: Position | null;
  newest: Position | null;
};

type EngineHealth = {
  connected: boolean;
  /** The server that the relay is connected to, `host:port`. */
  server: string;
  /** When `connected` last changed, in milliseconds. */
  since: number;
  reason: string | null;
  /** Shards whose stream answered the last check. */
  streams: number;
  /** Replicas that were offline or not up to date at the last check: `<stream> on <server>`. */
  behind: readonly string[];
};

type RecordPosition = { epoch: string; seq: number };

export type RecordReading = {
  /** Path of one record; `>`: all of the channel. */
  path: string;
  /** Null: from the beginning. */
  after: RecordPosition | null;
  /** False: no space for more until `resume`. */
  onRecord: (data: Uint8Array, at: RecordPosition) => boolean;
  /** Once: everything that was stored before has been passed on. `complete`: from the beginning. */
  onReady: (at: RecordPosition, complete: boolean) => void;
  onEnd: (reason: Error) => void;
};

/** The records of teams, see records/records.ts. */
export type Records = {
  /** The newest at a path, from the leader. */
  last: (channelId: string, path: string) => Promise<{ seq: number; data: Uint8Array } | undefined>;
  count: (channelId: string, machine: string) => Promise<number>;
  /** Durable before it resolves. Fails with RecordChanged if the last message of the path is not the expected one. */
  put: (
    channelId: string,
    path: string,
    data: Uint8Array,
    options: { messageId: string; expectedLast: number; deadlineMs: number; ttlSeconds?: number },
  ) => Promise<{ seq: number }>;
  /** Removes everything that the machine has stored. */
  forget: (channelId: string, machine: string) => Promise<void>;
  follow: (channelId: string, reading: RecordReading) => { resume: () => void; close: () => void };
  close: () => void;
};

export type Engine = {
  /** Durable before it resolves. Fails with EngineUnavailable, or ChannelTaken. */
  createChannel: (channel: Channel) => Promise<void>;
  /**
   * Undefined: no such channel. Cached; a lookup of an unknown id costs a bounded read. Fails with EngineUnavailable
   * if that is not answered, or not within the given time.
   */
  findChannel: (id: string, withinMs?: number) => Promise<Channel | undefined>;
  /**
   * Resolves only when JetStream has acknowledged it. The same message is sent again until the deadline, then it fails
   * with EngineUnavailable.
   */
  publish: (channelId: string, delivery: Delivery, options: PublishOptions) => Promise<Published>;
  /** Channels with the same number share a stream, and so its elections. */
  shardOf: (channelId: string) => number;
  /** Everything after the position: first what is stored, then live, in order, each once. */
  follow: (channelId: string, options: FollowOptions) => Follower;
  saveCursor: (channelId: string, subscriber: string, position: Position) => Promise<void>;
  /** Undefined if the subscriber has saved none in the last 30 days. */
  cursor: (channelId: string, subscriber: string) => Promise<SavedCursor | undefined>;
  /** For at most 1,000 subscribers. Costs a read for each, so do not call it for every connection. */
  cursors: (channelId: string) => Promise<SavedCursor[]>;
  status: (channelId: string) => Promise<ChannelStatus>;
  /** How many deliveries are kept after a position: the lag of a subscriber there. */
  countAfter: (channelId: string, position: Position) => Promise<number>;
  records: Records;
  health: () => EngineHealth;
  /** What an operator should change on the servers, as far as the login may ask. */
  serverWarnings: () => Promise<string[]>;
  /** Ends every follower. Running publishes get a moment to finish. */
  close: () => Promise<void>;
};

// Every failure of the engine that a caller must handle, with its code.

/** JetStream did not acknowledge or answer in time. It may or may not be stored; the sender may retry. */
export class EngineUnavailable extends Error {
  readonly code = 'engine-unavailable';
}

/** The channel id exists with other properties. */
export class ChannelTaken extends Error {
  readonly code = 'channel-taken';
}

/** The streams are missing, or this relay cannot use them. */
export class EngineNotProvisioned extends Error {
  readonly code = 'engine-not-provisioned';
}

/** Why a follower ended without a call of `close()`. */
export class EngineClosed extends Error {
  readonly code = 'engine-closed';
}

/** Only an operator can fix it: a server that loses messages, or impossible settings of streams. */
export class Refused extends Error {
  readonly code: 'server-too-old' | 'provision-refused';
  readonly remedy: string;
  constructor(code: Refused['code'], message: string, remedy: string) {
    super(message);
    this.code = code;
    this.remedy = remedy;
  }
}

// Names of streams and subjects, and the shard of a channel. All names of a relay start with its prefix, so several
// relays can share one NATS account.

export const DEFAULT_PREFIX = 'svc-relay';
const prefixForm = /^[a-z][a-z0-9-]{0,30}$/;

export type Names = ReturnType<typeof namesFor>;

export function namesFor(prefix: string) {
  if (!prefixForm.test(prefix)) throw new RangeError(`not a prefix for streams: ${prefix}`);
  return {
    registryStream: `${prefix}-registry`,
    cursorStream: `${prefix}-cursors`,
    shardStream: (shard: number) => `${prefix}-shard-${String(shard).padStart(2, '0')}`,
    layout: `${prefix}.layout`,
    channel: (id: string) => `${prefix}.channel.${id}`,
    /** The byte counts of a channel. */
    bytes: (id: string) => `${prefix}.bytes.${id}`,
    cursor: (channelId: string, subscriber: string) => `${prefix}.cursor.${channelId}.${subscriber}`,
    delivery: (shard: number, channelId: string) => `${prefix}.in.${shard}.${channelId}`,
    /** Where the stream repeats a delivery as soon as it is stored. */
    live: (shard: number, channelId: string) => `${prefix}.live.${shard}.${channelId}`,
    part: (shard: number, channelId: string, body: string, part: number | '*') =>
      `${prefix}.part.${shard}.${channelId}.${body}.${part}`,
    recordStream: (shard: number) => `${prefix}-records-${String(shard).padStart(2, '0')}`,
    records: (shard: number) => `${prefix}.record.${shard}.>`,
    /** `path` has three tokens: the machine, the kind and the hash. */
    record: (shard: number, channelId: string, path: string) =>
      `${prefix}.record.${shard}.${channelId}.${path}`,
    /** Where the stream announces a record as soon as it is stored. */
    announcements: (shard: number) => `${prefix}.announced.${shard}.>`,
    announced: (shard: number, channelId: string, path: string) =>
      `${prefix}.announced.${shard}.${channelId}.${path}`,
    /** The common prefix of the subjects of a channel's parts. */
    partsPrefix: (shard: number, channelId: string) => `${prefix}.part.${shard}.${channelId}.`,
  };
}

/** Must never change: FNV-1a over the id. */
export function shardOf(channelId: string, { shards }: Pick<Layout, 'shards'>): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < channelId.length; at += 1) {
    hash = Math.imul(hash ^ channelId.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0) % shards;
}

/**
 * What `provision` decided and every relay process must agree on. It is stored in the registry stream, so a process
 * only needs the address of NATS.
 */
export type Layout = {
  /** Never changes: the shard of a channel depends on it. */
  shards: number;
  maxDeliveriesPerChannel: number;
  maxBytesPerChannel: number;
};

/** Undefined if it is not a layout, or one of a newer version. */
export function readLayout(text: string): Layout | undefined {
  const { kind, shards, maxDeliveriesPerChannel, maxBytesPerChannel }: Partial<Layout & { kind: number }> =
    JSON.parse(text) ?? {};
  const numbers = [shards, maxDeliveriesPerChannel, maxBytesPerChannel];
  const [one = 0, two = 0, three = 0] = numbers;
  if (kind !== 1 || !numbers.every((number) => Number.isSafeInteger(number) && Number(number) > 0))
    return undefined;
  return { shards: one, maxDeliveriesPerChannel: two, maxBytesPerChannel: three };
}

export function writeLayout(layout: Layout): string {
  return JSON.stringify({ kind: 1, ...layout });
}
