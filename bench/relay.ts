// Measures the relay: (a) a relay process compared with the bare engine, in turn; (b) from a POST to the subscriber's
// callback at 200 a second; (c) end to end into a durable daemon log, with one node and three; (d) with `--peer` the
// same load through a server of the public protocol with the public client package; (e) a cut of 5 s in the middle.
// `npm run bench:relay`; `-- --peer http://127.0.0.1:3000` with a running public server, `-- --peer fake` to try it
// out; `-- --profile` adds a profile of the relay.
import { join } from 'node:path';
import { natsServerVersion } from '../packages/testkit/src/nats/nats-node.ts';
import { startPublicRelay } from '../packages/testkit/src/relay/public-relay.ts';
import { describeMachine, failUnless, scriptOptions } from '../packages/testkit/src/script.ts';
import { startLoopbackProxy } from '../packages/testkit/src/wire/loopback-proxy.ts';
import { startChild, tenths } from './child.ts';
import type { LoadFigures, LoadOrder } from './load.ts';
import { againstBareEngine, summaryOf } from './relay/bare-engine.ts';
import { type DaemonFigures, intoDaemon } from './relay/into-daemon.ts';
import type { Arrivals, ReceiverOrder } from './relay/receiver.ts';
import { fullSpeed, steady, type Way, type WayFigures, withCut } from './relay/ways.ts';
import { type Engine, startBenchRelay, startEngine } from './relay/world.ts';

const options = scriptOptions({
  rounds: 7,
  seconds: 4,
  'warm-up': 2,
  'in-flight': 64,
  senders: 32,
  /** For (b): deliveries a second, and seconds. */
  rate: 200,
  'steady-seconds': 15,
  /** Deliveries a second compared with the library's publish into a republishing stream, like ours. */
  goal: 0.85,
  /** Why the relay has its own publisher: processor time of the library's compared with it. */
  'goal-publisher': 1.3,
  'goal-p50-ms': 3,
  /** Compared with a real peer: end to end at 1 KB, at 20 KB, with three nodes, and p99 at the rate. */
  'goal-small': 4,
  'goal-large': 4,
  'goal-cluster': 2,
  'goal-p99': 0.5,
  profile: false,
  /** The URL of a running public server, or `fake`: the test kit's, which behaves like it on the wire. */
  peer: '',
});
/** Results of the public server on another machine with two cores; printed for comparison only. */
const recordedElsewhere = [
  'recorded elsewhere with the public server and its own client (two shared cores, not this run):',
  '  end to end 3,100/s at 1 KB and 820/s at 20 KB; at 200/s p50 3.0 ms, p99 11.4 ms; p50 5.4 ms at 20/s',
  '  602 of 2,000 lost with a 5 s cut in the middle, all of them answered 200',
  '  POST 0.8 to 44 ms after 2,000 reconnects; 500 MB for one slow reader',
];
const SMALL = 1024;
const LARGE = 20 * 1024;
const CUT = { rate: 100, count: 2000, bytes: SMALL };
const natsVersion = natsServerVersion();

const load = startChild<LoadOrder, LoadFigures>(join(import.meta.dirname, 'load.ts'));
const missed: string[] = [];
console.log(describeMachine());
console.log(
  `nats-server ${natsVersion}; ${options.seconds} s for each measurement, loopback, everything on this machine`,
);
try {
  const one = await startEngine(1);
  await bareEngine(one);
  const steadyFigures = await callbacks(one);
  const small = await daemonLog(one);
  await one.stop();
  const three = await startEngine(3);
  const large = await daemonLog(three);
  await three.stop();
  if (options.peer === '')
    console.log(`\n(d) no peer: name a running server of the public protocol with --peer <url>`);
  else await besidePeer(options.peer, steadyFigures, [...small, ...large]);
  for (const line of recordedElsewhere) console.log(line);
  for (const words of missed) console.log(`MISSED: ${words}`);
  failUnless(missed.length === 0);
} finally {
  load.end();
}

