// The streams of a relay as they should be. What is undefined in the options is left as it is in a stream
// that exists, and gets its default in one that does not.
import type { Layout } from './layout.ts';
import type { Names } from './names.ts';

export type StreamOptions = {
  /** Fixed at the first provisioning. */
  shards?: number;
  /** Default: 3 in a cluster, 1 on a single server. */
  replicas?: number;
  /** Servers must have all of them; one per power domain makes replicas worth their name. */
  placementTags?: readonly string[];
  /** How long a delivery is kept: as long as the code host would repeat it. */
  maxAgeMs?: number;
  maxDeliveriesPerChannel?: number;
  maxBytesPerChannel?: number;
  /** The server reserves it: all shards together must fit its store. */
  maxBytesPerShard?: number;
  /** Repeated deliveries are told within it; it costs the server about 240 bytes for each. */
  dedupeWindowMs?: number;
};

const DAY_MS = 24 * 3_600_000;
export const defaults = {
  shards: 16,
  maxAgeMs: 3 * DAY_MS,
  maxDeliveriesPerChannel: 250_000,
  maxBytesPerChannel: 1024 ** 3,
  maxBytesPerShard: 2 * 1024 ** 3,
  dedupeWindowMs: 5 * 60_000,
} as const satisfies StreamOptions;
/** A subscriber that has not been there for so long is forgotten. */
const CURSOR_AGE_MS = 30 * DAY_MS;
/** Each is a Raft group of its own where it is replicated. */
export const MAX_SHARDS = 256;

/** The fields of JetStream's configuration that are ours to decide. */
export type StreamPlan = {
  name: string;
  /** As it must be, whatever was asked. */
  fixed: Record<string, unknown>;
  /** As asked for; undefined: not asked. */
  asked: Record<string, unknown>;
  /** For a stream that does not exist yet. */
  initial: Record<string, unknown>;
};

export function planStreams(
  names: Names,
  layout: Layout,
  options: StreamOptions,
  clustered: boolean,
): StreamPlan[] {
  const shards = Array.from({ length: layout.shards }, (_, shard) =>
    shardPlan(names, shard, options, clustered),
  );
  return [registryPlan(names, options, clustered), cursorPlan(names, options, clustered), ...shards];
}

function shardPlan(names: Names, shard: number, options: StreamOptions, clustered: boolean): StreamPlan {
  return {
    name: names.shardStream(shard),
    fixed: {
      ...everyStream,
      description: 'deliveries of svc-relay',
      subjects: [names.delivery(shard, '*'), names.part(shard, '*', '*', '*')],
      republish: { src: names.delivery(shard, '>'), dest: names.live(shard, '>') },
      deny_delete: true,
      // With S2 a replica that was killed stays out: "s2: unsupported input", seen with nats-server 2.15.1.
      compression: 'none',
    },
    asked: {
      ...placement(options),
      max_age: nanoseconds(options.maxAgeMs),
      max_msgs_per_subject: options.maxDeliveriesPerChannel,
      max_bytes: options.maxBytesPerShard,
      duplicate_window: nanoseconds(options.dedupeWindowMs),
    },
    initial: {
      num_replicas: clustered ? 3 : 1,
      max_age: nanoseconds(defaults.maxAgeMs),
      max_msgs_per_subject: defaults.maxDeliveriesPerChannel,
      max_bytes: defaults.maxBytesPerShard,
      duplicate_window: nanoseconds(defaults.dedupeWindowMs),
    },
  };
}

/** One message per subject: the newest is the value. Nothing in it ages. */
function registryPlan(names: Names, options: StreamOptions, clustered: boolean): StreamPlan {
  return {
    name: names.registryStream,
    fixed: {
      ...everyStream,
      description: 'channels of svc-relay',
      subjects: [names.layout, names.channel('*'), names.bytes('*')],
      max_msgs_per_subject: 1,
    },
    asked: placement(options),
    initial: { num_replicas: clustered ? 3 : 1 },
  };
}

function cursorPlan(names: Names, options: StreamOptions, clustered: boolean): StreamPlan {
  return {
    name: names.cursorStream,
    fixed: {
      ...everyStream,
      description: 'named cursors of svc-relay',
      subjects: [names.cursor('*', '*')],
      max_msgs_per_subject: 1,
      max_age: nanoseconds(CURSOR_AGE_MS),
    },
    asked: placement(options),
    initial: { num_replicas: clustered ? 3 : 1 },
  };
}

const everyStream = { storage: 'file', retention: 'limits', discard: 'old', allow_direct: true };

function placement({ replicas, placementTags }: StreamOptions): Record<string, unknown> {
  return {
    num_replicas: replicas,
    placement: placementTags === undefined ? undefined : { tags: [...placementTags] },
  };
}

function nanoseconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : milliseconds * 1_000_000;
}
