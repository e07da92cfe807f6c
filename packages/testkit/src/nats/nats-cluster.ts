// Real nats-servers with JetStream for tests, chaos and benches: a single one, or a cluster with its own routes. The
// caller has to stop it; tests use `natsForTest` and `natsClusterForTest`.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { freePort } from '../daemon/free-port.ts';
import { createRandom, type Random } from '../random.ts';
import { until } from '../waiting.ts';
import {
  askNats,
  createNatsNode,
  type NatsMember,
  type NatsNode,
  type NatsSettings,
  natsConfiguration,
} from './nats-node.ts';

export type NatsServer = NatsNode & {
  /** Ends it, and removes its store. */
  stop: () => Promise<void>;
};

export type NatsCluster = {
  nodes: readonly NatsNode[];
  urls: readonly string[];
  /** The node that leads the cluster's own group; undefined during an election. */
  metaLeader: () => Promise<NatsNode | undefined>;
  /** The node that leads the stream; undefined during an election, or if there is no such stream. */
  streamLeader: (stream: string) => Promise<NatsNode | undefined>;
  /** The planned change of leader: the current one steps down. Resolves when it has agreed. */
  stepDown: (stream: string) => Promise<void>;
  streams: () => Promise<readonly string[]>;
  /** The stream with the most messages, and its leader. */
  busiestStream: () => Promise<{ stream: string; leader: NatsNode } | undefined>;
  /** Whether every stream has a leader whose replicas are all up to date. */
  isCurrent: () => Promise<boolean>;
  stop: () => Promise<void>;
};

/** Another process may take a port between the check and the start. */
const ATTEMPTS = 5;
let started = 0;
/** Stores of servers that were not stopped: removed with the process. */
const folders = new Set<string>();

