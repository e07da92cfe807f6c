// End to end into a durable log: closed-loop senders, the relay, the real daemon with its tunnel, its receiver and its
// synced log. A delivery counts when its line is in the log.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMicroseconds, rssMegabytes } from '../../packages/testkit/src/daemon/process-figures.ts';
import { createTail, spreadOf } from '../../packages/testkit/src/script.ts';
import { type Child, sharedNow } from '../child.ts';
import type { LoadFigures, LoadOrder } from '../load.ts';
import { nextIds } from './ways.ts';
import { type Engine, startBenchDaemon, startBenchRelay } from './world.ts';

export type DaemonFigures = Awaited<ReturnType<typeof intoDaemon>>[number];

const QUIET_MS = 10_000;

export async function intoDaemon(
  engine: Engine,
  load: Child<LoadOrder, LoadFigures>,
  given: { connections: number; seconds: number; warmUp: number; sizes: readonly number[] },
) {
  const ours = await startBenchRelay(engine);
  const daemon = await startBenchDaemon(ours);
  // The tunnel is connected before the first delivery: a log without a cursor starts with the next one.
  await sleep(2000);
  const log = followDaemonLog(daemon.home.eventsDir);
  const pids = [ours.relay.pid, daemon.process.pid];

  async function measure(bytes: number, seconds: number) {
    const firstId = nextIds();
    const order = { port: ours.relay.port, path: `/${ours.channel.channel}`, bytes, firstId };
    const memory = rssMegabytes(ours.relay.pid);
    const cpu = pids.map(cpuMicroseconds);
    const began = Date.now();
    const sent = await load.ask({ kind: 'closed', connections: given.connections, seconds, ...order });
    const { acceptedAt, again, lastAt } = await log.wait(sent.acknowledged, QUIET_MS);
    log.forget();
    const offset = Date.now() - sharedNow();
    const latencies = sent.sentAt.flatMap((at, number) => {
      const accepted = acceptedAt.get(firstId + number);
      return at === 0 || accepted === undefined ? [] : [accepted - (at + offset)];
    });
    const [relay = 0, ofDaemon = 0] = pids.map(
      (pid, index) => (cpuMicroseconds(pid) - (cpu[index] ?? 0)) / sent.acknowledged,
    );
    return {
      ...spreadOf(latencies),
      nodes: engine.nodes,
      bytes,
      acknowledged: sent.acknowledged,
      lost: sent.acknowledged - latencies.length,
      again,
      perSecond: latencies.length / ((lastAt - began) / 1000),
      /** Processor time for one delivery, in microseconds. */
      cpu: { relay, daemon: ofDaemon },
      /** What the relay takes, in MB. */
      memory: { before: memory, after: rssMegabytes(ours.relay.pid) },
    };
  }

  const figures = [];
  for (const bytes of given.sizes) {
    await measure(bytes, given.warmUp);
    figures.push(await measure(bytes, given.seconds));
  }
  await daemon.stop();
  await ours.stop();
  return figures;
}

const idPattern = /"deliveryId":"00000000-0000-4000-8000-([0-9a-f]{12})"/;
const timePattern = /"ts":"([^"]+)"/;

/** Follows the log of a daemon from outside: the deliveries with a line, and when each was accepted. */
function followDaemonLog(eventsDir: string) {
  const tails = new Map<string, () => string[]>();
  /** By number of the delivery id: the time of its line. */
  let acceptedAt = new Map<number, number>();
  let again = 0;

  function readOn(): void {
    for (const name of readdirSync(eventsDir).filter((file) => file.endsWith('.jsonl'))) {
      const added = tails.get(name) ?? createTail(join(eventsDir, name));
      tails.set(name, added);
      for (const line of added()) note(line);
    }
  }

  function note(line: string): void {
    const id = idPattern.exec(line)?.[1];
    if (id === undefined) return;
    const number = Number.parseInt(id, 16);
    if (acceptedAt.has(number)) again += 1;
    acceptedAt.set(number, Date.parse(timePattern.exec(line)?.[1] ?? ''));
  }

  return {
    /** Discards what was read so far. */
    forget(): void {
      readOn();
      acceptedAt = new Map();
      again = 0;
    },
    /** Until that many are in the log, or it has not grown for `timeoutMs`. */
    async wait(count: number, timeoutMs: number) {
      let grewAt = performance.now();
      let before = -1;
      for (;;) {
        readOn();
        if (acceptedAt.size !== before) grewAt = performance.now();
        before = acceptedAt.size;
        if (acceptedAt.size >= count || performance.now() - grewAt > timeoutMs) break;
        await sleep(5);
      }
      return {
        acceptedAt,
        again,
        lastAt: acceptedAt.values().reduce((last, time) => Math.max(last, time), 0),
      };
    },
  };
}
