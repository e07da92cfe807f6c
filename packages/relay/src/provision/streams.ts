// The streams of a relay as they should be, and what differs between a stream and its plan. What is undefined in the
// options is left as it is in a stream that exists, and gets its default in one that does not. A limit is only made
// smaller when that was asked for expressly: the server would drop at once what no longer fits.
import { isDeepStrictEqual } from 'node:util';
import type { Layout, Names } from '../engine/names.ts';

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

type Configuration = Readonly<Record<string, unknown>>;

type StreamChanges = {
  /** Undefined: the stream is as planned. */
  configuration: Configuration | undefined;
  changed: string[];
  /** Wished for, and not done. */
  kept: string[];
};

const limits: ReadonlySet<string> = new Set(['max_age', 'max_msgs_per_subject', 'max_bytes']);

export function newStream(plan: StreamPlan): Configuration {
  return { name: plan.name, ...plan.initial, ...defined(plan.asked), ...plan.fixed };
}

export function changesOf(plan: StreamPlan, existing: Configuration, shrink: boolean): StreamChanges {
  const changed: string[] = [];
  const kept: string[] = [];
  const configuration: Record<string, unknown> = { ...existing };
  for (const [field, wished] of Object.entries({ ...defined(plan.asked), ...plan.fixed })) {
    const present = existing[field];
    if (agrees(present, wished)) continue;
    const words = `${field} ${JSON.stringify(present)} -> ${JSON.stringify(wished)}`;
    if (limits.has(field) && isSmaller(wished, present) && !shrink) {
      kept.push(`${words}: a smaller limit drops deliveries, so it must be asked for with shrink`);
      continue;
    }
    configuration[field] = wished;
    changed.push(words);
  }
  return { configuration: changed.length === 0 ? undefined : configuration, changed, kept };
}

function defined(fields: Configuration): Configuration {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The server adds fields of its own to an object, and leaves out what is empty. */
function agrees(present: unknown, wished: unknown): boolean {
  if (isRecord(present) && isRecord(wished))
    return Object.entries(wished).every(([key, value]) => isDeepStrictEqual(present[key], value));
  return isDeepStrictEqual(present, wished);
}

/** 0 and -1 are no limit at all. */
function isSmaller(wished: unknown, present: unknown): boolean {
  if (typeof wished !== 'number' || wished <= 0) return false;
  return typeof present !== 'number' || present <= 0 || wished < present;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
