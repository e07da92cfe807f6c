// What the bench runs ours on: one nats-server or three, one relay process in front, a channel, and the real daemon
// where its log counts.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ServerProcess } from '../../packages/testkit/src/daemon/server-process.ts';
import {
  createDaemonHome,
  type DaemonHome,
  startDaemon,
} from '../../packages/testkit/src/daemon/start-daemon.ts';
import { startNatsCluster, startNatsServer } from '../../packages/testkit/src/nats/nats-cluster.ts';
import {
  newRelayChannel,
  type RelayChannel,
  type RelayProcess,
  startRelay,
} from '../../packages/testkit/src/nats/relay-process.ts';

export type Engine = {
  nodes: number;
  urls: readonly string[];
  stop: () => Promise<void>;
};

export type BenchRelay = {
  relay: RelayProcess;
  channel: RelayChannel;
  profile: string;
  stop: () => Promise<void>;
};

export async function startEngine(nodes: number): Promise<Engine> {
  if (nodes === 1) {
    const server = await startNatsServer({ syncAlways: false });
    return { nodes, urls: [server.url], stop: server.stop };
  }
  // What is shipped: every write synced.
  const cluster = await startNatsCluster({ size: nodes, syncAlways: true });
  return { nodes, urls: cluster.urls, stop: cluster.stop };
}

/** Limits off: what is measured is not one sender's share. */
export async function startBenchRelay({ urls }: Engine, { profiled = false } = {}): Promise<BenchRelay> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-relay-'));
  const profile = join(folder, 'profile');
  mkdirSync(profile);
  const relay = await startRelay({
    folder,
    name: 'relay',
    natsUrls: urls,
    words: ['--no-limits', '--provision'],
    nodeOptions: profiled ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : [],
  });
  const channel = await newRelayChannel(relay.url);
  return {
    relay,
    channel,
    profile,
    async stop() {
      await relay.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type BenchDaemon = { home: DaemonHome; process: ServerProcess; stop: () => Promise<void> };

/** Resolves when its tunnel is live. */
export async function startBenchDaemon({ relay, channel }: BenchRelay): Promise<BenchDaemon> {
  const home = createDaemonHome('bench-relay');
  const file = join(home.home, '.config/svc/config.json');
  mkdirSync(dirname(file), { recursive: true });
  const github = { smeeChannel: `${relay.url}/${channel.channel}` };
  writeFileSync(file, JSON.stringify({ svc: { monitor: { github } } }));
  const process = startDaemon(home, {
    environment: channel.readKey === null ? {} : { SVC_RELAY_READ_KEY: channel.readKey },
  });
  await process.ready;
  return {
    home,
    process,
    async stop() {
      await process.kill();
      home.remove();
    },
  };
}
