// The disk fills up in the middle of a burst: answers become 503, nothing acknowledged is missing, and when there is
// space again the same daemon continues by itself. Three times: with the log on the small disk, with log and database
// on it, and with a disk that is full when the daemon starts.
// `npm run chaos:disk-full`; needs root for a small file system in memory, and reports if it cannot mount one.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { mountSmallDisk } from '../packages/testkit/src/daemon/small-disk.ts';
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
import { askJson, describeCounts, scriptOptions } from '../packages/testkit/src/script.ts';
import { until, WAIT_MS } from '../packages/testkit/src/waiting.ts';
import { scenario, unless } from './scenario.ts';

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

for (const variant of variants) await run(variant);

async function run({ name, deliveries, diskMebibytes, roomMebibytes, databaseToo }: Variant): Promise<void> {
  const home = createDaemonHome('chaos-disk-full');
  const disk = mountSmallDisk(join(home.home, 'small'), diskMebibytes);
  if (typeof disk === 'string') {
    console.log(`SKIPPED ${name}: a small file system cannot be mounted here: ${disk}`);
    return home.remove();
  }
  const eventsDir = join(disk.folder, 'events');
  mkdirSync(eventsDir);
  if (roomMebibytes > 0) disk.leave(roomMebibytes);
  else disk.fill();
  const environment = {
    SVC_EVENTS_DIR: eventsDir,
    ...(databaseToo && { SVC_DB_FILE: join(disk.folder, 'svc.db') }),
  };
  const daemon = startDaemon(home, { environment });
  const { port, instance } = await daemon.ready;
  const post = createPost(port);
  const report = createReport();
  let full = '';
  let roomAt = 0;
  let backMs = -1;
  await scenario({
    title: `${name}: ${deliveries} deliveries`,
    world: {
      async close() {
        post.close();
        await daemon.kill();
        disk.unmount();
        home.remove();
      },
    },
    load: () =>
      sendUntilAcknowledged(
        {
          sends: sentTwice(exampleDeliveries(deliveries, codehostSecret), 0.2, createRandom(options.seed)),
          atOnce: options['at-once'],
          post: post.post,
          onAnswer(status) {
            if (status === '200' && roomAt > 0 && backMs < 0) backMs = Math.round(performance.now() - roomAt);
          },
          deadlineMs: options['deadline-s'] * 1000,
        },
        report,
      ),
    /** In the middle the disk is full for a while, then it has space again. */
    async disturb() {
      for (; (report.answers.get('503') ?? 0) < options.refusals; await sleep(5))
        if (report.acknowledged.size === deliveries) throw new Error('The disk was never full');
      await sleep(options['full-ms']);
      full = await until(async () => describeFailing(await health(port)));
      disk.makeRoom();
      roomAt = performance.now();
    },
    async verdict() {
      const isLive = await untilLive(port);
      const isSame = (await health(port)).instance === instance;
      const ending = await daemon.stop();
      const audit = await auditLog(eventsDir);
      const found = judge(report, audit);
      return {
        figures: [
          `answers ${describeCounts(report.answers)}; ${audit.lines} lines`,
          `while full: ${full}; first 200 ${backMs} ms after there was space`,
          verdictLine(found),
        ],
        problems: [
          ...found.problems,
          ...unless(isKept(found), 'the log is not what was acknowledged'),
          ...unless(found.acknowledged === deliveries, 'not everything was acknowledged'),
          ...unless(isSame, 'another daemon answers'),
          ...unless(isLive, 'log and index are not live'),
          ...unless(ending === 0, `the daemon stopped with ${ending}`),
        ],
      };
    },
  });
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
