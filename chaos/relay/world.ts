// Everything that runs in relay.ts: a cluster of three, the relays behind one front, the subscribers, and the ways
// between them, which can be spoiled. All of it ends with `stop`.
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freePort } from '../../packages/testkit/src/daemon/free-port.ts';
import { type ServerProcess, startServer } from '../../packages/testkit/src/daemon/server-process.ts';
import {
  createDaemonHome,
  type DaemonHome,
  startDaemon,
} from '../../packages/testkit/src/daemon/start-daemon.ts';
import { type NatsCluster, startNatsCluster } from '../../packages/testkit/src/nats/nats-cluster.ts';
import {
  newRelayChannel,
  type RelayChannel,
  type RelayProcess,
  startRelay,
} from '../../packages/testkit/src/nats/relay-process.ts';
import type { Random } from '../../packages/testkit/src/random.ts';
import { type LoopbackProxy, startLoopbackProxy } from '../../packages/testkit/src/wire/loopback-proxy.ts';
import { duplicatesName } from './subscriber-log.ts';

const PING_SECONDS = 2;
const STARTS = 5;

type Relay = {
  name: string;
  process: () => RelayProcess;
  /** Its ways to the nodes of the cluster. */
  toNodes: readonly LoopbackProxy[];
  kill: () => Promise<void>;
  stop: () => Promise<void>;
  start: () => Promise<void>;
};

type Subscriber = {
  name: string;
  isDaemon: boolean;
  /** Where its log is. */
  folder: string;
  /** Its way to the relays. */
  way: LoopbackProxy;
  kill: () => Promise<void>;
  stop: () => Promise<number | string>;
  start: () => Promise<void>;
  /** Deliveries that came again, where it counts them. */
  duplicates: () => number;
};

export type World = {
  cluster: NatsCluster;
  relays: readonly Relay[];
  subscribers: readonly Subscriber[];
  /** Where deliveries are posted: the relays in turn. */
  front: LoopbackProxy;
  channel: RelayChannel;
  home: DaemonHome;
  stop: () => Promise<void>;
};

export async function startWorld(
  given: {
    relays: number;
    subscribers: number;
    storesIn: string | undefined;
    syncAlways: boolean;
    'no-spill': boolean;
  },
  random: Random,
): Promise<World> {
  const home = createDaemonHome('chaos-relay');
  const ending: (() => Promise<void> | void)[] = [() => home.remove()];
  const stop = async (): Promise<void> => {
    for (const end of ending.toReversed()) await end();
    ending.length = 0;
  };
  try {
    const cluster = await startNatsCluster({
      size: 3,
      syncAlways: given.syncAlways,
      quietAboutPeers: true,
      ...(given.storesIn !== undefined && { storesIn: given.storesIn }),
    });
    ending.push(() => cluster.stop());
    const relays: Relay[] = [];
    for (let number = 1; number <= given.relays; number += 1) {
      const relay = await createRelay(`relay-${number}`, {
        home,
        cluster,
        random,
        isFirst: number === 1,
        hasSpill: !given['no-spill'],
      });
      ending.push(() => relay.kill());
      ending.push(async () => void (await Promise.all(relay.toNodes.map((way) => way.stop()))));
      relays.push(relay);
    }
    const ports = (): number[] => relays.map((relay) => relay.process().port);
    const [first] = relays;
    if (first === undefined) throw new Error('There must be a relay');
    const channel = await newRelayChannel(first.process().url);
    const front = await startLoopbackProxy(ports);
    ending.push(() => front.stop());
    const subscribers: Subscriber[] = [];
    for (let number = 1; number <= given.subscribers; number += 1) {
      const way = await startLoopbackProxy(ports);
      ending.push(() => way.stop());
      const make = number === 1 ? createDaemonSubscriber : createSmallSubscriber;
      const subscriber = make(`subscriber-${number}`, { home, way, channel });
      ending.push(() => subscriber.kill());
      subscribers.push(subscriber);
    }
    await Promise.all(subscribers.map((subscriber) => subscriber.start()));
    return { cluster, relays, subscribers, front, channel, home, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function createRelay(
  name: string,
  given: { home: DaemonHome; cluster: NatsCluster; random: Random; isFirst: boolean; hasSpill: boolean },
): Promise<Relay> {
  const { home, cluster, random, isFirst, hasSpill } = given;
  const spill = hasSpill ? ['--spill', join(home.home, `${name}-spill`)] : [];
  const toNodes = await Promise.all(cluster.nodes.map((node) => startLoopbackProxy(() => [node.port])));
  const port = await freePort(random);
  const start = (words: readonly string[]): Promise<RelayProcess> =>
    startRelay({
      folder: join(home.home, 'relays'),
      name,
      natsUrls: toNodes.map((way) => `nats://127.0.0.1:${way.port}`),
      port,
      pingSeconds: PING_SECONDS,
      words: ['--no-limits', ...spill, ...words],
    });
  let process = await start(isFirst ? ['--provision'] : []);
  return {
    name,
    process: () => process,
    toNodes,
    kill: () => process.kill(),
    async stop() {
      await process.stop();
    },
    /** Without the engine a relay gives up after a while; a service manager starts it again, and so do we. */
    async start() {
      for (let attempt = 1; ; attempt += 1) {
        try {
          process = await start([]);
          return;
        } catch (error) {
          if (attempt === STARTS) throw error;
        }
      }
    },
  };
}

type SubscriberParts = { home: DaemonHome; way: LoopbackProxy; channel: RelayChannel };

/** The channel's address as seen through the subscriber's own way: it must stay the same, being the cursor's name. */
function addressThrough(way: LoopbackProxy, { channel }: RelayChannel): string {
  return `http://127.0.0.1:${way.port}/${channel}`;
}

function createSmallSubscriber(name: string, { home, way, channel }: SubscriberParts): Subscriber {
  const folder = join(home.home, name);
  mkdirSync(folder);
  let process: ServerProcess | undefined;
  return {
    name,
    isDaemon: false,
    folder,
    way,
    kill: async () => process?.kill(),
    stop: async () => process?.stop() ?? 'never started',
    async start() {
      process = startServer({
        command: [join(import.meta.dirname, '../relay-subscriber.ts'), folder, addressThrough(way, channel)],
        environment: {
          HOME: home.home,
          ...(channel.readKey !== null && { SVC_CHAOS_READ_KEY: channel.readKey }),
        },
        folder,
        announcedIn: join(folder, 'subscriber.json'),
        output: join(folder, 'output.log'),
      });
      await process.ready;
    },
    duplicates() {
      const file = join(folder, duplicatesName);
      return existsSync(file) ? statSync(file).size : 0;
    },
  };
}

/** The real daemon, with its own configuration, receiver and log. */
function createDaemonSubscriber(name: string, { home, way, channel }: SubscriberParts): Subscriber {
  const file = join(home.home, '.config/svc/config.json');
  mkdirSync(dirname(file), { recursive: true });
  const github = { smeeChannel: addressThrough(way, channel) };
  writeFileSync(file, JSON.stringify({ svc: { monitor: { github } } }));
  let process: ServerProcess | undefined;
  return {
    name: `${name} (the daemon)`,
    isDaemon: true,
    folder: home.eventsDir,
    way,
    kill: async () => process?.kill(),
    stop: async () => process?.stop() ?? 'never started',
    async start() {
      process = startDaemon(home, {
        environment: channel.readKey === null ? {} : { SVC_RELAY_READ_KEY: channel.readKey },
      });
      await process.ready;
    },
    duplicates: () => 0,
  };
}
