// Streams as code: makes what is missing, changes what differs, says what it did. It never deletes a stream,
// and it may run again at any time, also while relays serve.

import { setTimeout as sleep } from 'node:timers/promises';
import { JetStreamApiError, type StreamConfig } from '@nats-io/jetstream';
import { messageOf } from '@svc/lib/errors';
import { type NatsOptions, openConnection } from '../engine/connection.ts';
import { EngineUnavailable, Refused } from '../engine/errors.ts';
import {
  DEFAULT_PREFIX,
  type Layout,
  type Names,
  namesFor,
  readLayout,
  writeLayout,
} from '../engine/names.ts';
import { createPublisher, type Publisher } from '../engine/publisher.ts';
import { isClustered } from '../engine/servers.ts';
import { createStore, type Store } from '../engine/store.ts';
import {
  changesOf,
  defaults,
  MAX_SHARDS,
  newStream,
  planStreams,
  type StreamOptions,
  type StreamPlan,
} from './streams.ts';

export type ProvisionOptions = StreamOptions & {
  nats: NatsOptions;
  prefix?: string;
  /** Allows limits to become smaller, and so deliveries to be dropped. */
  shrink?: boolean;
  /** Tells what would be done, and does nothing. */
  dryRun?: boolean;
};

export type ProvisionStep = {
  /** The stream, or `layout`. */
  what: string;
  done: 'created' | 'changed' | 'unchanged';
  /** What changed, and what was wished for and left. */
  details: string[];
};

/** By JetStream's own codes. */
const remedies: Readonly<Record<number, string>> = {
  10005: 'Give fewer replicas, other placement tags, or the cluster more servers.',
  10023: 'Give the NATS servers more memory or disk for JetStream (max_file_store).',
  10047:
    'Give a smaller size per shard (--max-shard-bytes), or NATS more disk for JetStream (max_file_store).',
  10074: 'Replicas need a NATS cluster: give 1, or connect to one.',
};
/** A cluster that has just started needs some seconds to agree on a leader. */
const PATIENCE_MS = 30_000;
/** Room for the largest delivery, and for another one while it is stored. */
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
    // Last: while it is not there, nothing is settled, and a first attempt that failed can be repeated otherwise.
    steps.push(await keepLayout(options.dryRun === true ? null : publisher, names, present, layout));
    return steps;
  } finally {
    publisher.close();
    await connection.close();
  }
}

/** Undefined before the first provisioning. */
async function presentLayout(store: Store, names: Names): Promise<Layout | undefined> {
  const info = await patiently(() => store.info(names.registryStream));
  if (info === undefined) return undefined;
  const message = await patiently(() => store.leaderLast(names.registryStream, names.layout));
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
      `${shards} is not a number of shards`,
      `Give one from 1 to ${MAX_SHARDS}.`,
    );
  if (present !== undefined && present.shards !== shards)
    throw new Refused(
      'provision-refused',
      `there are ${present.shards} shards: with ${shards} channels would move`,
      'Keep the number of shards, or use another prefix for a new relay.',
    );
  if (options.maxBytesPerShard !== undefined && options.maxBytesPerShard < LEAST_SHARD_BYTES)
    throw new Refused(
      'provision-refused',
      `a stream of ${options.maxBytesPerShard} bytes cannot keep one delivery of 25 MiB`,
      `Give at least --max-shard-bytes ${LEAST_SHARD_BYTES / 1024 / 1024}.`,
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
  await publisher?.publish({ subject: names.layout, payload, messageId, deadlineMs: PATIENCE_MS });
  return { what: 'layout', done: present === undefined ? 'created' : 'changed', details: [text] };
}

async function applyPlan(
  store: Store,
  plan: StreamPlan,
  { shrink = false, dryRun = false }: ProvisionOptions,
): Promise<ProvisionStep> {
  const { name } = plan;
  const { streams } = store.manager;
  const present = await patiently(() => store.info(name));
  if (present === undefined) {
    const configuration = newStream(plan);
    if (!dryRun) await change(name, () => streams.add(configuration as StreamConfig));
    return { what: name, done: 'created', details: [`replicas ${String(configuration['num_replicas'])}`] };
  }
  const { configuration, changed, kept } = changesOf(
    plan,
    { ...present.config },
    // Nothing can be dropped from an empty one.
    shrink || present.state.messages === 0,
  );
  if (configuration === undefined) return { what: name, done: 'unchanged', details: kept };
  if (!dryRun) await change(name, () => streams.update(name, configuration));
  return { what: name, done: 'changed', details: [...changed, ...kept] };
}

/** What may pass is tried again; what the server will never do is refused. */
function change(name: string, work: () => Promise<unknown>): Promise<void> {
  return patiently(async () => {
    try {
      await work();
    } catch (error) {
      const words = `${name}: ${messageOf(error)}`;
      if (!(error instanceof JetStreamApiError) || error.status === 503) throw new EngineUnavailable(words);
      const remedy = remedies[error.code] ?? 'See the log of the NATS server.';
      throw new Refused('provision-refused', `${words} (${error.code})`, remedy);
    }
  });
}

async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (const end = performance.now() + PATIENCE_MS; ; await sleep(500)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof EngineUnavailable) || performance.now() > end) throw error;
    }
  }
}
