// A team's board, through the real relay and three NATS nodes that sync every write: (a) as a new team, from two empty
// homes to a shared board; (b) from a change on one machine to the pixel on another, in Chromium; (c) a team of 200
// machines with 50 workers each: a new member, and the costs of a change; (d) what the store keeps after many versions.
// `npm run bench:team`; `-- --machines 20 --changes 40` is a small one.
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openChromium } from '../packages/dashboard/e2e/chromium.ts';
import type { TeamBoard } from '../packages/monitor/src/features/team/api.ts';
import { cpuMicroseconds } from '../packages/testkit/src/daemon/process-figures.ts';
import {
  createDaemonHome,
  type DaemonHome,
  startDaemon,
} from '../packages/testkit/src/daemon/start-daemon.ts';
import { type NatsCluster, startNatsCluster } from '../packages/testkit/src/nats/nats-cluster.ts';
import { natsServerVersion } from '../packages/testkit/src/nats/nats-node.ts';
import { type RelayProcess, startRelay } from '../packages/testkit/src/nats/relay-process.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import {
  askJson,
  describeMachine,
  failUnless,
  judgeGoal,
  scriptFolder,
  scriptOptions,
  secondsSince,
  spreadOf,
  writeInto,
} from '../packages/testkit/src/script.ts';
import { until, WAIT_MS } from '../packages/testkit/src/waiting.ts';
import { openCard } from './dashboard/pixels.ts';
import { type SimulatedTeam, simulateTeam } from './team/members.ts';

const options = scriptOptions({
  /** (b) */
  changes: 300,
  /** (c) */
  machines: 200,
  workers: 50,
  readers: 20,
  /** (d): of every worker of ten machines. */
  versions: 20,
  'goal-setup-s': 60,
  'goal-p50': 250,
  'goal-p99': 1000,
  'goal-join-ms': 5000,
  seed: 1,
});
const random = createRandom(options.seed);
const natsVersion = natsServerVersion();
console.log(describeMachine());
console.log(`nats-server ${natsVersion}, three nodes, every write synced; one relay process`);
const all = new AsyncDisposableStack();
try {
  const cluster = await startNatsCluster({ size: 3, syncAlways: true });
  all.defer(() => cluster.stop());
  const relay = await startRelay({
    folder: scriptFolder('bench-team'),
    name: 'relay',
    natsUrls: cluster.urls,
    words: ['--no-limits', '--provision'],
  });
  all.defer(() => relay.kill());
  const { one, two } = await newTeam(relay);
  await latency(one, two, { relay, cluster });
  for (const { stop } of [one, two]) await stop();
  const team = await simulateTeam(relay.url, options.machines);
  await largeTeam(team, { relay, cluster });
  await manyVersions({ relay, cluster });
} finally {
  await all.disposeAsync();
}

type Servers = { relay: RelayProcess; cluster: NatsCluster };
type Machine = Awaited<ReturnType<typeof startMachine>>;

async function startMachine(name: string, prepare: (home: DaemonHome) => void = () => undefined) {
  const home = createDaemonHome(`bench-team-${name}`);
  prepare(home);
  const process_ = startDaemon(home);
  all.defer(() => process_.kill());
  const { port } = await process_.ready;
  const url = `http://127.0.0.1:${port}`;
  return {
    name,
    home,
    url,
    pid: process_.pid,
    stop: () => process_.kill(),
    board: () => askJson<TeamBoard>(`${url}/api/team/board`),
    svc: (...words: string[]) => svc(home, words),
  };
}

/** What it printed; throws if it fails. */
function svc(home: DaemonHome, words: readonly string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], HOME: home.home, SVC_DATA_DIR: home.dataDir, USER: 'bench' };
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [join(home.home, 'dist/svc.js'), ...words],
      { cwd: home.home, env, timeout: WAIT_MS },
      (error, out, wrong) =>
        error === null ? resolve(out) : reject(new Error(`svc ${words[0]}: ${out}${wrong}`)),
    );
  });
}

/** A worker's own report, whole, by a rename. */
function work({ home }: Machine, ticket: string, status: string, phase: number): void {
  const folder = join(home.dataDir, 'runs/bench/workers');
  mkdirSync(folder, { recursive: true });
  const at = new Date().toISOString();
  const signal = { ticket, orchestrator: 'bench', workerName: ticket, status, phase };
  const file = join(folder, `${ticket}.json`);
  writeFileSync(`${file}.new`, JSON.stringify({ ...signal, repo: 'acme/web', startedAt: at, updatedAt: at }));
  renameSync(`${file}.new`, file);
}