async function bareEngine(engine: Engine): Promise<void> {
  const { rounds, seconds } = options;
  const inFlight = options['in-flight'];
  console.log(`\n(a) compared with the bare engine: ${rounds} rounds in turn, ${inFlight} in flight, 10 KB`);
  const given = { rounds, seconds, warmUp: options['warm-up'], inFlight, bytes: 10 * 1024 };
  const { ratio, highest, bare, repeating, publisher, http, ours, refused } = await againstBareEngine(
    engine,
    load,
    {
      ...given,
      profiled: options.profile,
    },
  );
  console.table({
    'library publish': summaryOf(bare),
    'the same, republishing stream': summaryOf(repeating),
    "the relay's publisher, republishing stream": summaryOf(publisher),
    'a server that only reads and answers, HTTP': summaryOf(http),
    'svc-relay, HTTP': summaryOf(ours),
  });
  const costs = summaryOf(repeating)['cpu µs each'] / summaryOf(publisher)['cpu µs each'];
  goal(
    costs >= options['goal-publisher'],
    `the library's publish takes ${costs.toFixed(2)} times the relay's, goal ${options['goal-publisher']}`,
  );
  const isReached = goal(
    ratio >= options.goal,
    `ratio to the library's publish ${ratio.toFixed(2)}, goal ${options.goal}`,
  );
  goal(refused === 0, `${refused} posts were not answered with 2xx`);
  console.log(
    `median of the rounds' ratios ${ratio.toFixed(2)} (goal at least ${options.goal}): ${isReached ? 'reached' : 'MISSED'}; that server and the library's publish, one after the other on this machine: ${highest.toFixed(2)}`,
  );
  // If it was missed, show why.
  if (!isReached && !options.profile)
    await againstBareEngine(engine, load, { ...given, rounds: 1, profiled: true });
}

function startReceiver() {
  return startChild<ReceiverOrder, Arrivals>(join(import.meta.dirname, 'relay/receiver.ts'));
}

async function callbacks(engine: Engine): Promise<WayFigures> {
  const { rate } = options;
  const ours = await startBenchRelay(engine);
  const proxy = await startLoopbackProxy(() => [ours.relay.port]);
  const receiver = startReceiver();
  try {
    const path = `/${ours.channel.channel}`;
    const url = `http://127.0.0.1:${proxy.port}${path}`;
    await receiver.ask({ what: 'connect', by: 'tunnel', url, readKey: ours.channel.readKey });
    const way: Way = { port: ours.relay.port, path, proxy, arrivals: (what) => receiver.ask({ what }) };
    await steady(way, load, { rate, count: rate * options['warm-up'], bytes: SMALL });
    const figures = await steady(way, load, { rate, count: rate * options['steady-seconds'], bytes: SMALL });
    console.log(
      `\n(b) POST to the subscriber's callback at ${rate}/s, 1 KB: p50 ${tenths(figures.p50Ms)} ms (goal under ${options['goal-p50-ms']}), p99 ${tenths(figures.p99Ms)} ms, lost ${figures.lost}`,
    );
    goal(figures.p50Ms < options['goal-p50-ms'], `p50 at ${rate}/s is ${tenths(figures.p50Ms)} ms`);
    const cut = await withCut(way, load, CUT);
    console.log(
      `(e) cut of 5 s in the middle of ${CUT.count} at ${CUT.rate}/s: acknowledged ${cut.acknowledged} lost ${cut.lost}, repeated ${cut.again}, slowest part p99 ${tenths(cut.p99Ms)} ms`,
    );
    goal(figures.lost === 0 && cut.lost === 0, `lost ${figures.lost} and ${cut.lost}`);
    return figures;
  } finally {
    receiver.end();
    await proxy.stop();
    await ours.stop();
  }
}

async function daemonLog(engine: Engine): Promise<DaemonFigures[]> {
  const { senders, seconds } = options;
  const syncs = engine.nodes === 1 ? 'default sync' : 'sync always';
  console.log(`\n(c) into a durable daemon log: ${senders} senders, ${engine.nodes} node(s), ${syncs}`);
  const figures = await intoDaemon(engine, load, {
    connections: senders,
    seconds,
    warmUp: options['warm-up'],
    sizes: [SMALL, LARGE],
  });
  console.table(
    Object.fromEntries(
      figures.map((one) => [
        `${one.bytes / 1024} KB`,
        {
          'deliveries/s': Math.round(one.perSecond),
          'p50 ms': tenths(one.p50Ms),
          'p99 ms': tenths(one.p99Ms),
          acknowledged: one.acknowledged,
          lost: one.lost,
          'cpu µs relay': Math.round(one.cpu.relay),
          'cpu µs daemon': Math.round(one.cpu.daemon),
          'relay MB': `${one.memory.before} to ${one.memory.after}`,
        },
      ]),
    ),
  );
  for (const one of figures)
    goal(one.lost + one.again === 0, `${one.bytes} bytes: lost ${one.lost}, doubled ${one.again}`);
  return figures;
}

