// A hundred thousand bad requests (bytes, headers, sizes, encodings, frames, signatures, replays), with valid ones
// among them. A model decides which answers are allowed; afterwards the log may contain only rightly accepted ones.
// `npm run chaos:bad-input`; `-- --requests 2000 --seed 3` for a short run with other choices; `-- --sabotage`
// gives the daemon a wrong secret, to show that the check can fail.
//
// With `--minutes 10` (`npm run chaos:traffic`) the same requests come for that time, more slowly, together with
// clients that cost the daemon memory, handles and time in other ways. Memory and handles have to stay flat, and to
// return to the start value afterwards. That is measured after a warm-up with a little of everything, without load.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../packages/testkit/src/daemon/free-port.ts';
import { rssMegabytes } from '../packages/testkit/src/daemon/process-figures.ts';
import {
  codehostSecret,
  createDaemonHome,
  startDaemon,
} from '../packages/testkit/src/daemon/start-daemon.ts';
import { auditLog } from '../packages/testkit/src/log/audit-log.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import { askJson, medianOf, printProblems, scriptOptions } from '../packages/testkit/src/script.ts';
import { exchange, type KeptConnection, keepConnection } from '../packages/testkit/src/wire/exchange.ts';
import { badBodies } from './bad-requests/bad-bodies.ts';
import { badFraming } from './bad-requests/bad-framing.ts';
import { badHeaders } from './bad-requests/bad-headers.ts';
import { createSource, type Kind, weighted } from './bad-requests/bad-request.ts';
import { badSignatures } from './bad-requests/bad-signatures.ts';
import { fairRequests } from './bad-requests/fair-requests.ts';
import { createJudge } from './bad-requests/judge.ts';
import { pressures, type Target } from './bad-requests/pressures.ts';
import { type Bounds, judgeResources, type Sample, sampleOf } from './bad-requests/resources.ts';
import { scenario, unless } from './scenario.ts';

const options = scriptOptions({
  requests: 100_000,
  'at-once': 32,
  seed: 1,
  'rss-mb': 250,
  minutes: 0,
  sabotage: false,
});
const kinds = [...fairRequests, ...badSignatures, ...badBodies, ...badHeaders, ...badFraming];
/** The first ones are valid, so that there is something to replay: more than are sent at once. */
const FIRST_GOOD = 100;
const isTimed = options.minutes > 0;
/** For `--minutes`. */
const LANES = { requests: 16, pressures: 12, pauseMs: 100 };
const WARM_UP_SECONDS = 90;
/** Node releases memory after 100 s without work; a jq thread is kept for 30 s, and a request may take as long. */
const QUIET_SECONDS = 130;
const QUIET_WITHIN_SECONDS = 300;
const bounds: Bounds = { mostMb: 1200, keptMb: 128, mbPerMinute: 20, handlesPerMinute: 20 };
const random = createRandom(options.seed);
const home = createDaemonHome('chaos-bad-input');
const port = await freePort(random);
const daemon = startDaemon(home, {
  port,
  environment: options.sabotage ? { SVC_TRACKER_WEBHOOK_SECRET: codehostSecret } : {},
});
const source = createSource(random, port);
// Under load a request may get 503, or be cut off together with those that hold what it needs.
const judge = createJudge(source.remember, isTimed ? [503, 408, 'closed'] : []);
/** In MB, a hundred times over all requests. */
const memory: number[] = [];
const applied: Record<string, number> = {};
let sent = 0;

const { instance } = await daemon.ready;
const figures: string[] = [];
let isFlat = false;
await scenario({
  title: isTimed
    ? `${options.minutes} minutes of requests of ${kinds.length} kinds with ${pressures.length} pressures, seed ${options.seed}`
    : `${options.requests} requests of ${kinds.length} kinds, ${options['at-once']} at once, seed ${options.seed}`,
  async load() {
    isFlat = isTimed ? await staysFlatForMinutes() : await staysFlatOverRequests();
  },
  async verdict(seconds) {
    const isSame = (await askInstance()) === instance;
    const isAlive = (await daemon.stop()) === 0 && isSame;
    const audit = await auditLog(home.eventsDir);
    console.table(judge.table());
    const errors = errorLines();
    return {
      figures: [
        ...figures,
        `${seconds.toFixed(1)} s; log: ${audit.lines} lines, torn ${audit.torn}, holes ${audit.holes}; answers outside the model ${judge.problems().length}`,
        `requests ${sent} accepted wrongly ${judge.acceptedWrongly()} crashes ${isAlive ? 0 : 1} unhandled ${errors.length}`,
      ],
      problems: [
        ...judge.problems(),
        ...judge.compare(audit),
        ...audit.problems,
        ...errors,
        ...unless(isFlat, 'memory or handles grow'),
        ...unless(isAlive, 'the daemon has not lived through all of it'),
      ],
    };
  },
  broken: options.sabotage && { what: 'a wrong secret', wanted: /accepted wrongly/ },
});

