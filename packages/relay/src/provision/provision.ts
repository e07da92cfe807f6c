// Streams as code: creates what is missing, changes what differs, reports what it did. It never deletes a stream, and can
// run again at any time, also while relays are serving.
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { JetStreamApiError, type StreamConfig } from '@nats-io/jetstream';
import { messageOf } from '@svc/lib/errors';
import { isClustered, type NatsOptions, openConnection } from '../engine/connection.ts';
import {
  DEFAULT_PREFIX,
  EngineUnavailable,
  type Layout,
  type Names,
  namesFor,
  Refused,
  readLayout,
  writeLayout,
} from '../engine/engine.ts';
import { createPublisher, type Publisher } from '../engine/publisher.ts';
import { createStore, type Store } from '../engine/store.ts';

export type ProvisionOptions = StreamOptions & {
  nats: NatsOptions;
  prefix?: string;
  /** Allows smaller limits, which drop deliveries. */
  shrink?: boolean;
  /** Reports what would be done, and does nothing. */
  dryRun?: boolean;
};

export type ProvisionStep = {
  /** The stream, or `layout`. */
  what: string;
  done: 'created' | 'changed' | 'unchanged';
  /** What changed, and which requested changes were not made. */
  details: string[];
};

/** By JetStream's error codes. */
const remedies: Readonly<Record<number, string>> = {
  10005: 'Use fewer replicas or other placement tags, or add servers to the cluster.',
  10023: 'Give the NATS servers more memory or disk for JetStream (max_file_store).',
  10047: 'Use a smaller --max-shard-bytes, or give NATS more disk for JetStream (max_file_store).',
  10074: 'Replicas need a NATS cluster: use 1, or connect to a cluster.',
};
/** A cluster that has just started needs some seconds to agree on a leader. */
const TIMEOUT_MS = 30_000;
/** Space for the largest delivery, and for another one while it is stored. */
const LEAST_SHARD_BYTES = 64 * 1024 * 1024;

/** `await provision({ nats: { servers: ['nats://127.0.0.1:4222'] } })` */
export async function provision(options: ProvisionOptions): Promise<ProvisionStep[]> {
  const names = namesFor(options.prefix ?? DEFAULT_PREFIX);
  const connection = await openConnection(options.nats, 'provision');
  const publisher = createPublisher(connection);
  try {
    const store = await createStore(connection);
    const present = await presentLayout(store, names);
    const layout = wishedLayout(present, options);
    const [registry, ...others] = planStreams(names, layout, options, isClustered(connection.nats));
    if (registry === undefined) return [];
    const steps = [await applyPlan(store, registry, options)];
    for (const plan of others) steps.push(await applyPlan(store, plan, options));
    // Last: without a layout nothing is fixed yet, and a failed first attempt can be repeated with other settings.
    steps.push(await keepLayout(options.dryRun === true ? null : publisher, names, present, layout));
    return steps;
  } finally {
    publisher.close();
    await connection.close();
  }
}

/** Undefined before the first provisioning. */
async function presentLayout(store: Store, names: Names): Promise<Layout | undefined> {
  const info = await retrying(() => store.info(names.registryStream));
  if (info === undefined) return undefined;
  const message = await retrying(() => store.leaderLast(names.registryStream, names.layout));
  if (message === undefined) return undefined;
  const layout = readLayout(Buffer.from(message.data).toString());
  if (layout === undefined)
    throw new Refused('provision-refused', 'the streams belong to a newer relay', 'Upgrade svc-relay first.');
  return layout;
}

function wishedLayout(present: Layout | undefined, options: StreamOptions): Layout {
  const shards = options.shards ?? present?.shards ?? defaults.shards;
  if (!Number.isInteger(shards) || shards < 1 || shards > MAX_SHARDS)
    throw new Refused(
      'provision-refused',
      `${shards} is not a valid number of shards`,
      `Use 1 to ${MAX_SHARDS}.`,
    );
  if (present !== undefined && present.shards !== shards)
    throw new Refused(
      'provision-refused',
      `there are ${present.shards} shards: changing to ${shards} would move channels`,
      'Keep the number of shards, or use another prefix for a new relay.',
    );
  if (options.maxBytesPerShard !== undefined && options.maxBytesPerShard < LEAST_SHARD_BYTES)
    throw new Refused(
      'provision-refused',
      `a stream of ${options.maxBytesPerShard} bytes cannot keep one delivery of 25 MiB`,
      `Use at least --max-shard-bytes ${LEAST_SHARD_BYTES / 1024 / 1024}.`,
    );
  const { maxDeliveriesPerChannel, maxBytesPerChannel } = { ...defaults, ...present, ...given(options) };
  return { shards, maxDeliveriesPerChannel, maxBytesPerChannel };
}

