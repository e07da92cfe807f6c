// Deliveries go through the relay into the logs of four subscribers, one of them the real daemon, while everything on
// the way fails in turn: leaders step down and relays are replaced, connections are cut and half-opened, and finally
// the stream's leader, the relays and the subscribers are killed with -9. Afterwards every log must have every 2xx.
// `npm run chaos:relay` (100,000 deliveries, 3 nodes, 2 relays, 4 subscribers); `-- --power-cuts 20` has the stores and
// the spills on disks that lose their power instead, 20 times one of them and 20 times all three, and with it everything
// that was not synced (power-cut.ts), and fails with `--sync-late`; `-- --sabotage` shows that the check can fail; `-- --seed 2`
// makes other choices; with `-- --load 30` the processors are busy with something else.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../packages/lib/src/errors.ts';
import { codehostSecret } from '../packages/testkit/src/daemon/start-daemon.ts';
import {
  type SignedDelivery,
  sizedDelivery,
  withId,
} from '../packages/testkit/src/deliveries/signed-delivery.ts';
import { damagedCopies } from '../packages/testkit/src/log/audit-log.ts';
import { natsServerVersion } from '../packages/testkit/src/nats/nats-node.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import {
  createTail,
  describeCounts,
  keepProcessorBusy,
  scriptOptions,
  secondsSince,
} from '../packages/testkit/src/script.ts';
import { until, WAIT_MS } from '../packages/testkit/src/waiting.ts';
import {
  createDisturbances,
  createPower,
  type Disturbances,
  type Power,
  runTracks,
  type Track,
} from './relay/disturbances.ts';
import { createSenders, type PhaseFigures } from './relay/senders.ts';
import {
  disorder,
  isKept,
  judge,
  keepEvidence,
  type ReadLog,
  readLog,
  readStore,
  type Stored,
  verdictLine,
} from './relay/verdict.ts';
import { startWorld, type World } from './relay/world.ts';
import { type Damage, scenario, unless } from './scenario.ts';

const options = scriptOptions({
  deliveries: 100_000,
  relays: 2,
  subscribers: 4,
  /** How often each: the stream's leader, a relay, a subscriber. */
  kills: 8,
  'step-downs': 8,
  cuts: 8,
  /** Instead of all other faults. */
  'power-cuts': 0,
  /** The server syncs at its own pace, not before it acknowledges: power cuts must make the run fail. */
  'sync-late': false,
  bytes: 2048,
  /** Deliveries a second, and after the disturbances. */
  rate: 400,
  'rate-in-trouble': 60,
  /** The allowed number of slow posts after a planned change, or a kill. */
  'goal-slow': 0,
  /** The relays have no folder to hold deliveries in during an election. */
  'no-spill': false,
  /** Processes that keep the processors busy, so that everything takes longer. */
  load: 0,
  seed: 1,
  'deadline-s': (25 * WAIT_MS) / 1000,
  sabotage: false,
});
/** A sender does not wait longer than this, */
const SLOW_MS = 5_000;
/** unless the machine is so busy that undisturbed posts are slow too: then this multiple of their time. */
const SLOW_TIMES = 20;
/** Ids of deliveries that do not count start here. */
const NOT_COUNTED = 0xf00000000000;
const random = createRandom(options.seed);
const example = sizedDelivery(options.bytes, codehostSecret);
let made = 0;
/** Each log as far as it was counted: the senders and proxies are in this process too, and wait while it reads. */
const counted = new Map<string, { added: () => string[]; lines: number }>();

const natsVersion = natsServerVersion();
keepProcessorBusy(options.load);
const power = options['power-cuts'] > 0 ? await createPower(['n1', 'n2', 'n3'], random) : undefined;
const world = await startWorld(
  { ...options, storesIn: power?.storesIn, syncAlways: !options['sync-late'] },
  random,
).catch(async (error) => {
  await power?.stop();
  throw error;
});
const newSenders = () =>
  createSenders({
    port: world.front.port,
    path: `/${world.channel.channel}`,
    deadlineMs: options['deadline-s'] * 1000,
  });
const senders = newSenders();
let slowMs = SLOW_MS;
const phases: PhaseFigures[] = [];
let settledMs = 0;
let logs: ReadLog[] = [];
await scenario({
  title: `${options.deliveries} deliveries of ${options.bytes} bytes at ${options.rate}/s, cluster of 3 (nats-server ${natsVersion}), ${options.relays} relays, ${options.subscribers} subscribers, ${options.load} busy processes, seed ${options.seed}`,
  world: {
    async close() {
      senders.close();
      await world.stop();
      await power?.stop();
    },
  },
  async load() {
    await firstLine(world);
    const undisturbed = await phase('undisturbed', 0.05, () => []);
    slowMs = Math.max(SLOW_MS, SLOW_TIMES * undisturbed.slowestMs);
    phases.push(undisturbed, ...(power === undefined ? await allFaults() : await powerCuts(power)));
    settledMs = await settle(world);
  },
  async verdict(seconds) {
    const endings = await Promise.all(world.subscribers.map((subscriber) => subscriber.stop()));
    logs = await Promise.all(world.subscribers.map(readLog));
    const found = report(seconds, endings);
    if (power !== undefined) found.problems.push(...(await storeProblems(power)));
    if (!isKept(judge(senders.acknowledged, logs))) found.figures.push(await whereItIs(world));
    return found;
  },
  sabotage: options.sabotage && damages,
});