async function staysFlatOverRequests(): Promise<boolean> {
  const start = rssMegabytes(daemon.pid);
  await Promise.all(Array.from({ length: options['at-once'] }, sendOneAfterAnother));
  // Medians, because memory rises and falls with the garbage collector.
  const [warm, end] = [medianOf(memory.slice(20, 40)), medianOf(memory.slice(-20))];
  const isFlatEnough = end <= warm * 1.3 || end < options['rss-mb'];
  figures.push(
    `RSS MB at start ${start}, median of the second fifth ${warm}, of the last fifth ${end}: ${isFlatEnough ? 'flat' : 'GROWS'}`,
  );
  return isFlatEnough;
}

async function staysFlatForMinutes(): Promise<boolean> {
  await sendMixed(WARM_UP_SECONDS);
  const start = await untilQuiet();
  const { samples, slowestMs } = await sendMixed(options.minutes * 60);
  const after = await untilQuiet();
  const verdict = judgeResources({ start, under: samples, after }, bounds);
  console.log(`pressures: ${JSON.stringify(applied)}; health answered within ${slowestMs.toFixed(0)} ms`);
  console.table({
    'RSS, MB': {
      start: start.rssMb,
      most: verdict.mostMb,
      'a minute, last half': Number(verdict.mbPerMinute.toFixed(1)),
      after: after.rssMb,
    },
    'file handles': {
      start: start.handles,
      most: verdict.mostHandles,
      'a minute, last half': Number(verdict.handlesPerMinute.toFixed(1)),
      after: after.handles,
    },
  });
  console.log(
    `limits: ${JSON.stringify(bounds)}, and no more handles after the load than at the start, except two of SQLite's`,
  );
  printProblems(verdict.problems);
  return verdict.problems.length === 0;
}

/** Random requests and pressures, until the time is over and all of them have ended. */
async function sendMixed(seconds: number): Promise<{ samples: Sample[]; slowestMs: number }> {
  const started = performance.now();
  const isOver = (): boolean => performance.now() - started > seconds * 1000;
  const target: Target = { port, home: home.home, source, random, isOver };
  const samples: Sample[] = [];
  let slowestMs = 0;
  const lanes = [
    ...Array.from({ length: LANES.requests }, async () => {
      const connection = keepConnection(port);
      while (!isOver()) {
        sent += 1;
        await sendOne(connection);
        await sleep(random.below(LANES.pauseMs));
      }
      connection.close();
    }),
    ...Array.from({ length: LANES.pressures }, async () => {
      while (!isOver()) {
        const { name, apply } = weighted(random, pressures);
        applied[name] = (applied[name] ?? 0) + 1;
        await apply(target);
        await sleep(random.below(LANES.pauseMs));
      }
    }),
  ];
  while (!isOver()) {
    const asked = performance.now();
    await askInstance();
    slowestMs = Math.max(slowestMs, performance.now() - asked);
    samples.push(sampleOf(daemon.pid, started));
    await sleep(1000);
  }
  await Promise.all(lanes);
  return { samples, slowestMs };
}

/** Waits until the handles have not changed for a while; returns the resources then. */
async function untilQuiet(): Promise<Sample> {
  const started = performance.now();
  let last = sampleOf(daemon.pid, started);
  for (let since = last.seconds; last.seconds < QUIET_WITHIN_SECONDS; await sleep(1000)) {
    const next = sampleOf(daemon.pid, started);
    if (next.handles !== last.handles) since = next.seconds;
    last = next;
    if (next.seconds - since >= QUIET_SECONDS) break;
  }
  return last;
}

async function sendOneAfterAnother(): Promise<void> {
  const connection = keepConnection(port);
  while (sent < options.requests) {
    sent += 1;
    if (sent % Math.ceil(options.requests / 100) === 0) memory.push(rssMegabytes(daemon.pid));
    await sendOne(connection);
  }
  connection.close();
}

async function sendOne(connection: KeptConnection): Promise<void> {
  const kind: Kind = weighted(random, sent <= FIRST_GOOD ? kinds.slice(0, 1) : kinds);
  const request = kind.make(source);
  const reply = request.kept ? await connection.exchange(request.pieces) : await exchange(port, request);
  judge.note(kind.name, request, reply);
}

async function askInstance(): Promise<string | undefined> {
  return (await askJson<{ instance?: string }>(`http://127.0.0.1:${port}/api/health`)).instance;
}

/** The errors in the daemon's log, and Node's messages about unhandled rejections. */
function errorLines(): string[] {
  const lines = readFileSync(home.output, 'utf8').split('\n');
  return lines.filter((line) => /"level":(50|60)|unhandled|uncaught|\bat .*:\d+:\d+\)?$/i.test(line));
}
