// The code host sends, the relay loses, repeats, reorders and rewrites, the daemon is killed and restarted, the network
// is cut. Afterwards every delivery in the code host's own list must be in the log, once, live or by replay.
// `npm run chaos:feeds` (20,000 deliveries, 10 restarts, 10 cuts); `-- --sabotage` shows that the check can
// fail; `-- --seed 2` makes other choices.
//
// The daemon makes at most 1,000 calls an hour to the code host. If those are used up before everything is repaired,
// the daemon is restarted, which stands for the next hour; the number of restarts is printed.
import { setTimeout as sleep } from 'node:timers/promises';
import { auditLog, damagedCopies, type LogAudit } from '../packages/testkit/src/log/audit-log.ts';
import { codehostExamples } from '../packages/testkit/src/payloads/codehost-variants.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import { startHostileRelay } from '../packages/testkit/src/relay/hostile-relay.ts';
import { describeCounts, scriptOptions } from '../packages/testkit/src/script.ts';
import { until, WAIT_MS } from '../packages/testkit/src/waiting.ts';
import { type Damage, scenario, unless, type Verdict } from './scenario.ts';
import { openWorld } from './world.ts';

const options = scriptOptions({
  deliveries: 20_000,
  restarts: 10,
  cuts: 10,
  /** Deliveries a second, in normal times and during faults: each one sent then costs one call of `gh`. */
  rate: 300,
  'rate-in-trouble': 6,
  seed: 1,
  sabotage: false,
});
const repos = ['acme/web', 'acme/api', 'acme/app', 'acme/docs'];

type Check = { missing: number; repaired: number; refused: number; problem: { kind: string } | null };
type Tunnel = {
  connectedSince: number | null;
  waiting: number;
  deliveries: { duplicate: number; unauthorised: { exact: number; reserialised: number } };
};
type Feeds = { tunnels: Tunnel[]; repos: { by: string }[] };

const random = createRandom(options.seed);
const world = await openWorld('chaos-feeds');
const { codehost, daemon, home } = world;
const relay = await startHostileRelay({ seed: options.seed, pingMs: 1000 });
for (const repo of repos) codehost.cloud.addRepo(repo);
world.configure('.config/svc/config.json', {
  // Without its confirmation a watched repository gets no hook.
  monitor: { github: { smeeChannel: relay.newChannel(), hookRepos: repos } },
});
world.configure('.svc/config.json', { projectKey: 'chaos', monitor: { github: { watchRepos: repos } } });
/** The daemons' own counts before they ended: a lower bound, because the last moments are missing. */
const counted = { duplicates: 0, reserialised: 0, wrongSignatures: 0 };
/** The faults so far. */
const done = { kills: 0, stops: 0, cuts: 0, halfOpen: 0, stalls: 0, relayRestarts: 0, hours: 0 };
const sending = { emitted: 0, inTrouble: false };
type Disturbance = 'kill' | 'stop' | 'cut' | 'halfOpen' | 'stall' | 'relayRestart';
/** How each fault is produced; `milliseconds` is its duration. */
const disturbances: Record<Disturbance, (milliseconds: number) => Promise<void>> = {
  async kill() {
    await restart(() => daemon.kill());
    done.kills += 1;
  },
  async stop() {
    await restart(() => daemon.stop());
    done.stops += 1;
  },
  /** The sender can still reach the relay; our connection is cut, and the first answer after it may be an error. */
  async cut(milliseconds) {
    if (random.chance(0.5)) relay.answerNext({ status: 502 });
    relay.cutAll();
    await sleep(milliseconds);
    done.cuts += 1;
  },
  async halfOpen(milliseconds) {
    relay.halfOpen();
    await sleep(milliseconds);
    // Held-back data is lost with the connection.
    relay.cutAll();
    relay.recover();
    done.halfOpen += 1;
  },
  async stall(milliseconds) {
    await relay.stall(milliseconds);
    done.stalls += 1;
  },
  async relayRestart(milliseconds) {
    const answers = [{ status: 503, headers: { 'retry-after': '1' } }];
    await relay.restart({ downMs: milliseconds, answers });
    done.relayRestarts += 1;
  },
};

