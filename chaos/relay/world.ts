// Everything that runs in relay.ts: a cluster of three, the relays behind one front, the subscribers, and the
// connections between them, which can be disturbed. All of it ends with `stop`.
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../packages/testkit/src/daemon/free-port.ts';
import { type ServerProcess, startServer } from '../../packages/testkit/src/daemon/server-process.ts';
import {
  createDaemonHome,
  type DaemonHome,
  startDaemon,
} from '../../packages/testkit/src/daemon/start-daemon.ts';
import { startNatsCluster } from '../../packages/testkit/src/nats/nats-cluster.ts';
import {
  newRelayChannel,
  type RelayChannel,
  type RelayProcess,
  startRelay,
} from '../../packages/testkit/src/nats/relay-process.ts';
import type { Random } from '../../packages/testkit/src/random.ts';
import { startOrStop, writeInto } from '../../packages/testkit/src/script.ts';
import { WAIT_MS } from '../../packages/testkit/src/waiting.ts';
import { type LoopbackProxy, startLoopbackProxy } from '../../packages/testkit/src/wire/loopback-proxy.ts';
import { duplicatesName } from './subscriber-log.ts';

const PING_SECONDS = 2;
const STARTS = 5;

export type World = Awaited<ReturnType<typeof startWorld>>;

type Given = {
  relays: number;
  subscribers: number;
  /** With a folder for each node, in which a relay beside it has its spill. */
  storesIn: string | undefined;
  syncAlways: boolean;
  'no-spill': boolean;
};

export function startWorld(given: Given, random: Random) {
  return startOrStop((starting) => startAll(starting, given, random));
}

/** What ends each is left in `starting`. */
async function startAll(starting: AsyncDisposableStack, given: Given, random: Random) {
  const home = createDaemonHome('chaos-relay');
  starting.defer(() => home.remove());
  const cluster = await startNatsCluster({
    size: 3,
    syncAlways: given.syncAlways,
    quietAboutPeers: true,
    ...(given.storesIn !== undefined && { storesIn: given.storesIn }),
  });
  starting.defer(() => cluster.stop());
  const proxyTo = async (ports: () => number[]): Promise<LoopbackProxy> => {
    const proxy = await startLoopbackProxy(ports);
    starting.defer(() => proxy.stop());
    return proxy;
  };
  const spillOf = (number: number): string =>
    given.storesIn === undefined
      ? join(home.home, `relay-${number}-spill`)
      : join(given.storesIn, `n${number}`, 'spill');
  const relays: Awaited<ReturnType<typeof createRelay>>[] = [];
  for (let number = 1; number <= given.relays; number += 1) {
    const name = `relay-${number}`;
    const relay = await createRelay(name, {
      home,
      random,
      toNodes: await Promise.all(cluster.nodes.map((node) => proxyTo(() => [node.port]))),
      firstWords: number === 1 ? ['--provision'] : [],
      spill: given['no-spill'] ? '' : spillOf(number),
    });
    starting.defer(() => relay.kill());
    relays.push(relay);
  }
  const ports = (): number[] => relays.map((relay) => relay.process().port);
  const channel = await newRelayChannel(`http://127.0.0.1:${ports()[0]}`);
  /** The URL for deliveries: the relays in turn. */
  const front = await proxyTo(ports);
  const subscribers: ReturnType<typeof createSubscriber>[] = [];
  for (let number = 1; number <= given.subscribers; number += 1) {
    const subscriber = createSubscriber(number, { home, way: await proxyTo(ports), channel });
    starting.defer(() => subscriber.kill());
    subscribers.push(subscriber);
  }
  await Promise.all(subscribers.map((subscriber) => subscriber.start()));
  return { cluster, relays, subscribers, front, channel, home };
}

export async function createRelay(
  name: string,
  given: {
    home: Pick<DaemonHome, 'home'>;
    random: Random;
    /** Its connections to the nodes of the cluster. */
    toNodes: readonly LoopbackProxy[];
    firstWords: readonly string[];
    /** The folder for its spill; empty: it has none. */
    spill: string;
    environment?: Record<string, string>;
  },
) {
  const { home, toNodes, spill, environment } = given;
  const port = await freePort(given.random);
  const start = (words: readonly string[]): Promise<RelayProcess> =>
    startRelay({
      folder: join(home.home, 'relays'),
      name,
      natsUrls: toNodes.map((way) => `nats://127.0.0.1:${way.port}`),
      port,
      pingSeconds: PING_SECONDS,
      words: ['--no-limits', ...(spill === '' ? [] : ['--spill', spill]), ...words],
      ...(environment && { environment }),
    });
  let process = await start(given.firstWords);
  return {
    name,
    process: () => process,
    toNodes,
    spill,
    kill: () => process.kill(),
    async stop(): Promise<void> {
      await process.stop();
    },
    /** How many deliveries its spill holds. */
    async spilled(): Promise<number> {
      const metrics = await (
        await fetch(`${process.url}/metrics`, { signal: AbortSignal.timeout(WAIT_MS) })
      ).text();
      return Number(/^svc_relay_spilled_waiting (\d+)/m.exec(metrics)?.[1] ?? 0);
    },
    /** Without the engine a relay gives up after a while; a service manager would restart it, and so do we. */
    async start(): Promise<void> {
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

/** The first is the real daemon, with its own configuration, receiver and log; the others are small. */
function createSubscriber(number: number, parts: SubscriberParts) {
  const { home, way } = parts;
  const isDaemon = number === 1;
  const own = join(home.home, `subscriber-${number}`);
  const start = isDaemon ? daemonStarter(parts) : smallStarter(own, parts);
  let process: ServerProcess | undefined;
  return {
    name: `subscriber-${number}${isDaemon ? ' (the daemon)' : ''}`,
    isDaemon,
    /** Where its log is. */
    folder: isDaemon ? home.eventsDir : own,
    /** Its connection to the relays. */
    way,
    kill: async (): Promise<void> => process?.kill(),
    stop: async (): Promise<number | string> => process?.stop() ?? 'never started',
    async start(): Promise<void> {
      process = start();
      await process.ready;
    },
    /** Repeated deliveries, if it counts them. */
    duplicates: (): number => {
      const file = join(own, duplicatesName);
      return existsSync(file) ? statSync(file).size : 0;
    },
  };
}

/** The channel's URL through the subscriber's own proxy: it must stay the same, because it names the cursor. */
function addressThrough({ way, channel }: SubscriberParts): string {
  return `http://127.0.0.1:${way.port}/${channel.channel}`;
}

function readKeyAs(variable: string, { channel }: SubscriberParts): Record<string, string> {
  return channel.readKey === null ? {} : { [variable]: channel.readKey };
}

function smallStarter(folder: string, parts: SubscriberParts): () => ServerProcess {
  mkdirSync(folder);
  return () =>
    startServer({
      command: [join(import.meta.dirname, '../relay-subscriber.ts'), folder, addressThrough(parts)],
      environment: { HOME: parts.home.home, ...readKeyAs('SVC_CHAOS_READ_KEY', parts) },
      folder,
      announcedIn: join(folder, 'subscriber.json'),
      output: join(folder, 'output.log'),
    });
}

function daemonStarter(parts: SubscriberParts): () => ServerProcess {
  const github = { smeeChannel: addressThrough(parts) };
  writeInto(parts.home.home, '.config/svc/config.json', { svc: { monitor: { github } } });
  return () => startDaemon(parts.home, { environment: readKeyAs('SVC_RELAY_READ_KEY', parts) });
}
