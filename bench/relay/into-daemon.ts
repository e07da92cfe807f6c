// End to end into a durable log: closed-loop senders, the relay, the real daemon with its tunnel, its receiver and its
// synced log. A delivery counts when its line is there.
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMicroseconds, rssMegabytes } from '../../packages/testkit/src/daemon/process-figures.ts';
import type { Child } from './child.ts';
import { followDaemonLog } from './daemon-log.ts';
import { sharedNow, spreadOf } from './latencies.ts';
import type { LoadFigures, LoadOrder } from './load.ts';
import { nextIds } from './ways.ts';
import { type Engine, startBenchDaemon, startBenchRelay } from './world.ts';

export type DaemonFigures = {
  nodes: number;
  bytes: number;
  acknowledged: number;
  lost: number;
  again: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Of the relay, in MB: after the warm-up, and at the end. */
  memory: { before: number; after: number };
  /** Processor time for one delivery, in microseconds. */
  cpu: { relay: number; daemon: number };
};

const QUIET_MS = 10_000;

export async function intoDaemon(
  engine: Engine,
  load: Child<LoadOrder, LoadFigures>,
  given: { connections: number; seconds: number; warmUp: number; sizes: readonly number[] },
): Promise<DaemonFigures[]> {
  const ours = await startBenchRelay(engine);
  const daemon = await startBenchDaemon(ours);
  try {
    // The tunnel is up before the first delivery: a log without a cursor begins with what comes next.
    await sleep(2000);
    const log = followDaemonLog(daemon.home.eventsDir);
    const figures: DaemonFigures[] = [];
    for (const bytes of given.sizes) {
      const run = async (seconds: number): Promise<LoadFigures & { firstId: number; began: number }> => {
        const firstId = nextIds();
        const order = { port: ours.relay.port, path: `/${ours.channel.channel}`, bytes, firstId };
        const began = Date.now();
        return {
          ...(await load.ask({ kind: 'closed', connections: given.connections, seconds, ...order })),
          firstId,
          began,
        };
      };
      const warm = await run(given.warmUp);
      await log.wait(warm.acknowledged, QUIET_MS);
      log.forget();
      const before = rssMegabytes(ours.relay.pid);
      const cpu = [cpuMicroseconds(ours.relay.pid), cpuMicroseconds(daemon.process.pid)] as const;
      const sent = await run(given.seconds);
      const { acceptedAt, again, lastAt } = await log.wait(sent.acknowledged, QUIET_MS);
      log.forget();
      const offset = Date.now() - sharedNow();
      const latencies = sent.sentAt.flatMap((at, number) => {
        const accepted = acceptedAt.get(sent.firstId + number);
        return at === 0 || accepted === undefined ? [] : [accepted - (at + offset)];
      });
      const { p50Ms, p99Ms } = spreadOf(latencies);
      figures.push({
        nodes: engine.nodes,
        bytes,
        acknowledged: sent.acknowledged,
        lost: sent.acknowledged - latencies.length,
        again,
        perSecond: latencies.length / ((lastAt - sent.began) / 1000),
        p50Ms,
        p99Ms,
        cpu: {
          relay: (cpuMicroseconds(ours.relay.pid) - cpu[0]) / sent.acknowledged,
          daemon: (cpuMicroseconds(daemon.process.pid) - cpu[1]) / sent.acknowledged,
        },
        memory: { before, after: rssMegabytes(ours.relay.pid) },
      });
    }
    return figures;
  } finally {
    await daemon.stop();
    await ours.stop();
  }
}