function given({ maxDeliveriesPerChannel, maxBytesPerChannel }: StreamOptions) {
  return {
    ...(maxDeliveriesPerChannel !== undefined && { maxDeliveriesPerChannel }),
    ...(maxBytesPerChannel !== undefined && { maxBytesPerChannel }),
  };
}

async function keepLayout(
  publisher: Publisher | null,
  names: Names,
  present: Layout | undefined,
  layout: Layout,
): Promise<ProvisionStep> {
  const text = writeLayout(layout);
  if (present !== undefined && writeLayout(present) === text)
    return { what: 'layout', done: 'unchanged', details: [] };
  const messageId = `layout:${Date.now()}`;
  const payload = Buffer.from(text);
  await publisher?.publish({ subject: names.layout, payload, messageId, deadlineMs: TIMEOUT_MS });
  return { what: 'layout', done: present === undefined ? 'created' : 'changed', details: [text] };
}

async function applyPlan(
  store: Store,
  plan: StreamPlan,
  { shrink = false, dryRun = false }: ProvisionOptions,
): Promise<ProvisionStep> {
  const { name } = plan;
  const { streams } = store.manager;
  const present = await retrying(() => store.info(name));
  if (present === undefined) {
    const configuration = newStream(plan);
    if (!dryRun) await change(name, () => streams.add(configuration as StreamConfig));
    return { what: name, done: 'created', details: [`replicas ${String(configuration['num_replicas'])}`] };
  }
  const { configuration, changed, kept } = changesOf(
    plan,
    { ...present.config },
    // An empty stream has nothing to drop.
    shrink || present.state.messages === 0,
  );
  if (configuration === undefined) return { what: name, done: 'unchanged', details: kept };
  if (!dryRun) await change(name, () => streams.update(name, configuration));
  return { what: name, done: 'changed', details: [...changed, ...kept] };
}

/** Retries temporary failures; a permanent one throws `Refused`. */
function change(name: string, work: () => Promise<unknown>): Promise<void> {
  return retrying(async () => {
    try {
      await work();
    } catch (error) {
      const message = `${name}: ${messageOf(error)}`;
      if (!(error instanceof JetStreamApiError) || error.status === 503 || isOffline(error))
        throw new EngineUnavailable(message);
      const remedy = remedies[error.code] ?? 'See the log of the NATS server.';
      throw new Refused('provision-refused', `${message} (${error.code})`, remedy);
    }
  });
}

/** A server of a cluster that has just started may not have announced itself to the others. */
function isOffline({ code, message }: JetStreamApiError): boolean {
  return code === 10005 && message.includes('peer offline');
}

async function retrying<T>(work: () => Promise<T>): Promise<T> {
  for (const end = performance.now() + TIMEOUT_MS; ; await sleep(500)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof EngineUnavailable) || performance.now() > end) throw error;
    }
  }
}

// The plan of a relay's streams, and the differences between a stream and its plan. An undefined option keeps the value of
// an existing stream, and gets its default in a new one. A limit is made smaller only if that was requested explicitly:
// the server would drop at once what no longer fits.

type StreamOptions = {
  /** Fixed at the first provisioning. */
  shards?: number;
  /** Default: 3 in a cluster, 1 on a single server. */
  replicas?: number;
  /** Servers must have all of them; use one per power domain so replicas fail independently. */
  placementTags?: readonly string[];
  /** How long a delivery is kept: the default is as long as the code host can resend it. */
  maxAgeMs?: number;
  maxDeliveriesPerChannel?: number;
  maxBytesPerChannel?: number;
  /** The server reserves it: all shards together must fit its store. */
  maxBytesPerShard?: number;
  /** Repeated deliveries are recognised within it; it costs the server about 240 bytes per delivery. */
  dedupeWindowMs?: number;
};