async function besidePeer(given: string, ours: WayFigures, logs: readonly DaemonFigures[]): Promise<void> {
  const peer = await openPeer(given);
  const port = Number(new URL(peer.url).port);
  const receiver = startReceiver();
  const proxy = await startLoopbackProxy(() => [port]);
  try {
    console.log(`\n(d) the same load through ${peer.name}, with the public client package`);
    const path = await newPeerChannel(peer);
    const url = `http://127.0.0.1:${proxy.port}${path}`;
    await receiver.ask({ what: 'connect', by: 'public client', url });
    const way: Way = { port, path, proxy, arrivals: (what) => receiver.ask({ what }) };
    const { senders: connections, seconds, rate } = options;
    await fullSpeed(way, load, { connections, seconds: options['warm-up'], bytes: SMALL });
    const small = await fullSpeed(way, load, { connections, seconds, bytes: SMALL });
    const large = await fullSpeed(way, load, { connections, seconds, bytes: LARGE });
    const calm = await steady(way, load, { rate, count: rate * options['steady-seconds'], bytes: SMALL });
    const cut = await withCut(way, load, CUT);
    console.table({
      'full speed, 1 KB': row(small),
      'full speed, 20 KB': row(large),
      [`${rate}/s, 1 KB`]: row(calm),
      'a cut of 5 s': row(cut),
    });
    compare(peer, { small, large, calm }, ours, logs);
  } finally {
    receiver.end();
    await proxy.stop();
    await peer.stop();
  }
}

function row({ perSecond, p50Ms, p99Ms, acknowledged, lost }: WayFigures) {
  return {
    'deliveries/s': Math.round(perSecond),
    'p50 ms': tenths(p50Ms),
    'p99 ms': tenths(p99Ms),
    acknowledged,
    lost,
  };
}

/** Goals are only judged with a real server. */
function compare(
  peer: Peer,
  theirs: { small: WayFigures; large: WayFigures; calm: WayFigures },
  ours: WayFigures,
  logs: readonly DaemonFigures[],
): void {
  const ratios = logs.map(({ nodes, bytes, perSecond }) => {
    const other = bytes === SMALL ? theirs.small : theirs.large;
    const wanted =
      nodes > 1 ? options['goal-cluster'] : bytes === SMALL ? options['goal-small'] : options['goal-large'];
    return { what: `${bytes / 1024} KB, ${nodes} node(s)`, ratio: perSecond / other.perSecond, wanted };
  });
  const p99 = ours.p99Ms / theirs.calm.p99Ms;
  for (const { what, ratio, wanted } of ratios)
    console.log(`ours into a durable log to theirs, ${what}: ${ratio.toFixed(2)} (goal at least ${wanted})`);
  console.log(
    `p99 at ${options.rate}/s, ours to theirs: ${p99.toFixed(2)} (goal at most ${options['goal-p99']})`,
  );
  if (!peer.isReal) return console.log('the fake is not the public server: these ratios mean nothing');
  for (const { what, ratio, wanted } of ratios)
    goal(ratio >= wanted, `${what}: ${ratio.toFixed(2)} of ${wanted}`);
  goal(p99 <= options['goal-p99'], `p99 is ${p99.toFixed(2)} of theirs`);
}

function goal(isReached: boolean, words: string): boolean {
  if (!isReached) missed.push(words);
  return isReached;
}

type Peer = Awaited<ReturnType<typeof openPeer>>;

async function openPeer(given: string) {
  if (given === 'fake') {
    const relay = await startPublicRelay();
    const name = "the test kit's fake of the public relay (not the real one)";
    return { name, isReal: false, url: relay.url, stop: relay.stop };
  }
  const { origin: url, hostname } = new URL(given);
  // Other people's servers must not get this load, and a network would distort the result.
  if (!/^(?:localhost|127\.0\.0\.1)$/.test(hostname))
    throw new Error('--peer must be a server on this machine: http://127.0.0.1:<port>');
  return { name: url, isReal: true, url, stop: async () => undefined };
}

/** Like the public client: requests a new channel and follows the redirect. */
async function newPeerChannel({ url }: Peer): Promise<string> {
  const answer = await fetch(`${url}/new`, { method: 'HEAD', redirect: 'manual' });
  const location = answer.headers.get('location');
  if (location === null) throw new Error(`${url}/new answered ${answer.status} without a channel`);
  return new URL(location, url).pathname;
}