/** (a) With the commands that a person types; daemons included. */
async function newTeam(relay: RelayProcess) {
  const started = performance.now();
  const one = await startMachine('one');
  await one.svc('team', 'create', '--relay', relay.url, '--name', 'web', '--machine-name', 'one');
  const { invitation } = JSON.parse(await one.svc('team', 'invite', '--json')) as { invitation: string };
  const two = await startMachine('two');
  await two.svc('team', 'join', invitation, '--machine-name', 'two');
  work(one, 'BENCH-1', 'implementing', 1);
  await until(async () => (await two.svc('board', '--team')).includes('BENCH-1'));
  const seconds = Number(secondsSince(started));
  console.log('\n(a) two empty homes, svc team create, invite, join, until svc board --team shows both');
  judgeGoal('a new team', seconds, options['goal-setup-s'], 's');
  return { one, two };
}

/** (b) All clocks are the machine's. */
async function latency(one: Machine, two: Machine, servers: Servers): Promise<void> {
  const browser = await openChromium();
  all.defer(() => browser.close());
  const card = await openCard(browser, `${two.url}/?view=team`, 'BENCH-1');
  const lines = await follow(two);
  const before = cpuOf(servers);
  const arrivals: number[] = [];
  const pixels: number[] = [];
  for (let change = 1; change <= options.changes; change += 1) {
    const isEven = change % 2 === 0;
    const shown = card.shown(isEven ? 'Implementing' : 'Validating');
    const changedAt = performance.now();
    work(one, 'BENCH-1', isEven ? 'implementing' : 'validating', change);
    const [shownAt, arrivedAt] = await Promise.all([shown, lines.arrival(`"phase":${change},`)]);
    arrivals.push(arrivedAt - changedAt);
    pixels.push(shownAt - performance.timeOrigin - changedAt);
    await sleep(50 + random.below(200));
  }
  lines.stop();
  await browser.close();
  const event = spreadOf(arrivals);
  const pixel = spreadOf(pixels);
  const spent = cpuOf(servers);
  console.log(
    `\n(b) a worker's signal file on one machine to the dashboard of the other, ${pixels.length} changes, slowest ${pixel.slowestMs.toFixed(0)} ms; to its event ${event.p50Ms.toFixed(0)} ms (p50), ${event.p99Ms.toFixed(0)} ms (p99); processor time a change, at this pace: relay ${each(spent.relay - before.relay, pixels.length)} µs, three NATS nodes ${each(spent.nats - before.nats, pixels.length)} µs`,
  );
  judgeGoal('change to pixel, p50', pixel.p50Ms, options['goal-p50'], 'ms');
  judgeGoal('change to pixel, p99', pixel.p99Ms, options['goal-p99'], 'ms');
}

/** The events of other machines as they become durable. */
async function follow({ url }: Machine) {
  const stop = new AbortController();
  const answer = await fetch(`${url}/api/events/stream?event=team.record.changed`, { signal: stop.signal });
  let text = '';
  let wake = (): void => undefined;
  void (async () => {
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk).toString();
      wake();
    }
  })().catch(() => undefined);
  return {
    async arrival(wanted: string): Promise<number> {
      for (const deadline = performance.now() + WAIT_MS; ; ) {
        const at = text.indexOf(wanted);
        if (at >= 0) {
          text = text.slice(at);
          return performance.now();
        }
        if (performance.now() > deadline) throw new Error(`${wanted} did not arrive`);
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, 1000);
        });
      }
    },
    stop: () => stop.abort(),
  };
}

/** (c) */
async function largeTeam(team: SimulatedTeam, servers: Servers): Promise<void> {
  const { machines, workers } = options;
  console.log(
    `\n(c) ${machines} machines with ${workers} workers each; the roster has ${kilobytes(team.rosterBytes)} KB`,
  );
  const first = await team.publish(workers);
  console.log(
    `${first.records} records published in ${first.seconds.toFixed(1)} s, ${Math.round(first.bytes / first.records)} bytes each`,
  );
  const admin = await startMachine('admin', ({ home }) =>
    writeInto(home, '.config/svc/team.json', team.adminFile),
  );
  await until(async () => workersOn(await admin.board()) === first.records);
  const { invitation } = JSON.parse(await admin.svc('team', 'invite', '--json')) as { invitation: string };
  const newcomer = await startMachine('newcomer');
  const started = performance.now();
  // Not the board meanwhile: an answer has ten megabytes.
  await newcomer.svc('team', 'join', invitation, '--machine-name', 'newcomer');
  await until(async () => workersOn(await newcomer.board()) === first.records);
  const ms = performance.now() - started;
  judgeGoal("svc team join to the new member's complete board", ms, options['goal-join-ms'], 'ms');
  await newcomer.stop();
  await admin.stop();

  const alone = await cost(team, servers, 0);
  const read = await cost(team, servers, options.readers);
  const extra = (read.relay - alone.relay) / options.readers;
  console.log(
    `processor time a change: relay ${alone.relay} µs and ${extra.toFixed(1)} µs for each reader, three NATS nodes ${alone.nats} µs; ${Math.round(read.bytes)} bytes to each reader, ${alone.perSecond} changes/s`,
  );
}

