// What happens in each phase, and how. Planned: what an operator does by daylight. Cut: what networks do. Killed:
// what happens at night. Within a phase the tracks run side by side, each spread evenly over the deliveries.
import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsNode } from '../../packages/testkit/src/nats/nats-node.ts';
import type { Random } from '../../packages/testkit/src/random.ts';
import { until } from '../../packages/testkit/src/waiting.ts';
import type { World } from './world.ts';

export type Track = { name: string; times: number; disturb: () => Promise<void> };

export type Disturbances = {
  /** Resolves when every node is healthy and every stream has all its replicas. */
  whole: () => Promise<void>;
  stepDown: () => Promise<void>;
  lameDuck: () => Promise<void>;
  killLeader: () => Promise<void>;
  restartRelay: () => Promise<void>;
  killRelay: () => Promise<void>;
  killSubscriber: () => Promise<void>;
  cutSubscriber: () => Promise<void>;
  cutSenders: () => Promise<void>;
  freezeSubscriber: () => Promise<void>;
  cutEngine: () => Promise<void>;
  freezeEngine: () => Promise<void>;
};

export function createDisturbances(world: World, random: Random): Disturbances {
  const { cluster, relays, subscribers, front } = world;

  /** The stream that holds the deliveries: the one that grew most. */
  async function leader(): Promise<{ stream: string; node: NatsNode }> {
    const { stream, leader: node } = await until(() => cluster.busiestStream());
    return { stream, node };
  }

  /** One that is down while another goes would cost the quorum, which is another experiment. */
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
    whole,
    async stepDown() {
      await whole();
      const { stream } = await leader();
      await cluster.stepDown(stream);
      await leader();
    },
    lameDuck: () => restartNode((node) => node.lameDuck()),
    killLeader: () => restartNode((node) => node.kill()),
    /** The front sends no more to it; what it has begun it ends. */
    async restartRelay() {
      const relay = random.pick(relays);
      await relay.stop();
      await relay.start();
    },
    async killRelay() {
      const relay = random.pick(relays);
      await relay.kill();
      await sleep(random.below(500));
      await relay.start();
    },
    async killSubscriber() {
      const subscriber = random.pick(subscribers);
      await subscriber.kill();
      await sleep(random.below(1000));
      await subscriber.start();
    },
    async cutSubscriber() {
      const { way } = random.pick(subscribers);
      way.close();
      await sleep(random.below(1500));
      way.mend();
    },
    async cutSenders() {
      front.cut();
      await sleep(random.below(500));
    },
    async freezeSubscriber() {
      const { way } = random.pick(subscribers);
      way.freeze();
      await sleep(4000 + random.below(4000));
      way.mend();
    },
    async cutEngine() {
      for (const way of random.pick(relays).toNodes) way.cut();
      await sleep(random.below(1000));
    },
    /** The relay's connection to the node that it uses says nothing any more; the other nodes can be reached. */
    async freezeEngine() {
      const used = random.pick(relays).toNodes.filter((way) => way.connections() > 0);
      for (const way of used) way.freeze();
      await sleep(6000 + random.below(4000));
      for (const way of used) way.mend();
    },
  };
}

/** Runs the tracks side by side; each disturbance comes when its share of the deliveries is begun. */
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
