// The setup for our relay: one nats-server or three, one relay process, a channel, and the real daemon if needed.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createDaemonHome, startDaemon } from '../../packages/testkit/src/daemon/start-daemon.ts';
import { startNatsCluster, startNatsServer } from '../../packages/testkit/src/nats/nats-cluster.ts';
import { newRelayChannel, startRelay } from '../../packages/testkit/src/nats/relay-process.ts';
import { scriptFolder, writeInto } from '../../packages/testkit/src/script.ts';
import { functionTimes, printTimes } from '../cpu-profile.ts';

export type Engine = Awaited<ReturnType<typeof startEngine>>;
export type BenchRelay = Awaited<ReturnType<typeof startBenchRelay>>;

export async function startEngine(nodes: number) {
  if (nodes === 1) {
    const { url, stop } = await startNatsServer({ syncAlways: false });
    return { nodes, urls: [url], stop };
  }
  // As shipped: every write is synced.
  const { urls, stop } = await startNatsCluster({ size: nodes, syncAlways: true });
  return { nodes, urls, stop };
}

/** Limits off: the measurement is not about one sender's share. */
export async function startBenchRelay({ urls }: Engine, { profiled = false } = {}) {
  const folder = scriptFolder('bench-relay');
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
  return { relay, channel, profile, stop: () => relay.kill() };
}

/** Prints a profile of the relay process. Stops it, because the profile is written at its end. */
export async function printProfile({ relay, profile }: BenchRelay): Promise<void> {
  await relay.stop();
  printTimes('profile of the relay process, own time in ms', functionTimes(profile), 'own');
}

/** Resolves when its tunnel is live. */
export async function startBenchDaemon({ relay, channel }: BenchRelay) {
  const home = createDaemonHome('bench-relay');
  const github = { smeeChannel: `${relay.url}/${channel.channel}` };
  writeInto(home.home, '.config/svc/config.json', { svc: { monitor: { github } } });
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