function removeFolders(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

/** `const nats = await startNatsServer(); connect({ servers: nats.url })` */
export async function startNatsServer(settings: NatsSettings = {}): Promise<NatsServer> {
  const { nodes, folder } = await startNodes(1, settings);
  return { ...only(nodes), stop: () => endAll(nodes, folder) };
}

/** Resolves when the cluster has a leader, and every node is healthy and known to it. */
export async function startNatsCluster({
  size = 3,
  ...settings
}: NatsSettings & { size?: number } = {}): Promise<NatsCluster> {
  const { nodes, folder } = await startNodes(size, settings);
  const named = (name: unknown): NatsNode | undefined => nodes.find((node) => node.name === name);

  async function metaLeader(): Promise<NatsNode | undefined> {
    for (const node of nodes) {
      const found = named((await monitored(node, '/jsz'))?.meta_cluster?.leader);
      if (found?.pid() !== undefined) return found;
    }
    return undefined;
  }

  /** Otherwise it refuses to create a stream. */
  async function knowsAll(): Promise<boolean> {
    const leader = await metaLeader();
    const replicas = leader && ((await monitored(leader, '/jsz'))?.meta_cluster?.replicas ?? []);
    return replicas?.filter(isUpToDate).length === size - 1;
  }

  /** What each node reports about its streams. */
  async function groups(): Promise<Group[]> {
    const details = await Promise.all(nodes.map((node) => monitored(node, '/jsz?accounts=1&streams=1')));
    return details.flatMap((detail, index) =>
      (detail?.account_details ?? [])
        .flatMap((account) => account.stream_detail ?? [])
        .map(({ name, cluster: group, state }) => ({
          stream: name,
          messages: state?.messages ?? 0,
          leader: group?.leader === nodes[index]?.name ? nodes[index] : undefined,
          current: (group?.replicas ?? []).every(isUpToDate),
        })),
    );
  }

  /** A leading node reports it itself; the reports of others may be old. */
  async function leaders(): Promise<LedGroup[]> {
    return (await groups()).filter((group): group is LedGroup => group.leader !== undefined);
  }

  async function streamLeader(stream: string): Promise<NatsNode | undefined> {
    return (await leaders()).find((group) => group.stream === stream)?.leader;
  }

  async function stepDown(stream: string): Promise<void> {
    const asked = nodes.find((node) => node.pid() !== undefined);
    if (asked === undefined) throw new Error('no running node');
    const answer = await askNats(asked.port, `$JS.API.STREAM.LEADER.STEPDOWN.${stream}`, '');
    if (!/"success":\s*true/.test(answer)) throw new Error(`${stream} did not change its leader: ${answer}`);
  }

  const cluster: NatsCluster = {
    nodes,
    urls: nodes.map(({ url }) => url),
    metaLeader,
    streamLeader,
    stepDown,
    streams: async () => [...new Set((await groups()).map(({ stream }) => stream))].toSorted(),
    busiestStream: async () => (await leaders()).toSorted((left, right) => right.messages - left.messages)[0],
    async isCurrent() {
      const all = await groups();
      const led = all.filter((group) => group.leader !== undefined && group.current);
      return new Set(all.map(({ stream }) => stream)).size === new Set(led.map(({ stream }) => stream)).size;
    },
    stop: () => endAll(nodes, folder),
  };
  try {
    await until(knowsAll);
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}

async function startNodes(
  size: number,
  settings: NatsSettings,
): Promise<{ nodes: NatsNode[]; folder: string }> {
  started += 1;
  const random = createRandom(process.pid * 1000 + (Date.now() % 1000) + started);
  for (let attempt = 1; ; attempt += 1) {
    const folder = mkdtempSync(join(tmpdir(), 'svc-nats-'));
    const nodes = await createNodes(size, folder, settings, random);
    try {
      await Promise.all(nodes.map((node) => node.start()));
      if (folders.size === 0) process.once('exit', removeFolders);
      folders.add(folder);
      return { nodes, folder };
    } catch (error) {
      await endAll(nodes, folder);
      if (attempt === ATTEMPTS || !/address already in use/.test(String(error))) throw error;
    }
  }
}

async function createNodes(
  size: number,
  folder: string,
  settings: NatsSettings,
  random: Random,
): Promise<NatsNode[]> {
  const taken = new Set<number>();
  const port = async (): Promise<number> => {
    const free = await freePort(random);
    if (taken.has(free)) return port();
    taken.add(free);
    return free;
  };
  const peers: NatsMember[] = [];
  for (let index = 0; index < size; index += 1)
    peers.push({ port: await port(), monitorPort: await port(), routePort: await port() });
  return peers.map((member, index) => {
    const name = `n${index + 1}`;
    const storeFolder = join(settings.storesIn ?? folder, name);
    mkdirSync(storeFolder, { recursive: true });
    return createNatsNode({
      name,
      folder,
      port: member.port,
      monitorPort: member.monitorPort,
      configuration: natsConfiguration({ name, member, peers, storeFolder, settings }),
    });
  });
}

async function endAll(nodes: readonly NatsNode[], folder: string): Promise<void> {
  await Promise.all(nodes.map((node) => node.kill()));
  rmSync(folder, { recursive: true, force: true });
  folders.delete(folder);
  if (folders.size === 0) process.off('exit', removeFolders);
}

type Group = { stream: string; messages: number; leader: NatsNode | undefined; current: boolean };
type LedGroup = Group & { leader: NatsNode };

type Replica = { current?: boolean; offline?: boolean };

const isUpToDate = ({ current, offline }: Replica): boolean => current === true && offline !== true;

type JetStreamState = {
  meta_cluster?: { leader?: string; replicas?: Replica[] };
  account_details?: {
    stream_detail?: {
      name: string;
      cluster?: { leader?: string; replicas?: Replica[] };
      state?: { messages?: number };
    }[];
  }[];
};

async function monitored(node: NatsNode, path: string): Promise<JetStreamState | undefined> {
  if (node.pid() === undefined) return undefined;
  try {
    const response = await fetch(node.monitorUrl + path, { signal: AbortSignal.timeout(2000) });
    return response.ok ? ((await response.json()) as JetStreamState) : undefined;
  } catch {
    // It is stopping, or paused: it leads nothing.
    return undefined;
  }
}

function only<T>(list: readonly T[]): T {
  const [first] = list;
  if (first === undefined) throw new Error('no node');
  return first;
}

// Real nats-servers for one test: removed, with their stores, when it ends.

export async function natsForTest(settings: NatsSettings = {}): Promise<NatsServer> {
  const server = await startNatsServer(settings);
  onTestFinished(() => server.stop());
  return server;
}

export async function natsClusterForTest(
  settings: NatsSettings & { size?: number } = {},
): Promise<NatsCluster> {
  const cluster = await startNatsCluster(settings);
  onTestFinished(() => cluster.stop());
  return cluster;
}
