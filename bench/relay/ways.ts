// One path from senders to a receiver, ours or the peer's, and its measurements: full speed, a low steady rate, and a
// cut of 5 s in the middle.
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoopbackProxy } from '../../packages/testkit/src/wire/loopback-proxy.ts';
import { type Child, sharedNow } from '../child.ts';
import type { LoadFigures, LoadOrder } from '../load.ts';
import type { Arrivals } from './receiver.ts';

type Load = Child<LoadOrder, LoadFigures>;

export type Way = {
  port: number;
  path: string;
  /** Between the relay and the receiver. */
  proxy: LoopbackProxy;
  arrivals: (what: 'report' | 'forget') => Promise<Arrivals>;
};

export type WayFigures = Awaited<ReturnType<typeof measure>>;

/** After this time without an arrival nothing more will come. */
const QUIET_MS = 10_000;
const CUT_MS = 5000;
let lastId = 0;

/** A range of ids that no other order has. */
export function nextIds(): number {
  lastId += 10_000_000;
  return lastId;
}

export function fullSpeed(
  way: Way,
  load: Load,
  given: { connections: number; seconds: number; bytes: number },
): Promise<WayFigures> {
  return measure(way, () => load.ask({ kind: 'closed', ...addressOf(way), ...given }));
}

type Pace = { rate: number; count: number; bytes: number };

export function steady(way: Way, load: Load, given: Pace): Promise<WayFigures> {
  return measure(way, () => load.ask({ kind: 'paced', ...addressOf(way), ...given }));
}

/** 2,000 at 100 a second; after 7.5 s the receiver is cut off for 5 s. */
export function withCut(way: Way, load: Load, given: Pace): Promise<WayFigures> {
  const cut = async (): Promise<void> => {
    await sleep((given.count / given.rate) * 500 - CUT_MS / 2);
    way.proxy.close();
    await sleep(CUT_MS);
    way.proxy.restore();
  };
  return measure(way, async () => {
    const sending = load.ask({ kind: 'paced', ...addressOf(way), ...given });
    const [figures] = await Promise.all([sending, cut()]);
    return figures;
  });
}

function addressOf({ port, path }: Way): Pick<LoadOrder, 'port' | 'path' | 'firstId'> {
  return { port, path, firstId: nextIds() };
}

async function measure(way: Way, send: () => Promise<LoadFigures>) {
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