daemon.start();
await daemon.ready();
await until(async () => {
  const { repos: covered, tunnels } = await daemon.ask<Feeds>('/api/feeds');
  return covered.length === repos.length && typeof tunnels[0]?.connectedSince === 'number';
});
Object.assign(relay.faults, {
  drop: 0.004,
  duplicate: 0.05,
  reorder: 0.1,
  rewrite: 0.004,
  pretty: 0.1,
  cut: 2 / options.deliveries,
  split: 0.02,
  comment: 0.05,
  lineEnd: 'mixed',
  byteOrderMark: true,
});
await scenario({
  title: `${options.deliveries} deliveries, ${options.rate}/s (${options['rate-in-trouble']}/s in trouble), ${options.restarts} restarts, ${options.cuts} cuts, seed ${options.seed}`,
  world: {
    async close() {
      await daemon.kill();
      await relay.stop();
      await world.close();
    },
  },
  load: emitAll,
  disturb,
  verdict,
  sabotage: options.sabotage && damages,
});

async function verdict(seconds: number): Promise<Verdict> {
  const left = await settle();
  await count();
  const ending = await daemon.stop();
  const sent = sentIds();
  const audit = await auditLog(home.eventsDir);
  const found = judge(sent, audit);
  const calls = codehost.calls();
  const lists = calls.filter((line) => /deliveries\?/.test(line)).length;
  const fetches = calls.filter((line) => /deliveries\/\d/.test(line)).length;
  const { kills, stops, cuts } = done;
  return {
    figures: [
      `sent for ${seconds.toFixed(1)} s; ${describeCounts(Object.entries(done))} (hours: how often the hour's calls were used up)`,
      `relay: ${relay.delivered.length} frames, ${relay.connected.length} subscriptions; at least ${counted.duplicates} duplicates recognised, ${counted.reserialised + counted.wrongSignatures} rewritten; code host: ${calls.length} calls, ${lists} pages of lists, ${fetches} payloads; stopped with ${ending}`,
      lineOf(found),
    ],
    problems: [
      ...audit.problems,
      ...left,
      ...unless(found.lost + found.doubled + found.torn === 0, lineOf(found)),
      ...unless(kills + stops === options.restarts && cuts === options.cuts, 'too few faults'),
      // Undelivered ones come by replay: without any, nothing was disturbed.
      ...unless(found.replay > 0, 'nothing came by replay'),
      ...unless(ending === 0, `the daemon stopped with ${ending}`),
      ...unless(
        sending.emitted === options.deliveries && sent.length >= options.deliveries,
        `only ${sent.length} deliveries were sent`,
      ),
    ],
  };
}

/** Sends even without a listener: a code host neither waits for an answer nor repeats. */
async function emitAll(): Promise<void> {
  const examples = codehostExamples();
  const underWay = new Set<Promise<unknown>>();
  for (let index = 0; index < options.deliveries; index += 1) {
    const { type, payload } = random.pick(examples);
    const one = codehost.emit(random.pick(repos), type, payload).finally(() => {
      underWay.delete(one);
      sending.emitted += 1;
    });
    underWay.add(one);
    const inTrouble = sending.inTrouble || relay.subscribers() === 0;
    await sleep(1000 / (inTrouble ? options['rate-in-trouble'] : options.rate));
    if (underWay.size >= 32) await Promise.race(underWay);
  }
  await Promise.all(underWay);
}

async function disturb(): Promise<void> {
  for (const { after, what, milliseconds } of planDisturbances()) {
    while (sending.emitted < after) await sleep(5);
    sending.inTrouble = true;
    await disturbances[what](milliseconds);
    sending.inTrouble = false;
  }
}

