// The disk fills up in the middle of a burst: answers become 503, nothing acknowledged is missing, and when there is
// space again the same daemon continues by itself. Three times: with the log on the small disk, with log and database
// on it, and with a disk that is full when the daemon starts.
// `npm run chaos:disk-full`; needs root for a small file system in memory, and reports if it cannot mount one.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { mountSmallDisk, type SmallDisk } from '../packages/testkit/src/daemon/small-disk.ts';
import {
  codehostSecret,
  createDaemonHome,
  startDaemon,
} from '../packages/testkit/src/daemon/start-daemon.ts';
import {
  createPost,
  createReport,
  exampleDeliveries,
  sendUntilAcknowledged,
  sentTwice,
} from '../packages/testkit/src/deliveries/signed-delivery.ts';
import { auditLog, isKept, judge, verdictLine } from '../packages/testkit/src/log/audit-log.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import {
  askJson,
  describeCounts,
  describeMachine,
  failUnless,
  printProblems,
  scriptOptions,
} from '../packages/testkit/src/script.ts';
import { until, WAIT_MS } from '../packages/testkit/src/waiting.ts';

type Variant = {
  name: string;
  deliveries: number;
  diskMebibytes: number;
  /** Space for the burst before the disk is full. */
  roomMebibytes: number;
  databaseToo: boolean;
};

const options = scriptOptions({
  'at-once': 16,
  refusals: 200,
  'full-ms': 1000,
  seed: 1,
  'deadline-s': (10 * WAIT_MS) / 1000,
});
const variants: Variant[] = [
  { name: 'log', deliveries: 2000, diskMebibytes: 4, roomMebibytes: 1, databaseToo: false },
  { name: 'log and database', deliveries: 6000, diskMebibytes: 24, roomMebibytes: 3.3, databaseToo: true },
  {
    name: 'log, full from the start',
    deliveries: 1000,
    diskMebibytes: 4,
    roomMebibytes: 0,
    databaseToo: false,
  },
];

console.log(describeMachine());
for (const variant of variants) await run(variant);

async function run(variant: Variant): Promise<void> {
  const home = createDaemonHome('chaos-disk-full');
  const disk = mountSmallDisk(join(home.home, 'small'), variant.diskMebibytes);
  if (typeof disk === 'string') {
    console.log(`SKIPPED ${variant.name}: a small file system cannot be mounted here: ${disk}`);
    return home.remove();
  }
  const eventsDir = join(disk.folder, 'events');
  mkdirSync(eventsDir);
  if (variant.roomMebibytes > 0) disk.leave(variant.roomMebibytes);
  else disk.fill();
  const environment = {
    SVC_EVENTS_DIR: eventsDir,
    ...(variant.databaseToo && { SVC_DB_FILE: join(disk.folder, 'svc.db') }),
  };
  const daemon = startDaemon(home, { environment });
  try {
    const { port, instance } = await daemon.ready;
    const { report, full, backMs } = await burst(variant, disk, port);
    const isLive = await untilLive(port);
    const after = await health(port);
    const ending = await daemon.stop();
    const audit = await auditLog(eventsDir);
    const verdict = judge(report, audit);
    printProblems(verdict.problems);
    const isSame = after.instance === instance;
    console.log(
      `${variant.name}: ${variant.deliveries} deliveries, answers ${describeCounts(report.answers)}; ${audit.lines} lines`,
    );
    console.log(`  while full: ${full}`);
    console.log(
      `  first 200 ${backMs} ms after there was space; ${isSame ? 'the same daemon' : 'ANOTHER DAEMON'}, log and index ${isLive ? 'live' : 'NOT LIVE'}, stopped with ${ending}`,
    );
    console.log(`  ${verdictLine(verdict)}`);
    const isComplete = verdict.acknowledged === variant.deliveries && isSame && isLive && ending === 0;
    failUnless(isKept(verdict) && isComplete);
  } finally {
    await daemon.kill();
    disk.unmount();
    home.remove();
  }
}

/** Sends all; in the middle the disk is full for a while, then it has space again. */
async function burst(variant: Variant, disk: SmallDisk, port: number) {
  const random = createRandom(options.seed);
  const post = createPost(port);
  const report = createReport();
  let roomAt = 0;
  let backMs = -1;
  const sending = sendUntilAcknowledged(
    {
      sends: sentTwice(exampleDeliveries(variant.deliveries, codehostSecret), 0.2, random),
      atOnce: options['at-once'],
      post: post.post,
      onAnswer(status) {
        if (status === '200' && roomAt > 0 && backMs < 0) backMs = Math.round(performance.now() - roomAt);
      },
      deadlineMs: options['deadline-s'] * 1000,
    },
    report,
  );
  // Awaited below; until then a failure must not count as unhandled.
  sending.catch(() => undefined);
  try {
    while ((report.answers.get('503') ?? 0) < options.refusals) {
      await Promise.race([sleep(5), sending]);
      if (report.acknowledged.size === variant.deliveries) throw new Error('The disk was never full');
    }
    await sleep(options['full-ms']);
    const full = await until(async () => describeFailing(await health(port)));
    disk.makeRoom();
    roomAt = performance.now();
    await sending;
    return { report, full, backMs };
  } finally {
    post.close();
  }
}

type Health = {
  instance?: string;
  log?: { state?: string; failing?: string | null; indexFailing?: string | null; indexLag?: number };
};

/** Whether health is good at the end: the index retries every second. */
async function untilLive(port: number): Promise<boolean> {
  return until(async () => {
    const { log } = await health(port);
    return log?.state === 'live' && log.indexLag === 0;
  }).catch(() => false);
}

function health(port: number): Promise<Health> {
  return askJson<Health>(`http://127.0.0.1:${port}/api/health`);
}

/** Undefined while the log does not report a failure. */
function describeFailing({ log }: Health): string | undefined {
  if (typeof log?.failing !== 'string') return undefined;
  return `health: log ${log.failing}; index ${log.indexFailing ?? 'ok'}`;
}