const DAY_MS = 24 * 3_600_000;
const defaults = {
  shards: 16,
  maxAgeMs: 3 * DAY_MS,
  maxDeliveriesPerChannel: 250_000,
  maxBytesPerChannel: 1024 ** 3,
  maxBytesPerShard: 2 * 1024 ** 3,
  dedupeWindowMs: 5 * 60_000,
} as const satisfies StreamOptions;
/** A subscriber that was not connected for this long is forgotten. */
const CURSOR_AGE_MS = 30 * DAY_MS;
const MAX_RECORD_BYTES_PER_SHARD = 64 * 1024 ** 2;
/** Each replicated stream is its own Raft group. */
const MAX_SHARDS = 256;

/** The fields of JetStream's configuration that we set. */
type StreamPlan = {
  name: string;
  /** Required values, whatever was requested. */
  fixed: Record<string, unknown>;
  /** Requested values; undefined: not requested. */
  asked: Record<string, unknown>;
  /** Values for a new stream. */
  initial: Record<string, unknown>;
};

function planStreams(names: Names, layout: Layout, options: StreamOptions, clustered: boolean): StreamPlan[] {
  const shards = Array.from({ length: layout.shards }, (_, shard) => shard);
  return [
    registryPlan(names, options, clustered),
    cursorPlan(names, options, clustered),
    ...shards.map((shard) => shardPlan(names, shard, options, clustered)),
    ...shards.map((shard) => recordPlan(names, shard, options, clustered)),
  ];
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

/** Records of teams. A full stream refuses a new one: a value must not disappear because another team writes more. */
function recordPlan(names: Names, shard: number, options: StreamOptions, clustered: boolean): StreamPlan {
  return {
    name: names.recordStream(shard),
    fixed: {
      ...everyStream,
      description: 'records of teams of svc-relay',
      subjects: [names.record(shard, '*', '*.*.*')],
      republish: { src: names.records(shard), dest: names.announcements(shard), headers_only: true },
      discard: 'new',
      max_msgs_per_subject: 1,
      allow_msg_ttl: true,
      compression: 'none',
    },
    asked: placement(options),
    initial: { num_replicas: clustered ? 3 : 1, max_bytes: MAX_RECORD_BYTES_PER_SHARD },
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
  /** Undefined: the stream matches the plan. */
  configuration: Configuration | undefined;
  changed: string[];
  /** Requested, and not done. */
  kept: string[];
};

const limits: ReadonlySet<string> = new Set(['max_age', 'max_msgs_per_subject', 'max_bytes']);

function newStream(plan: StreamPlan): Configuration {
  return { name: plan.name, ...plan.initial, ...defined(plan.asked), ...plan.fixed };
}

function changesOf(plan: StreamPlan, existing: Configuration, shrink: boolean): StreamChanges {
  const changed: string[] = [];
  const kept: string[] = [];
  const configuration: Record<string, unknown> = { ...existing };
  for (const [field, wished] of Object.entries({ ...defined(plan.asked), ...plan.fixed })) {
    const present = existing[field];
    if (agrees(present, wished)) continue;
    const message = `${field} ${JSON.stringify(present)} -> ${JSON.stringify(wished)}`;
    if (limits.has(field) && isSmaller(wished, present) && !shrink) {
      kept.push(`${message}: a smaller limit drops deliveries, so it needs --shrink`);
      continue;
    }
    configuration[field] = wished;
    changed.push(message);
  }
  return { configuration: changed.length === 0 ? undefined : configuration, changed, kept };
}

function defined(fields: Configuration): Configuration {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The server adds its own fields to an object, and leaves out empty ones. */
function agrees(present: unknown, wished: unknown): boolean {
  if (isRecord(present) && isRecord(wished))
    return Object.entries(wished).every(([key, value]) => isDeepStrictEqual(present[key], value));
  return isDeepStrictEqual(present, wished);
}

/** 0 and -1 mean no limit. */
function isSmaller(wished: unknown, present: unknown): boolean {
  if (typeof wished !== 'number' || wished <= 0) return false;
  return typeof present !== 'number' || present <= 0 || wished < present;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
