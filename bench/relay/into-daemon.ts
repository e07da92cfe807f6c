// End to end into a durable log: closed-loop senders, the relay, the real daemon with its tunnel, its receiver and its
// synced log. A delivery counts when its line is in the log.
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMicroseconds, rssMegabytes } from '../../packages/testkit/src/daemon/process-figures.ts';
import { spreadOf } from '../../packages/testkit/src/script.ts';
import { type Child, sharedNow } from '../child.ts';
import type { LoadFigures, LoadOrder } from '../load.ts';
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
  /** Memory of the relay, in MB: after the warm-up, and at the end. */
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
    // The tunnel is connected before the first delivery: a log without a cursor starts with the next one.
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

const idPattern = /"deliveryId":"00000000-0000-4000-8000-([0-9a-f]{12})"/;
const timePattern = /"ts":"([^"]+)"/;

/** Follows the log of a daemon from outside: the deliveries with a line, and when each was accepted. */
function followDaemonLog(eventsDir: string) {
  const read = new Map<string, { file: number; at: number; rest: string }>();
  /** By number of the delivery id: the time of its line. */
  let acceptedAt = new Map<number, number>();
  let again = 0;

  function readOn(): void {
    for (const name of readdirSync(eventsDir).filter((file) => file.endsWith('.jsonl'))) {
      const known = read.get(name) ?? { file: openSync(join(eventsDir, name), 'r'), at: 0, rest: '' };
      read.set(name, known);
      const chunk = Buffer.alloc(4 * 1024 * 1024);
      for (let bytes = readSync(known.file, chunk, 0, chunk.length, known.at); bytes > 0; ) {
        known.at += bytes;
        const lines = (known.rest + chunk.toString('latin1', 0, bytes)).split('\n');
        known.rest = lines.pop() ?? '';
        for (const line of lines) note(line);
        bytes = readSync(known.file, chunk, 0, chunk.length, known.at);
      }
    }
  }

  function note(line: string): void {
    const id = idPattern.exec(line)?.[1];
    if (id === undefined) return;
    const number = Number.parseInt(id, 16);
    if (acceptedAt.has(number)) again += 1;
    acceptedAt.set(number, Date.parse(timePattern.exec(line)?.[1] ?? ''));
  }

  process.once('exit', () => {
    for (const { file } of read.values()) closeSync(file);
  });
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
