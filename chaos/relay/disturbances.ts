// What happens in each phase. Planned: what an operator does. Cut: what networks do. Killed: crashes. Within a phase
// the tracks run in parallel, each spread evenly over the deliveries.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsNode } from '../../packages/testkit/src/nats/nats-node.ts';
import type { Random } from '../../packages/testkit/src/random.ts';
import { scriptFolder } from '../../packages/testkit/src/script.ts';
import { until } from '../../packages/testkit/src/waiting.ts';
import { mountPowerCutDisk, type PowerCutDisk } from '../power-cut.ts';
import type { World } from './world.ts';

export type Track = { name: string; times: number; disturb: () => Promise<void> };

export type Disturbances = ReturnType<typeof createDisturbances>;

export function createDisturbances(world: World, random: Random) {
  const { cluster, relays, subscribers, front } = world;

  /** The stream with the deliveries: the one that grew most. */
  async function leader(): Promise<{ stream: string; node: NatsNode }> {
    const { stream, leader: node } = await until(() => cluster.busiestStream());
    return { stream, node };
  }

  /** Two nodes down at the same time would lose the quorum, which is another experiment. */
  async function whole(): Promise<void> {
    await until(async () => {
      const healthy = await Promise.all(cluster.nodes.map((node) => node.healthy()));
      return healthy.every(Boolean) && (await cluster.isCurrent());
    });
  }

  async function restartNode(end: (node: NatsNode) => Promise<void>): Promise<void> {
    await whole();
    const { node } = await leader();
    await end(node);
    await sleep(500 + random.below(1500));
    await node.start();
    await whole();
  }

  return {
    /** Resolves when every node is healthy and every stream has all its replicas. */
    whole,
    stepDown: async (): Promise<void> => {
      await whole();
      const { stream } = await leader();
      await cluster.stepDown(stream);
      await leader();
    },
    lameDuck: () => restartNode((node) => node.lameDuck()),
    killLeader: () => restartNode((node) => node.kill()),
    /** The front no longer sends to it; it finishes what it has started. */
    restartRelay: async (): Promise<void> => {
      const relay = random.pick(relays);
      await relay.stop();
      await relay.start();
    },
    killRelay: async (): Promise<void> => {
      const relay = random.pick(relays);
      await relay.kill();
      await sleep(random.below(500));
      await relay.start();
    },
    killSubscriber: async (): Promise<void> => {
      const subscriber = random.pick(subscribers);
      await subscriber.kill();
      await sleep(random.below(1000));
      await subscriber.start();
    },
    cutSubscriber: async (): Promise<void> => {
      const { way } = random.pick(subscribers);
      way.close();
      await sleep(random.below(1500));
      way.restore();
    },
    cutSenders: async (): Promise<void> => {
      front.cut();
      await sleep(random.below(500));
    },
    freezeSubscriber: async (): Promise<void> => {
      const { way } = random.pick(subscribers);
      way.freeze();
      await sleep(4000 + random.below(4000));
      way.restore();
    },
    cutEngine: async (): Promise<void> => {
      for (const way of random.pick(relays).toNodes) way.cut();
      await sleep(random.below(1000));
    },
    /** The relay's connection to its node carries no more data; the other nodes can be reached. */
    freezeEngine: async (): Promise<void> => {
      const used = random.pick(relays).toNodes.filter((way) => way.connections() > 0);
      for (const way of used) way.freeze();
      await sleep(6000 + random.below(4000));
      for (const way of used) way.restore();
    },
  };
}

/** Runs the tracks in parallel; each disturbance comes when its share of the deliveries has started. */
export function runTracks(tracks: readonly Track[], deliveries: number, begun: () => number, random: Random) {
  const wanted = tracks.filter(({ times }) => times > 0);
  const counts = new Map(wanted.map(({ name }) => [name, 0]));
  const ending = new AbortController();

  async function run({ name, times, disturb }: Track): Promise<void> {
    for (let number = 0; number < times; number += 1) {
      const after = ((number + 0.1 + 0.8 * random.next()) / times) * deliveries * 0.95;
      while (begun() < after && !ending.signal.aborted) await sleep(20);
      if (ending.signal.aborted) return;
      await disturb();
      counts.set(name, number + 1);
    }
  }

  return {
    finished: Promise.all(wanted.map(run)),
    /** How much of the slowest track is done, from 0 to 1. */
    share: () => Math.min(1, ...wanted.map(({ name, times }) => ((counts.get(name) ?? 0) + 1) / times)),
    counts,
    abandon: () => ending.abort(),
  };
}

export type Power = Awaited<ReturnType<typeof createPower>>;

/**
 * Machines whose power can be cut, one at a time, or all at once. Each has a node of the cluster, and the first ones
 * have a relay with its spill. What a server or a relay reports as synced must exist when it is back.
 */
export async function createPower(nodes: readonly string[], random: Random) {
  const storesIn = scriptFolder('chaos-power');
  const disks = new Map<string, PowerCutDisk>();
  let forgotten = 0;
  let spilled = 0;

  async function stop(): Promise<void> {
    for (const disk of disks.values()) await disk.unmount();
  }

  /** Cuts the power of one machine. What it returns starts the machine again. */
  async function cut(
    { cluster, relays }: World,
    node: NatsNode,
    inSync: boolean,
  ): Promise<() => Promise<void>> {
    const relay = relays[cluster.nodes.indexOf(node)];
    const held = (await relay?.spilled()) ?? 0;
    spilled += held;
    const kill = (): Promise<unknown> => Promise.all([node.kill(), relay?.kill()]);
    const torn = random.chance(0.5) ? random.below(2 ** 31) : null;
    const lost = await disks.get(node.name)?.cut({ kill, torn, inSync });
    forgotten += lost?.files ?? 0;
    return async () => {
      await node.start();
      await relay?.start();
    };
  }

  try {
    // The server relies on ext4 and xfs: the name of a file is durable if the file is.
    for (const name of nodes)
      disks.set(name, await mountPowerCutDisk({ folder: join(storesIn, name), names: 'journal' }));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    /** Contains a folder for each node. */
    storesIn,
    /** Resolves when the machine works again. In half of the cases its node is the leader of the busiest stream. */
    cutOne: async (world: World): Promise<void> => {
      const { cluster } = world;
      const leading = random.chance(0.5) ? (await cluster.busiestStream())?.leader : undefined;
      const start = await cut(world, leading ?? random.pick(cluster.nodes), random.chance(0.5));
      await sleep(random.below(2000));
      await start();
    },
    /** In half of the cases there has been no leader for a moment, so that deliveries are in the spills. */
    cutAll: async (world: World): Promise<void> => {
      const { cluster } = world;
      if (random.chance(0.5)) {
        await (await cluster.busiestStream())?.leader.kill();
        await sleep(2500);
      }
      const starts = await Promise.all(cluster.nodes.map((node) => cut(world, node, false)));
      await sleep(random.below(2000));
      await Promise.all(starts.map((start) => start()));
    },
    /** Files that have lost unsaved changes so far. */
    forgotten: () => forgotten,
    /** Deliveries that were in a spill at a cut. */
    spilled: () => spilled,
    /** After the cluster has ended. */
    stop,
  };
}