async function allFaults(): Promise<PhaseFigures[]> {
  return [
    await phase('planned', 0.25, (does) => [
      { name: 'step-downs', times: options['step-downs'], disturb: does.stepDown },
      { name: 'lame ducks', times: Math.ceil(options['step-downs'] / 8), disturb: does.lameDuck },
      { name: 'relays replaced', times: Math.ceil(options['step-downs'] / 4), disturb: does.restartRelay },
    ]),
    await phase('cut', 0.2, (does) => [
      { name: 'subscribers cut', times: options.cuts, disturb: does.cutSubscriber },
      { name: 'senders cut', times: options.cuts, disturb: does.cutSenders },
      { name: 'engine cut', times: options.cuts, disturb: does.cutEngine },
      { name: 'subscribers half-open', times: Math.ceil(options.cuts / 4), disturb: does.freezeSubscriber },
      { name: 'engine half-open', times: Math.ceil(options.cuts / 4), disturb: does.freezeEngine },
    ]),
    await phase('kill -9', 0.5, (does) => [
      { name: 'leaders', times: options.kills, disturb: does.killLeader },
      { name: 'relays', times: options.kills, disturb: does.killRelay },
      { name: 'subscribers', times: options.kills, disturb: does.killSubscriber },
    ]),
  ];
}

async function powerCuts({ cutOne, cutAll }: Power): Promise<PhaseFigures[]> {
  const times = options['power-cuts'];
  const cutting = (name: string, part: number, cut: Power['cutOne']): Promise<PhaseFigures> =>
    phase(name, part, (does) => [
      {
        name,
        times,
        async disturb() {
          await does.whole();
          await cut(world);
          await does.whole();
        },
      },
    ]);
  return [await cutting('power cuts of one node', 0.45, cutOne), await cutting('of all', 0.5, cutAll)];
}

/** Subscribers may have received before a cut what the store then lost. */
async function storeProblems({ forgotten, spilled }: Power): Promise<string[]> {
  const stored = await readStore(world);
  const missing = [...senders.acknowledged].filter((id) => !stored.has(id)).length;
  console.log(
    `the disks lost changes of ${forgotten()} files, ${spilled()} deliveries were in a spill when its power was cut; the store has lost ${missing} of ${senders.acknowledged.size}`,
  );
  return unless(missing === 0, `the store has lost ${missing}`);
}

/**
 * A log without a line has no cursor, and a subscriber without one starts with the next delivery: so some are sent
 * until every log has a line. None of those count.
 */
async function firstLine({ subscribers }: World): Promise<void> {
  const first = newSenders();
  let number = NOT_COUNTED;
  await until(async () => {
    await first.run({
      name: 'first',
      deliveries: [withId(example, (number += 1))],
      rate: () => options.rate,
      slowMs,
    });
    return subscribers.every(({ folder }) =>
      logsIn(folder).some((file) => readFileSync(file).includes('"deliveryId":"')),
    );
  });
  first.close();
}

async function phase(
  name: string,
  part: number,
  tracksOf: (does: Disturbances) => Track[],
): Promise<PhaseFigures> {
  // The last part is the rest, so rounding adds none.
  const deliveries = take(Math.min(Math.ceil(options.deliveries * part), options.deliveries - made));
  const does = createDisturbances(world, random);
  await does.whole();
  // The previous one counts for its own phase.
  let begun = 0;
  const tracks = runTracks(tracksOf(does), deliveries.length, () => begun, random);
  const rate = (): number => {
    begun = senders.begun();
    return begun / deliveries.length > tracks.share() ? options['rate-in-trouble'] : options.rate;
  };
  const startedAt = performance.now();
  try {
    const [figures] = await Promise.all([senders.run({ name, deliveries, rate, slowMs }), tracks.finished]);
    const counts = [...tracks.counts].map(([track, count]) => `${track} ${count}`).join(', ');
    console.log(`${name}: ${secondsSince(startedAt)} s; ${counts}`);
    return figures;
  } finally {
    tracks.abandon();
  }
}

function take(count: number): SignedDelivery[] {
  return Array.from({ length: count }, () => withId(example, ++made));
}

/**
 * Milliseconds until every log had everything; waits as long as any log grows or a relay empties its spill. By the
 * number of lines: quick, and good enough, because the verdict checks each line.
 */
