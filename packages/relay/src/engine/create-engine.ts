// The engine on NATS JetStream, put together. Two connections: one writes, one reads. So a flood of live
// deliveries cannot hold up an acknowledgement, and a reader that is cut off does not cut off senders.
import { setTimeout as sleep } from 'node:timers/promises';
import { createByteLimit } from './byte-limit.ts';
import { createChannelCount } from './channel-count.ts';
import { createChannelRegistry } from './channel-registry.ts';
import { createChannelStatus } from './channel-status.ts';
import { type NatsOptions, openConnection } from './connection.ts';
import { createCursorStore } from './cursor-store.ts';
import { createDirectReads } from './direct-read.ts';
import type { Engine } from './engine.ts';
import { EngineNotProvisioned, EngineUnavailable } from './errors.ts';
import { createFeeds, type FeedTiming, feedTiming } from './feeds.ts';
import { createGate } from './gate.ts';
import { readLayout } from './layout.ts';
import { DEFAULT_PREFIX, namesFor } from './names.ts';
import { createDeliveryPublisher } from './publish-delivery.ts';
import { createPublisher } from './publisher.ts';
import { createReplyInbox } from './reply-inbox.ts';
import { serverWarnings } from './servers.ts';
import { createShardStates } from './shard-states.ts';
import { createStreamApi } from './stream-api.ts';

export type EngineOptions = {
  nats: NatsOptions;
  prefix?: string;
  timing?: Partial<FeedTiming>;
};

const KEEP_BYTES = 64 * 1024 * 1024;
const PAGES_AT_ONCE = 32;
const LARGE_BODIES_AT_ONCE = 4;
const COUNTS_AT_ONCE = 8;
const FINISH_WITHIN_MS = 3000;
/** An election may be under way when a relay starts. */
const START_WITHIN_MS = 30_000;

/** `const engine = await createEngine({ nats: { servers: ['nats://127.0.0.1:4222'] } })` */
export async function createEngine(options: EngineOptions): Promise<Engine> {
  const names = namesFor(options.prefix ?? DEFAULT_PREFIX);
  const writing = await openConnection(options.nats, 'write');
  const reading = await openConnection(options.nats, 'read').catch(async (error: unknown) => {
    await writing.close();
    throw error;
  });
  const writeInbox = createReplyInbox(writing);
  const readInbox = createReplyInbox(reading);
  const api = createStreamApi(readInbox);
  const reads = createDirectReads(readInbox);
  const publisher = createPublisher(writing, writeInbox);
  const shards = createShardStates(api, names);

  async function closeConnections(): Promise<void> {
    readInbox.close();
    writeInbox.close();
    await Promise.all([reading.close(), writing.close()]);
  }

  const layout = await start().catch(async (error: unknown) => {
    await closeConnections();
    throw error;
  });

  /** The layout, when every shard answers. */
  async function start() {
    for (const end = performance.now() + START_WITHIN_MS; ; await sleep(250)) {
      try {
        if ((await api.info(names.registryStream)) === undefined)
          throw new EngineNotProvisioned(`there is no stream ${names.registryStream}`);
        const message = await api.read(names.registryStream, { last_by_subj: names.layout });
        if (message === undefined) throw new EngineNotProvisioned('the registry has no layout');
        const found = readLayout(message.data.toString());
        if (found === undefined) throw new EngineNotProvisioned('the layout is of a newer relay');
        await Promise.all(Array.from({ length: found.shards }, (_, shard) => shards.fresh(shard)));
        await Promise.all([shards.look(names.registryStream), shards.look(names.cursorStream)]);
        return found;
      } catch (error) {
        if (!(error instanceof EngineUnavailable) || performance.now() > end) throw error;
      }
    }
  }

  const registry = createChannelRegistry({ publisher, reads, api, names });
  const cursors = createCursorStore({ publisher, reads, api, names });
  const byteLimit = createByteLimit({ publisher, reads, api, shards, names, layout });
  const count = createChannelCount(api, reading);
  const { status, countAfter } = createChannelStatus({ count, reads, shards, byteLimit, names, layout });
  const counting = createGate(COUNTS_AT_ONCE);
  const feeds = createFeeds(
    {
      connection: reading,
      reads,
      api,
      shards,
      names,
      layout,
      budget: { bytesLeft: KEEP_BYTES },
      pages: createGate(PAGES_AT_ONCE),
      largeBodies: createGate(LARGE_BODIES_AT_ONCE),
      trimmedBelow: byteLimit.trimmedBelow,
      sequenceBefore: count.sequenceBefore,
    },
    { ...feedTiming, ...options.timing },
  );

  reading.onChange((connected) => {
    if (connected) void feeds.checkAll();
  });
  watchElections();

  /** A new leader: what was sent to the old one is sent again, and what it did not repeat is looked for. */
  function watchElections(): void {
    const streams = new Map(
      Array.from({ length: layout.shards }, (_, shard) => [names.shardStream(shard), shard]),
    );
    const subject = '$JS.EVENT.ADVISORY.STREAM.LEADER_ELECTED.';
    reading.nats.subscribe(`${subject}*`, {
      callback(error, message) {
        const shard = error === null ? streams.get(message.subject.slice(subject.length)) : undefined;
        if (shard === undefined) return;
        publisher.sendAgain(names.delivery(shard, ''));
        feeds.elected(shard);
      },
    });
  }

  const publish = createDeliveryPublisher({
    connection: writing,
    publisher,
    byteLimit,
    shards,
    api,
    names,
    layout,
    // So that its health says so at once, and again when it is back.
    onUnavailable: (shard) => void feeds.check(shard),
  });

  return {
    createChannel: registry.create,
    findChannel: registry.find,
    publish,
    follow: feeds.follow,
    saveCursor: cursors.save,
    cursor: cursors.find,
    cursors: cursors.all,
    status: (channelId) => counting(() => status(channelId)),
    countAfter: (channelId, position) => counting(() => countAfter(channelId, position)),
    health() {
      const [one, other] = [writing.state(), reading.state()];
      const worse = one.connected ? other : one;
      const { reason, ...shown } = shards.answering();
      return { ...worse, since: Math.max(one.since, other.since), reason: worse.reason ?? reason, ...shown };
    },
    serverWarnings: () => serverWarnings(reading.nats),
    async close() {
      feeds.close();
      const end = performance.now() + FINISH_WITHIN_MS;
      while (publisher.underWay().messages > 0 && performance.now() < end) await sleep(20);
      await closeConnections();
    },
  };
}