/** The requested restarts and cuts, and a few faults of the whole relay, spread over all but the end. */
function planDisturbances(): { after: number; what: Disturbance; milliseconds: number }[] {
  const { deliveries, restarts, cuts } = options;
  const many = (length: number, what: Disturbance) => Array.from({ length }, () => what);
  const relayFaults = Math.ceil(cuts / 3);
  const all = random.shuffled([
    ...many(Math.ceil(restarts / 2), 'kill'),
    ...many(Math.floor(restarts / 2), 'stop'),
    ...many(cuts, 'cut'),
    ...many(relayFaults, 'halfOpen'),
    ...many(relayFaults, 'stall'),
    ...many(relayFaults, 'relayRestart'),
  ]);
  const share = (deliveries * 0.95) / all.length;
  return all.map((what, index) => ({
    after: Math.floor((index + random.next()) * share),
    what,
    milliseconds: 200 + random.below(800),
  }));
}

async function restart(end: () => Promise<unknown>): Promise<void> {
  await daemon.ready();
  await count();
  await end();
  daemon.start();
}

async function count(): Promise<void> {
  for (const { deliveries } of (await daemon.ask<Feeds>('/api/feeds')).tunnels) {
    counted.duplicates += deliveries.duplicate;
    counted.reserialised += deliveries.unauthorised.reserialised;
    counted.wrongSignatures += deliveries.unauthorised.exact;
  }
}

/** `svc feeds check --repair` until nothing is missing; returns the rest when a check no longer finds less. */
async function settle(): Promise<string[]> {
  await daemon.ready();
  let problems = ['it was never checked'];
  let fewest = Number.POSITIVE_INFINITY;
  for (let deadline = performance.now() + WAIT_MS; performance.now() < deadline; await sleep(200)) {
    const asked = { since: '3d', repair: true };
    const { repos: checks } = await daemon.ask<{ repos: Check[] }>('/api/feeds/check', asked);
    const whole = checks.length === repos.length && checks.every((one) => one.missing === 0 && !one.problem);
    if (whole) return [];
    problems = checks.map((one) => JSON.stringify(one));
    const missing = checks.reduce((sum, one) => sum + one.missing, 0);
    if (missing < fewest) deadline = performance.now() + WAIT_MS;
    fewest = Math.min(fewest, missing);
    if (checks.some(({ problem }) => problem?.kind === 'throttled')) {
      await restart(() => daemon.stop());
      await daemon.ready();
      done.hours += 1;
    }
  }
  return problems;
}

type Found = { sent: number; live: number; replay: number; lost: number; doubled: number; torn: number };

function sentIds(): string[] {
  return [
    ...new Set(repos.flatMap((repo) => codehost.cloud.repoOf(repo).deliveries.map(({ guid }) => guid))),
  ];
}

function judge(sent: readonly string[], { deliveries, torn, holes }: LogAudit): Found {
  const found: Found = { sent: sent.length, live: 0, replay: 0, lost: 0, doubled: 0, torn: torn + holes };
  for (const guid of sent) {
    const lines = deliveries.get(guid) ?? [];
    if (lines.length > 1) found.doubled += 1;
    if (lines[0] === undefined) found.lost += 1;
    else if (lines[0].via === 'live') found.live += 1;
    else found.replay += 1;
  }
  return found;
}

function lineOf({ sent, live, replay, lost, doubled, torn }: Found): string {
  return `sent ${sent} live ${live} replay ${replay} lost ${lost} doubled ${doubled} torn ${torn}`;
}

async function* damages(): AsyncGenerator<Damage> {
  const sent = sentIds();
  for (const { name, copy } of damagedCopies(home.eventsDir, home.home, random.pick(sent)))
    yield [
      name,
      lineOf(judge(sent, await auditLog(copy))),
      name === 'repeat a line' ? /doubled 1 / : /lost 1 /,
    ];
}
