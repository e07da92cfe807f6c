// From a delivery's 200 to the line printed by a waiting `svc events wait-for` in another process.
// `npm run bench:wait` (1,000 waits, then 200 waiters at once under load); none may be missed.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  codehostSecret,
  createDaemonHome,
  startDaemon,
} from '../packages/testkit/src/daemon/start-daemon.ts';
import {
  createPost,
  type SignedDelivery,
  signedDelivery,
} from '../packages/testkit/src/deliveries/signed-delivery.ts';
import { codehostExample } from '../packages/testkit/src/payloads/codehost-variants.ts';
import { patched, withDelivery } from '../packages/testkit/src/payloads/examples.ts';
import {
  askJson,
  describeMachine,
  endWithScript,
  failUnless,
  scriptOptions,
  spreadOf,
} from '../packages/testkit/src/script.ts';
import { until } from '../packages/testkit/src/waiting.ts';

const options = scriptOptions({
  waits: 1000,
  together: 20,
  crowd: 200,
  'load-per-second': 200,
  'goal-p50': 5,
  'goal-p99': 25,
});
const home = createDaemonHome('bench-wait');
const server = startDaemon(home);
const { port } = await server.ready;
const post = createPost(port);
/** From the daemon itself. */
const ownReaders = await tailReaders();
let tickets = 0;

type Waiter = { ticket: string; printed: Promise<number> };

console.log(describeMachine());
try {
  const latencies: number[] = [];
  while (latencies.length < options.waits) {
    const round = await startWaiters(Math.min(options.together, options.waits - latencies.length));
    for (const waiter of round) {
      latencies.push(await latencyOf(waiter));
      await sleep(5);
    }
  }
  const missed = latencies.filter((latency) => Number.isNaN(latency)).length;
  const { p50Ms, p99Ms } = spreadOf(latencies.filter((latency) => !Number.isNaN(latency)));
  console.log(
    `waits ${options.waits}: p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, missed ${missed}`,
  );

  const crowd = await startWaiters(options.crowd);
  const load = startLoad();
  await sleep(3000);
  const found = await Promise.all(crowd.map(latencyOf));
  const missedByCrowd = found.filter((latency) => Number.isNaN(latency)).length;
  const sent = await load.stop();
  console.log(
    `${options.crowd} waiters at once under load (${sent} other deliveries): missed ${missedByCrowd}`,
  );
  const slow = p50Ms > options['goal-p50'] || p99Ms > options['goal-p99'];
  console.log(
    `goal: p50 under ${options['goal-p50']} ms, p99 under ${options['goal-p99']} ms: ${slow ? 'NOT reached' : 'reached'}`,
  );
  failUnless(missed + missedByCrowd === 0 && !slow);
} finally {
  post.close();
  await server.kill();
  home.remove();
}

async function startWaiters(count: number): Promise<Waiter[]> {
  // First those of the previous round end.
  await until(async () => (await tailReaders()) <= ownReaders);
  const started: Waiter[] = [];
  // Not all at once: two hundred programs that start together take more than a minute on two cores.
  while (started.length < count) {
    const next = Math.min(options.together, count - started.length);
    started.push(...Array.from({ length: next }, startWaiter));
    await until(async () => (await tailReaders()) >= ownReaders + started.length);
  }
  return started;
}

function startWaiter(): Waiter {
  const ticket = `BEN-${(tickets += 1)}`;
  const about = ['--event', 'codehost.pr.merged', '--ticket', ticket, '--timeout', '600'];
  const child = endWithScript(
    spawn(process.execPath, [join(home.home, 'dist/svc.js'), 'events', 'wait-for', ...about], {
      env: { HOME: home.home, SVC_DATA_DIR: home.dataDir, PATH: process.env['PATH'] },
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  const printed = new Promise<number>((resolve) => {
    child.stdout.once('data', () => resolve(performance.now()));
    // Not 'exit': the output may not be read yet then.
    child.once('close', () => resolve(Number.NaN));
  });
  return { ticket, printed };
}

/** Milliseconds from the answer to the printed line; NaN if the waiter ended without one. */
async function latencyOf({ ticket, printed }: Waiter): Promise<number> {
  const { status } = await post.post(merged(ticket, tickets));
  if (status !== 200) throw new Error(`a delivery was answered ${status}`);
  const answered = performance.now();
  return Math.max(0, (await printed) - answered);
}

function merged(ticket: string, number: number): SignedDelivery {
  const example = patched(codehostExample('pull_request merged'), ticket, {
    pull_request: { head: { ref: `${ticket}-bench` } },
  });
  return signedDelivery({ ...withDelivery(example, number), deliveryId: `bench-${ticket}` }, codehostSecret);
}

function startLoad(): { stop: () => Promise<number> } {
  let sent = 0;
  const stopped = new AbortController();
  const running = (async () => {
    while (!stopped.signal.aborted) {
      const name = `LOAD-${(sent += 1)}`;
      await Promise.all([post.post(merged(name, sent)), sleep(1000 / options['load-per-second'])]);
    }
  })();
  return {
    async stop() {
      stopped.abort();
      await running;
      return sent;
    },
  };
}

async function tailReaders(): Promise<number> {
  const health = await askJson<{ log: { tailReaders: number } }>(`http://127.0.0.1:${port}/api/health`);
  return health.log.tailReaders;
}