/** The cost of one change, with so many readers. */
async function cost(team: SimulatedTeam, servers: Servers, readers: number) {
  const streams = await readersOf(team, readers);
  const before = cpuOf(servers);
  const { records, seconds } = await team.publish(Math.min(10, options.workers));
  const sent = readers === 0 ? 0 : await streams.received(records);
  const spent = cpuOf(servers);
  streams.stop();
  return {
    relay: each(spent.relay - before.relay, records),
    nats: each(spent.nats - before.nats, records),
    perSecond: Math.round(records / seconds),
    bytes: sent,
  };
}

/** Streams of members that only count what they get. */
async function readersOf(team: SimulatedTeam, count: number) {
  const stop = new AbortController();
  const readKey = await team.readKey();
  const got = await Promise.all(
    Array.from({ length: count }, async () => {
      const answer = await fetch(`${team.adminFile.channelUrl}/records`, {
        headers: { authorization: `Bearer ${readKey}` },
        signal: stop.signal,
      });
      const seen = { bytes: 0, records: 0, isReady: false };
      void (async () => {
        for await (const chunk of answer.body ?? []) {
          const text = Buffer.from(chunk).toString('latin1');
          const isStart = !seen.isReady && text.includes('event: ready');
          seen.isReady ||= isStart;
          if (!seen.isReady || isStart) continue;
          seen.bytes += text.length;
          seen.records += text.split('event: record').length - 1;
        }
      })().catch(() => undefined);
      await until(() => seen.isReady);
      return seen;
    }),
  );
  return {
    /** Bytes of a record, when all have at least this many. */
    async received(records: number): Promise<number> {
      await until(() => got.every((one) => one.records >= records));
      return (got[0]?.bytes ?? 0) / (got[0]?.records ?? 1);
    },
    stop: () => stop.abort(),
  };
}

/** (d) */
async function manyVersions({ relay, cluster }: Servers): Promise<void> {
  const { versions, workers } = options;
  const team = await simulateTeam(relay.url, 10);
  await team.publish(workers);
  await sleep(2000);
  const once = await stored(cluster);
  for (let version = 2; version <= versions; version += 1) await team.publish(workers);
  await sleep(2000);
  const often = await stored(cluster);
  console.log(
    `\n(d) ${10 * workers} workers, stored after version 1 and version ${versions}: ${once.messages} and ${often.messages} records, ${kilobytes(once.bytes)} and ${kilobytes(often.bytes)} KB in the streams, ${kilobytes(once.disk)} and ${kilobytes(often.disk)} KB on the disks of three nodes`,
  );
  const isBounded = once.messages === often.messages && often.bytes < 1.1 * once.bytes;
  console.log(`storage is bounded by things, not by time: ${isBounded ? 'reached' : 'NOT reached'}`);
  failUnless(isBounded);
}

async function stored({ nodes }: NatsCluster) {
  const [node] = nodes;
  const { streams, messages, bytes } = await askJson<{ streams: number; messages: number; bytes: number }>(
    `${node?.monitorUrl}/jsz`,
  );
  const disk = nodes.reduce((sum, { folder }) => sum + sizeOf(folder), 0);
  return { streams, messages, bytes, disk };
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).blocks * 512, 0);
}

function workersOn({ machines }: TeamBoard): number {
  return machines.reduce((sum, machine) => sum + machine.workers.length, 0);
}

function cpuOf({ relay, cluster }: Servers): { relay: number; nats: number } {
  const ofNats = cluster.nodes.reduce((sum, node) => sum + cpuMicroseconds(node.pid() ?? 0), 0);
  return { relay: cpuMicroseconds(relay.pid), nats: ofNats };
}

function each(total: number, count: number): number {
  return Math.round(total / count);
}

function kilobytes(bytes: number): number {
  return Math.round(bytes / 1024);
}
