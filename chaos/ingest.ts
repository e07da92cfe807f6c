// Signed deliveries pour in while the daemon is killed with -9 at random moments and started again; the
// sender repeats what was not answered with 2xx. Afterwards the log is held against every answer.
// `npm run chaos:ingest` (50,000 deliveries, 25 kills); `-- --sabotage` shows that the check can fail;
// `-- --seed 2` makes other choices: which are sent twice, in which order, when to kill.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../packages/testkit/src/daemon/free-port.ts';
import { createStartKiller } from '../packages/testkit/src/daemon/kill-while-starting.ts';
import { describeMachine } from '../packages/testkit/src/daemon/process-figures.ts';
import {
  codehostSecret,
  createDaemonHome,
  startDaemon,
} from '../packages/testkit/src/daemon/start-daemon.ts';
import { exampleDeliveries, sentTwice } from '../packages/testkit/src/deliveries/example-deliveries.ts';
import { createPost } from '../packages/testkit/src/deliveries/post-delivery.ts';
import {
  createReport,
  type SendReport,
  sendUntilAcknowledged,
} from '../packages/testkit/src/deliveries/send-until-acknowledged.ts';
import { auditLog } from '../packages/testkit/src/log/audit-log.ts';
import { leaveTornEnd, sabotageCopy, sabotages } from '../packages/testkit/src/log/sabotage.ts';
import { isKept, judge, verdictLine } from '../packages/testkit/src/log/verdict.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import { scriptOptions } from '../packages/testkit/src/script-options.ts';
import { WAIT_MS } from '../packages/testkit/src/waiting.ts';
import { killPlan } from './kill-plan.ts';

const options = scriptOptions({
  deliveries: 50_000,
  kills: 25,
  'at-once': 16,
  twice: 0.2,
  seed: 1,
  'deadline-s': (15 * WAIT_MS) / 1000,
  sabotage: false,
});
const MOST_IN_PAUSE = 20;
const random = createRandom(options.seed);
const sends = sentTwice(exampleDeliveries(options.deliveries, codehostSecret), options.twice, random);
const plan = killPlan(options.kills, sends.length, random);
const port = await freePort(random);
const home = createDaemonHome('chaos-ingest');
const post = createPost(port);
const killWhileStarting = createStartKiller(home, random);
const report = createReport();
let kills = 0;
let killsInStart = 0;
/** Kills of a daemon that had answered, with more to answer. */
let hits = 0;
let underWay = 0;
let torn = 0;
let daemon = startDaemon(home, { port });

console.log(describeMachine());
console.log(
  `${options.deliveries} deliveries, ${sends.length} sends, ${options['at-once']} at once, ${options.kills} kills, seed ${options.seed}`,
);
try {
  await daemon.ready;
  const started = performance.now();
  const sending = sendUntilAcknowledged(
    {
      sends,
      atOnce: options['at-once'],
      async post(delivery) {
        underWay += 1;
        return post.post(delivery).finally(() => (underWay -= 1));
      },
      deadlineMs: options['deadline-s'] * 1000,
    },
    report,
  );
  await Promise.all([sending, killAndRestart()]);
  const seconds = (performance.now() - started) / 1000;
  const ending = await daemon.stop();
  const audit = await auditLog(home.eventsDir);
  const verdict = judge(report, audit);
  for (const problem of verdict.problems.slice(0, 20)) console.log(`  ${problem}`);
  console.log(
    `${seconds.toFixed(1)} s, ${Math.round(sends.length / seconds)} sends/s; ${kills} kills, ${killsInStart} of them while it started, ${hits} of them with deliveries under way; torn ends left ${torn}, quarantined ${audit.quarantined}`,
  );
  console.log(
    `answers ${describe(report)}; ${audit.lines} lines, ${(audit.bytes / 2 ** 20).toFixed(1)} MiB; stopped with ${ending}`,
  );
  console.log(verdictLine(verdict));
  const complete =
    verdict.acknowledged === options.deliveries &&
    kills === options.kills &&
    hits === kills - killsInStart &&
    audit.quarantined >= torn &&
    ending === 0;
  if (!isKept(verdict) || !complete) process.exitCode = 1;
  if (options.sabotage) await tryTheCheck(report);
} finally {
  post.close();
  await daemon.kill();
  home.remove();
}

async function killAndRestart(): Promise<void> {
  for (const kill of plan) {
    if (kill.whileStarting) {
      await daemon.kill();
      await killWhileStarting(() => startDaemon(home, { port }));
      killsInStart += 1;
    } else {
      await daemon.ready;
      // It has answered something, if there is anything left to send.
      const after = Math.min(Math.max(kill.afterSends, report.sends + 1), sends.length);
      while (report.sends < after) await sleep(1);
      await pause(kill.delayMs);
      if (underWay > 0) hits += 1;
      await daemon.kill();
      if (kill.tears && leaveTornEnd(home.eventsDir, 1 + random.below(2000))) torn += 1;
    }
    kills += 1;
    daemon = startDaemon(home, { port });
  }
  await daemon.ready;
}

/** Not so long that there is nothing left to send. */
async function pause(milliseconds: number): Promise<void> {
  const { sends: before } = report;
  const enough = performance.now() + milliseconds;
  while (performance.now() < enough && report.sends < before + MOST_IN_PAUSE) await sleep(1);
}

/** Damages copies of the log: the verdict has to notice each. */
async function tryTheCheck({ acknowledged }: SendReport): Promise<void> {
  const victim = random.pick([...acknowledged.keys()]);
  for (const [name, { does, says }] of Object.entries(sabotages)) {
    const copy = join(home.home, name);
    sabotageCopy(home.eventsDir, copy, victim, does);
    const line = verdictLine(judge(report, await auditLog(copy)));
    const noticed = line.includes(says);
    console.log(`sabotage, ${name}: ${line}: ${noticed ? 'noticed' : 'NOT NOTICED'}`);
    if (!noticed) process.exitCode = 1;
  }
}

function describe({ answers, duplicates }: SendReport): string {
  const counts = [...answers].map(([status, count]) => `${status}: ${count}`);
  return `${counts.join(', ')} (${duplicates} duplicates)`;
}
