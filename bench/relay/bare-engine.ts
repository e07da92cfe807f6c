// Compares a relay process with HTTP with the bare engine: the client library's own publish with acknowledgement, on
// the same server, in turn, so that other load on the machine cancels out.
import { join } from 'node:path';
import { cpuMicroseconds } from '../../packages/testkit/src/daemon/process-figures.ts';
import { askNats } from '../../packages/testkit/src/nats/nats-node.ts';
import { medianOf } from '../../packages/testkit/src/script.ts';
import { type Child, startChild, tenths } from '../child.ts';
import type { LoadFigures, LoadOrder } from '../load.ts';
import type { PublishFigures, PublishOrder } from './bare-publisher.ts';
import type { PlainServer } from './plain-server.ts';
import { nextIds } from './ways.ts';
import { type Engine, printProfile, startBenchRelay } from './world.ts';

type Round = { perSecond: number; p50Ms: number; p99Ms: number; cpuMicroseconds: number };

const STREAM = 'BARE';
/** Like a shard of the relay: it republishes what it stores, for the readers. */
const REPEATING = 'BARE_REPEATING';

export async function againstBareEngine(
  engine: Engine,
  load: Child<LoadOrder, LoadFigures>,
  given: {
    rounds: number;
    seconds: number;
    warmUp: number;
    inFlight: number;
    bytes: number;
    profiled: boolean;
  },
) {
  await addStream(engine, STREAM, {});
  await addStream(engine, REPEATING, { republish: { src: `${REPEATING}.>`, dest: 'bare.live.>' } });
  const child = startChild<PublishOrder, PublishFigures>(join(import.meta.dirname, 'bare-publisher.ts'));
  const plain = startChild<object, PlainServer>(join(import.meta.dirname, 'plain-server.ts'));
  const plainPort = (await plain.ask({})).port;
  const relay = await startBenchRelay(engine, { profiled: given.profiled });
  let refused = 0;
  const publish = async (
    stream: string,
    seconds: number,
    by: PublishOrder['by'] = 'library',
  ): Promise<Round> => {
    const { inFlight, bytes } = given;
    const order = { servers: engine.urls, subject: `${stream}.a`, bytes, inFlight, seconds, by };
    return measured(child.pid, () => child.ask(order));
  };
  const post = async (
    seconds: number,
    { pid, port }: { pid: number; port: number } = relay.relay,
  ): Promise<Round> => {
    const order: LoadOrder = {
      kind: 'closed',
      port,
      path: `/${relay.channel.channel}`,
      bytes: given.bytes,
      connections: given.inFlight,
      seconds,
      firstId: nextIds(),
    };
    return measured(pid, async () => {
      const figures = await load.ask(order);
      refused += figures.posts - figures.acknowledged;
      return figures;
    });
  };
  const [bare, repeating, publisher, http, ours]: [Round[], Round[], Round[], Round[], Round[]] = [
    [],
    [],
    [],
    [],
    [],
  ];
  try {
    await publish(STREAM, given.warmUp);
    await post(given.warmUp);
    for (let round = 0; round < given.rounds; round += 1) {
      bare.push(await publish(STREAM, given.seconds));
      repeating.push(await publish(REPEATING, given.seconds));
      publisher.push(await publish(REPEATING, given.seconds, 'relay'));
      http.push(await post(given.seconds, { pid: plain.pid, port: plainPort }));
      ours.push(await post(given.seconds));
    }
    if (given.profiled) await printProfile(relay);
  } finally {
    child.end();
    plain.end();
    await relay.stop();
  }
  const speed = (rounds: readonly Round[], index: number): number => rounds[index]?.perSecond ?? 1;
  const ratio = medianOf(ours.map(({ perSecond }, index) => perSecond / speed(repeating, index)));
  // Both keep the whole machine busy, so whatever does both, one after the other, gets no further than this.
  const highest = medianOf(
    http.map(({ perSecond }, index) => perSecond / (perSecond + speed(repeating, index))),
  );
  return { ratio, highest, bare, repeating, publisher, http, ours, refused };
}

/** `pid` is the measured process: a busy machine changes its speed, but its processor time much less. */
async function measured(pid: number, run: () => Promise<PublishFigures>): Promise<Round> {
  const before = cpuMicroseconds(pid);
  const { acknowledged, seconds, p50Ms, p99Ms } = await run();
  const cpu = (cpuMicroseconds(pid) - before) / acknowledged;
  return { perSecond: acknowledged / seconds, p50Ms, p99Ms, cpuMicroseconds: cpu };
}

export function summaryOf(rounds: readonly Round[]) {
  return {
    'deliveries/s': Math.round(medianOf(rounds.map(({ perSecond }) => perSecond))),
    'p50 ms': tenths(medianOf(rounds.map(({ p50Ms }) => p50Ms))),
    'p99 ms': tenths(medianOf(rounds.map(({ p99Ms }) => p99Ms))),
    'cpu µs each': Math.round(medianOf(rounds.map(({ cpuMicroseconds: cpu }) => cpu))),
  };
}

/** A plain stream in a file, with the dedupe window that every stream has. */
async function addStream({ urls }: Engine, name: string, more: object): Promise<void> {
  const config = { name, subjects: [`${name}.>`], storage: 'file', num_replicas: 1, ...more };
  const port = Number(new URL(urls[0] ?? '').port);
  const answer = await askNats(port, `$JS.API.STREAM.CREATE.${name}`, JSON.stringify(config));
  if (/"error"/.test(answer)) throw new Error(`the bare stream was not created: ${answer}`);
}
