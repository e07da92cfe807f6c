// The stores of the cluster on disks whose power can be cut, one for each node: one node at a time, or all at the
// same moment. What a server says it has synced must be there when it comes back.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsCluster } from '../../packages/testkit/src/nats/nats-cluster.ts';
import type { NatsNode } from '../../packages/testkit/src/nats/nats-node.ts';
import type { Random } from '../../packages/testkit/src/random.ts';
import { mountPowerCutDisk, type PowerCutDisk } from '../power-cut.ts';

export type Power = {
  /** Holds a folder for each node. */
  storesIn: string;
  /** Resolves when the node runs again. Half of the time it is the one that leads the busiest stream. */
  cutOne: (cluster: NatsCluster) => Promise<void>;
  cutAll: (cluster: NatsCluster) => Promise<void>;
  /** Files with unsaved changes that were forgotten so far. */
  forgotten: () => number;
  /** After the cluster has ended. */
  stop: () => Promise<void>;
};

export async function createPower(nodes: readonly string[], random: Random): Promise<Power> {
  const storesIn = mkdtempSync(join(tmpdir(), 'svc-chaos-power-'));
  const disks = new Map<string, PowerCutDisk>();
  let forgotten = 0;
  const remove = (): void => rmSync(storesIn, { recursive: true, force: true });
  process.once('exit', remove);

  async function stop(): Promise<void> {
    for (const disk of disks.values()) await disk.unmount();
    remove();
  }

  async function cut({ name, kill }: NatsNode, inSync: boolean): Promise<void> {
    const torn = random.chance(0.5) ? random.below(2 ** 31) : null;
    const lost = await disks.get(name)?.cut({ kill, torn, inSync });
    forgotten += lost?.files ?? 0;
  }

  try {
    // The server relies on what ext4 and xfs do: the name of a file is durable when the file is.
    for (const name of nodes)
      disks.set(name, await mountPowerCutDisk({ folder: join(storesIn, name), names: 'journal' }));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    storesIn,
    async cutOne(cluster) {
      const leading = random.chance(0.5) ? (await cluster.busiestStream())?.leader : undefined;
      const node = leading ?? random.pick(cluster.nodes);
      await cut(node, random.chance(0.5));
      await sleep(random.below(2000));
      await node.start();
    },
    async cutAll(cluster) {
      await Promise.all(cluster.nodes.map((node) => cut(node, false)));
      await sleep(random.below(2000));
      await Promise.all(cluster.nodes.map((node) => node.start()));
    },
    forgotten: () => forgotten,
    stop,
  };
}