async function settle(of: World): Promise<number> {
  const startedAt = performance.now();
  let furthest = Number.NEGATIVE_INFINITY;
  for (let deadline = 0; ; await sleep(250)) {
    const lines = of.subscribers.map(({ folder }) => linesIn(folder));
    if (lines.every((count) => count >= senders.acknowledged.size)) break;
    const held = await Promise.all(of.relays.map((relay) => relay.spilled()));
    const progress = sum(lines) - sum(held);
    if (progress > furthest) deadline = performance.now() + WAIT_MS;
    furthest = Math.max(furthest, progress);
    if (performance.now() < deadline) continue;
    console.log(`  some logs lack acknowledged deliveries; ${sum(held)} are in a spill`);
    break;
  }
  return performance.now() - startedAt;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0);
}

/** Deliveries that count: the last part of their ids starts with 0. */
function linesIn(folder: string): number {
  const needle = `"deliveryId":"${withId(example, 0).deliveryId.slice(0, -11)}`;
  return sum(
    logsIn(folder).map((file) => {
      const log = counted.get(file) ?? { added: createTail(file), lines: 0 };
      log.lines += log.added().filter((line) => line.includes(needle)).length;
      counted.set(file, log);
      return log.lines;
    }),
  );
}

function logsIn(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl') && name !== 'gaps.jsonl');
  return names.map((name) => join(folder, name));
}

function report(seconds: number, endings: readonly (number | string)[]) {
  const found = judge(senders.acknowledged, logs);
  const readers = world.subscribers.filter(({ isDaemon }) => !isDaemon);
  const gaps = sum(readers.map(({ folder }) => gapsIn(folder)));
  const wrong = disorder(logs);
  const most = options['goal-slow'];
  const slow = phases.filter((of) => hasGoal(of.name) && of.slow > most).map(({ name }) => name);
  return {
    figures: [
      ...phases.map(
        (of) =>
          `${of.name}: ${of.posts} posts, answers ${describeCounts(of.answers)}; over ${(of.slowMs / 1000).toFixed(1)} s: ${of.slow}${hasGoal(of.name) ? ` (goal ${most})` : ''}, slowest ${(of.slowestMs / 1000).toFixed(2)} s`,
      ),
      `duplicates at readers: ${describeCounts(readers.map(({ name, duplicates }) => [name, duplicates()]))}; gaps reported by the relay ${gaps}; out of order ${wrong}`,
      `${seconds.toFixed(1)} s in all; every log complete ${(settledMs / 1000).toFixed(1)} s after the last post; subscribers stopped with ${endings.join(', ')}`,
      verdictLine(found),
    ],
    problems: [
      ...found.problems,
      ...unless(isKept(found), verdictLine(found)),
      ...unless(found.acknowledged === options.deliveries, 'not everything was acknowledged'),
      ...unless(
        endings.every((ending) => ending === 0),
        'a subscriber did not stop with 0',
      ),
      ...unless(gaps + wrong === 0, `${gaps} gaps, ${wrong} out of order`),
      ...slow.map((name) => `senders waited in the phase ${name}`),
    ],
  };
}

/** Without a spill an election after a kill takes longer than senders wait. */
function hasGoal(phaseName: string): boolean {
  return phaseName === 'planned' || (phaseName === 'kill -9' && !options['no-spill']);
}

/** Lost by the engine, or stored and not delivered: two different errors. */
async function whereItIs(of: World): Promise<string> {
  const missing = new Set<string>();
  for (const { ids } of logs) {
    const there = new Set(ids);
    for (const id of senders.acknowledged) if (!there.has(id)) missing.add(id);
  }
  const stored = await readStore(of).catch(messageOf);
  return `${missing.size} deliveries are missing in a log: ${inStore(missing, stored)}; evidence in ${keepEvidence(of, stored)}`;
}

function inStore(missing: ReadonlySet<string>, stored: Stored | string): string {
  if (typeof stored === 'string') return `how many of them are in the store is not known (${stored})`;
  const there = [...missing].filter((id) => stored.has(id)).length;
  const twice = stored
    .values()
    .filter((positions) => positions.length > 1)
    .toArray().length;
  return `${there} of them are in the store; ${twice} are stored twice`;
}

/** Counts only gaps in the relay's store; that nothing was resumed at the first start is not a loss. */
function gapsIn(folder: string): number {
  if (!readdirSync(folder).includes('gaps.jsonl')) return 0;
  return readFileSync(join(folder, 'gaps.jsonl'), 'utf8').split('relay-lost-it').length - 1;
}

/** A copy of each log in turn. */
async function* damages(): AsyncGenerator<Damage> {
  const victim = random.pick([...senders.acknowledged]);
  for (const [index, subscriber] of world.subscribers.entries()) {
    const folder = join(world.home.home, `sabotage-${index}`);
    for (const { name, copy } of damagedCopies(subscriber.folder, folder, victim)) {
      if (name === 'tear a line' && !subscriber.isDaemon) continue;
      const damaged = await readLog({ ...subscriber, folder: copy });
      yield [
        `${name}, ${subscriber.name}`,
        verdictLine(judge(senders.acknowledged, logs.with(index, damaged))),
        name === 'repeat a line' ? /duplicated 1 / : /lost 1 /,
      ];
    }
  }
}
