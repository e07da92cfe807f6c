// One way from senders to a receiver, ours or the peer's, and what is measured on it: full speed, a steady trickle,
// and a cut of 5 s in the middle.
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoopbackProxy } from '../../packages/testkit/src/wire/loopback-proxy.ts';
import type { Arrivals } from './arrivals.ts';
import type { Child } from './child.ts';
import { sharedNow } from './latencies.ts';
import type { LoadFigures, LoadOrder } from './load.ts';

export type Way = {
  name: string;
  port: number;
  path: string;
  /** Between the relay and the receiver. */
  proxy: LoopbackProxy;
  arrivals: (what: 'report' | 'forget') => Promise<Arrivals>;
};

export type WayFigures = {
  acknowledged: number;
  refused: number;
  lost: number;
  again: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
};

/** So long without an arrival means that nothing more comes. */
const QUIET_MS = 10_000;
const CUT_MS = 5000;
let lastId = 0;

/** A range of ids that no other order has. */
export function nextIds(): number {
  lastId += 10_000_000;
  return lastId;
}

export async function fullSpeed(
  way: Way,
  load: Child<LoadOrder, LoadFigures>,
  given: { connections: number; seconds: number; bytes: number },
): Promise<WayFigures> {
  return measure(way, () =>
    load.ask({ kind: 'closed', port: way.port, path: way.path, firstId: nextIds(), ...given }),
  );
}

export async function steady(
  way: Way,
  load: Child<LoadOrder, LoadFigures>,
  given: { rate: number; count: number; bytes: number },
): Promise<WayFigures> {
  return measure(way, () =>
    load.ask({ kind: 'paced', port: way.port, path: way.path, firstId: nextIds(), ...given }),
  );
}

/** 2,000 at 100 a second; after 7.5 s the receiver is cut off for 5 s. */
export async function withCut(
  way: Way,
  load: Child<LoadOrder, LoadFigures>,
  given: { rate: number; count: number; bytes: number },
): Promise<WayFigures> {
  const middleMs = (given.count / given.rate) * 500 - CUT_MS / 2;
  return measure(way, async () => {
    const cut = async (): Promise<void> => {
      await sleep(middleMs);
      way.proxy.close();
      await sleep(CUT_MS);
      way.proxy.mend();
    };
    const order: LoadOrder = { kind: 'paced', port: way.port, path: way.path, firstId: nextIds(), ...given };
    const [figures] = await Promise.all([load.ask(order), cut()]);
    return figures;
  });
}

async function measure(way: Way, send: () => Promise<LoadFigures>): Promise<WayFigures> {
  await way.arrivals('forget');
  const started = sharedNow();
  const figures = await send();
  const arrived = await settled(way, figures.acknowledged);
  return {
    acknowledged: figures.acknowledged,
    refused: figures.posts - figures.acknowledged,
    lost: figures.acknowledged - arrived.distinct,
    again: arrived.again,
    perSecond: arrived.distinct / ((arrived.lastAt - started) / 1000),
    p50Ms: arrived.p50Ms,
    p99Ms: arrived.p99Ms,
  };
}

async function settled({ arrivals }: Way, wanted: number): Promise<Arrivals> {
  for (;;) {
    const now = await arrivals('report');
    if (now.distinct >= wanted || sharedNow() - now.lastAt > QUIET_MS) return now;
    await sleep(100);
  }
}
