// Compares our receiver with the minimum that any correct receiver must do, in one run: rounds of (a) and (b) in turn,
// the same 10 KB payloads, 64 connections, loopback, the same disk.
// `npm run bench:ingest`; `-- --profile` adds a profile of both; `-- --goal 0.5` for a busy machine.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { cpuMicroseconds, rssMegabytes } from '../packages/testkit/src/daemon/process-figures.ts';
import { type ServerProcess, startServer } from '../packages/testkit/src/daemon/server-process.ts';
import {
  createDaemonHome,
  type DaemonHome,
  startDaemon,
} from '../packages/testkit/src/daemon/start-daemon.ts';
import { auditLog } from '../packages/testkit/src/log/audit-log.ts';
import { describeMachine, failUnless, medianOf, scriptOptions } from '../packages/testkit/src/script.ts';
import { startChild, tenths } from './child.ts';
import { functionTimes, printTimes } from './cpu-profile.ts';
import type { LoadFigures, LoadOrder } from './load.ts';

const options = scriptOptions({
  rounds: 15,
  seconds: 2,
  'warm-up': 3,
  connections: 64,
  goal: 0.75,
  'goal-p99': 1.5,
  profile: false,
});

type Contender = { name: string; home: DaemonHome; profile: string; server: ServerProcess; rounds: Round[] };
type Round = LoadFigures & { perSecond: number; cpuMicroseconds: number; rss: number };

const load = startChild<LoadOrder, LoadFigures>(join(import.meta.dirname, 'load.ts'));
let firstId = 0;
const contenders = [contend('(a) bare node:http', startBare), contend('(b) svc daemon', startDaemon)];

console.log(describeMachine());
console.log(
  `${options.rounds} rounds of ${options.seconds} s each in turn, ${options.connections} connections, 10 KB payloads of ten types`,
);
try {
  for (const contender of contenders) await measure(contender, options['warm-up']);
  for (let round = 0; round < options.rounds; round += 1) {
    for (const contender of contenders) contender.rounds.push(await measure(contender, options.seconds));
  }
  for (const { server } of contenders) await server.stop();
  report();
  await checkLines();
  if (options.profile) for (const contender of contenders) printProfile(contender);
} finally {
  load.end();
  for (const { server, home } of contenders) {
    await server.kill();
    home.remove();
  }
}

function contend(
  name: string,
  start: (home: DaemonHome, given: { nodeOptions: string[] }) => ServerProcess,
): Contender {
  const home = createDaemonHome('bench-ingest');
  const profile = join(home.home, 'profile');
  mkdirSync(profile);
  const nodeOptions = options.profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : [];
  return { name, home, profile, server: start(home, { nodeOptions }), rounds: [] };
}

function startBare({ home, dataDir, output }: DaemonHome, given: { nodeOptions: string[] }): ServerProcess {
  return startServer({
    command: [...given.nodeOptions, join(import.meta.dirname, 'bare-receiver.ts'), dataDir],
    environment: { HOME: home },
    folder: home,
    announcedIn: join(dataDir, 'daemon.json'),
    output,
  });
}

async function measure({ server }: Contender, seconds: number): Promise<Round> {
  const { port } = await server.ready;
  const before = cpuMicroseconds(server.pid);
  firstId += 10_000_000;
  const { connections } = options;
  const figures = await load.ask({
    kind: 'closed',
    port,
    path: '/api/webhook',
    connections,
    seconds,
    firstId,
  });
  const cpu = cpuMicroseconds(server.pid) - before;
  return {
    ...figures,
    perSecond: figures.posts / figures.seconds,
    cpuMicroseconds: cpu / figures.posts,
    rss: rssMegabytes(server.pid),
  };
}

function report(): void {
  for (const { name, rounds } of contenders) {
    console.log(
      `${name}: deliveries/s by round ${rounds.map(({ perSecond }) => Math.round(perSecond)).join(' ')}`,
    );
  }
  console.table(Object.fromEntries(contenders.map((contender) => [contender.name, summary(contender)])));
  const ratio = pairedRatio(({ perSecond }) => perSecond);
  const p99Ratio = pairedRatio(({ p99Ms }) => p99Ms);
  const cpuRatio = pairedRatio(({ cpuMicroseconds: cpu }) => cpu);
  const reached = ratio >= options.goal && p99Ratio <= options['goal-p99'];
  console.log(
    `median of the rounds' ratios: deliveries ${ratio.toFixed(2)} (goal at least ${options.goal}), p99 ratio ${p99Ratio.toFixed(2)} (goal at most ${options['goal-p99']}), processor time ${cpuRatio.toFixed(2)} times (a): ${reached ? 'reached' : 'MISSED'}`,
  );
  const all = contenders.flatMap(({ rounds }) => rounds);
  const refused = all.reduce((sum, { posts, acknowledged }) => sum + posts - acknowledged, 0);
  if (refused > 0) console.log(`${refused} deliveries were not answered with 200`);
  failUnless(reached && refused === 0);
}

/** Ratios of adjacent rounds, so that other load on the machine cancels out. */
function pairedRatio(of: (round: Round) => number): number {
  const [bare, ours] = contenders;
  return medianOf((ours?.rounds ?? []).map((round, index) => of(round) / of(bare?.rounds[index] ?? round)));
}

function summary({ rounds }: Contender) {
  const median = (of: (round: Round) => number): number => medianOf(rounds.map(of));
  return {
    'deliveries/s': Math.round(median(({ perSecond }) => perSecond)),
    'p50 ms': tenths(median(({ p50Ms }) => p50Ms)),
    'p99 ms': tenths(median(({ p99Ms }) => p99Ms)),
    'cpu µs/delivery': tenths(median(({ cpuMicroseconds: cpu }) => cpu)),
    'rss MB': median(({ rss }) => rss),
  };
}

/** Speed only counts if the lines exist: ours are counted, and have the size that (a) writes. */
async function checkLines(): Promise<void> {
  const ours = contenders[1];
  if (ours === undefined) return;
  const audit = await auditLog(ours.home.eventsDir);
  console.log(
    `our log: ${audit.lines} lines of ${Math.round(audit.bytes / audit.lines)} bytes, torn ${audit.torn}, holes ${audit.holes}`,
  );
  const measured = ours.rounds.reduce((sum, round) => sum + round.posts, 0);
  failUnless(audit.torn + audit.holes === 0 && audit.deliveries.size >= measured);
}

function printProfile({ name, profile, rounds }: Contender): void {
  const rows = functionTimes(profile);
  // The profile includes the warm-up.
  const seconds = rounds.reduce((sum, round) => sum + round.seconds, 0);
  const measured = rounds.reduce((sum, round) => sum + round.posts, 0);
  const deliveries = (measured * (seconds + options['warm-up'])) / seconds;
  const ours = rows.filter(
    ({ where, name: called }) => called === '(root)' || /^dist\/|bare-receiver/.test(where),
  );
  printTimes(`${name}: own time, µs per delivery`, rows, 'own', deliveries / 1000);
  printTimes(`${name}: including callees, our functions only`, ours, 'whole', deliveries / 1000);
}
