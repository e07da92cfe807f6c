// Builds the engine on NATS JetStream. One connection writes and one reads, so a flood of live deliveries cannot delay an
// acknowledgement, and losing the reading connection does not affect senders.
import { setTimeout as sleep } from 'node:timers/promises';
import { createLimit } from '@svc/lib/limit';
import { createByteLimit } from '../channels/byte-limit.ts';
import { createChannelRegistry, createChannelStatus, createCursors } from '../channels/channels.ts';
import { createDeliveryPublisher } from '../channels/deliveries.ts';
import { createRecords } from '../records/records.ts';
import { type NatsOptions, openConnection, serverWarnings } from './connection.ts';
import {
  DEFAULT_PREFIX,
  type Engine,
  EngineNotProvisioned,
  EngineUnavailable,
  type Layout,
  type Names,
  namesFor,
  readLayout,
  shardOf,
} from './engine.ts';
import { createFeeds, type FeedTiming, feedTiming } from './feeds.ts';
import { createPublisher } from './publisher.ts';
import { createShardStates, type ShardStates } from './shards.ts';
import { createStore, type Store } from './store.ts';

export type EngineOptions = {
  nats: NatsOptions;
  prefix?: string;
  timing?: Partial<FeedTiming>;
};

const KEEP_BYTES = 64 * 1024 * 1024;
const PAGES_AT_ONCE = 32;
const LARGE_BODIES_AT_ONCE = 4;
const FINISH_WITHIN_MS = 3000;
/** An election may be running when a relay starts. */
const START_WITHIN_MS = 30_000;

/** `const engine = await createEngine({ nats: { servers: ['nats://127.0.0.1:4222'] } })` */
export async function createEngine(options: EngineOptions): Promise<Engine> {
  const names = namesFor(options.prefix ?? DEFAULT_PREFIX);
  const writing = await openConnection(options.nats, 'write');
  const reading = await openConnection(options.nats, 'read').catch(async (error: unknown) => {
    await writing.close();
    throw error;
  });
  const publisher = createPublisher(writing);
  const store = await createStore(reading);
  const shards = createShardStates(store, names);

  async function closeConnections(): Promise<void> {
    publisher.close();
    await Promise.all([reading.close(), writing.close()]);
  }

  const layout = await findLayout(store, shards, names).catch(async (error: unknown) => {
    await closeConnections();
    throw error;
  });
  const byteLimit = createByteLimit({ publisher, store, shards, names, layout });
  const feeds = createFeeds(
    {
      connection: reading,
      store,
      shards,
      names,
      layout,
      budget: { bytesLeft: KEEP_BYTES },
      pages: createLimit(PAGES_AT_ONCE),
      largeBodies: createLimit(LARGE_BODIES_AT_ONCE),
      trimmedBelow: byteLimit.trimmedBelow,
    },
    { ...feedTiming, ...options.timing },
  );
  const records = createRecords({ connection: reading, publisher, store, names, layout });
  reading.onChange((connected) => {
    if (connected) feeds.reconnected();
  });

  /** A new leader: what was sent to the old one is sent again, and missed live copies are searched for. */
  const elections = '$JS.EVENT.ADVISORY.STREAM.LEADER_ELECTED.';
  const shardNumbers = Array.from({ length: layout.shards }, (_, shard) => shard);
  const shardsByStream = new Map(shardNumbers.map((shard) => [names.shardStream(shard), shard]));
  reading.nats.subscribe(`${elections}*`, {
    callback(error, message) {
      const stream = error === null ? message.subject.slice(elections.length) : '';
      const shard = shardsByStream.get(stream);
      if (shard === undefined) return;
      publisher.sendAgain(names.delivery(shard, ''));
      feeds.elected(shard);
    },
  });

  return {
    ...createChannelRegistry({ publisher, store, names }),
    ...createCursors({ publisher, store, names }),
    ...createChannelStatus({ store, shards, byteLimit, names, layout }),
    publish: createDeliveryPublisher({
      connection: writing,
      publisher,
      byteLimit,
      shards,
      store,
      names,
      layout,
      // Updates health at once, and again when the shard is back.
      onUnavailable: (shard) => void feeds.check(shard, new Set()),
    }),
    shardOf: (channelId) => shardOf(channelId, layout),
    follow: (channelId, followOptions) => feeds.follow(channelId, followOptions),
    records,
    health() {
      const [one, other] = [writing.state(), reading.state()];
      const worse = one.connected ? other : one;
      const { reason, ...shown } = shards.answering();
      return { ...worse, since: Math.max(one.since, other.since), reason: worse.reason ?? reason, ...shown };
    },
    serverWarnings: () => serverWarnings(reading.nats),
    async close() {
      feeds.close();
      records.close();
      const end = performance.now() + FINISH_WITHIN_MS;
      while (publisher.underWay() > 0 && performance.now() < end) await sleep(20);
      await closeConnections();
    },
  };
}

/** The layout, when every shard answers. */
async function findLayout(store: Store, shards: ShardStates, names: Names): Promise<Layout> {
  for (const end = performance.now() + START_WITHIN_MS; ; await sleep(250)) {
    try {
      if ((await store.info(names.registryStream)) === undefined)
        throw new EngineNotProvisioned(`there is no stream ${names.registryStream}`);
      const message = await store.leaderLast(names.registryStream, names.layout);
      if (message === undefined) throw new EngineNotProvisioned('the registry has no layout');
      const found = readLayout(Buffer.from(message.data).toString());
      if (found === undefined) throw new EngineNotProvisioned('the layout was written by a newer relay');
      await Promise.all(Array.from({ length: found.shards }, (_, shard) => shards.fresh(shard)));
      await shards.checkOthers();
      return found;
    } catch (error) {
      if (!(error instanceof EngineUnavailable) || performance.now() > end) throw error;
    }
  }
}
