// Signed deliveries arrive while the daemon is killed with -9 at random times and restarted; the sender repeats what
// was not answered with 2xx. Afterwards the log is compared with every answer.
// `npm run chaos:ingest` (50,000 deliveries, 25 kills); `-- --power-cuts 25` has the data folder on a disk that loses
// its power instead, and with it everything that was not synced (power-cut.ts); `-- --sabotage` shows that the check
// can fail; `-- --seed 2` makes other choices: which are sent twice, in which order, when to kill.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../packages/testkit/src/daemon/free-port.ts';
import { createStartKiller, type ServerProcess } from '../packages/testkit/src/daemon/server-process.ts';
import {
  codehostSecret,
  createDaemonHome,
  type DaemonHome,
  startDaemon,
} from '../packages/testkit/src/daemon/start-daemon.ts';
import {
  createPost,
  createReport,
  exampleDeliveries,
  type SendReport,
  sendUntilAcknowledged,
  sentTwice,
} from '../packages/testkit/src/deliveries/signed-delivery.ts';
import {
  auditLog,
  hasTornEnd,
  isKept,
  judge,
  type LogAudit,
  leaveTornEnd,
  sabotageCopy,
  sabotages,
  verdictLine,
} from '../packages/testkit/src/log/audit-log.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import {
  describeCounts,
  describeMachine,
  failUnless,
  judgeSabotage,
  printProblems,
  scriptOptions,
} from '../packages/testkit/src/script.ts';
import { WAIT_MS } from '../packages/testkit/src/waiting.ts';
import { type Forgotten, mountPowerCutDisk, type PowerCutOptions } from './power-cut.ts';

const options = scriptOptions({
  deliveries: 50_000,
  kills: 25,
  /** Instead of the kills. */
  'power-cuts': 0,
  'at-once': 16,
  twice: 0.2,
  seed: 1,
  'deadline-s': (15 * WAIT_MS) / 1000,
  sabotage: false,
});
const MOST_IN_PAUSE = 20;
/** Disks that do not really sync: acknowledged deliveries must be missing afterwards. */
const badDisks = ['nothing', 'files'] as const;
const isPowerCut = options['power-cuts'] > 0;
const wanted = isPowerCut ? options['power-cuts'] : options.kills;
const what = isPowerCut ? 'power cuts' : 'kills';
const random = createRandom(options.seed);
const sends = sentTwice(exampleDeliveries(options.deliveries, codehostSecret), options.twice, random);

console.log(describeMachine());
console.log(
  `${options.deliveries} deliveries, ${sends.length} sends, ${options['at-once']} at once, ${wanted} ${what}, seed ${options.seed}`,
);
await play('everything', async (played, home) => {
  const { report, audit, ending } = played;
  const verdict = judge(report, audit);
  printProblems(verdict.problems);
  console.log(
    `${played.seconds.toFixed(1)} s, ${Math.round(sends.length / played.seconds)} sends/s; ${played.kills} ${what}, ${played.inStart} of them while it started, ${played.hits} of them with deliveries in progress; torn ends left ${played.torn}, quarantined ${audit.quarantined}`,
  );
  if (isPowerCut)
    console.log(
      `the disk forgot changes of ${played.forgotten.files} files and ${played.forgotten.names} names; ${played.parts} cuts kept parts of them`,
    );
  console.log(
    `answers ${describeCounts(report.answers)} (${report.duplicates} duplicates); ${audit.lines} lines, ${(audit.bytes / 2 ** 20).toFixed(1)} MiB; stopped with ${ending}`,
  );
  console.log(verdictLine(verdict));
  const complete =
    verdict.acknowledged === options.deliveries &&
    played.kills === wanted &&
    played.hits === played.kills - played.inStart &&
    audit.quarantined >= played.torn &&
    ending === 0;
  failUnless(isKept(verdict) && complete);
  if (options.sabotage) await damageCopies(report, home);
});
if (options.sabotage && isPowerCut) for (const saved of badDisks) await useBadDisk(saved);

type Played = {
  report: SendReport;
  audit: LogAudit;
  ending: number | string;
  seconds: number;
  kills: number;
  inStart: number;
  /** Kills of a daemon that had answered some and not all. */
  hits: number;
  torn: number;
  forgotten: Forgotten;
  /** Power cuts after which some unsynced data still existed. */
  parts: number;
};

/** One daemon's home, with all deliveries and all kills. */
async function play(
  sync: NonNullable<PowerCutOptions['sync']>,
  check: (played: Played, home: DaemonHome) => Promise<void>,
): Promise<void> {
  const port = await freePort(random);
  const home = createDaemonHome('chaos-ingest');
  const disk = isPowerCut ? await mountPowerCutDisk({ folder: home.dataDir, sync }) : undefined;
  const post = createPost(port);
  const killWhileStarting = createStartKiller(home, random);
  const report = createReport();
  const counts = { kills: 0, inStart: 0, hits: 0, torn: 0, parts: 0, forgotten: { files: 0, names: 0 } };
  let underWay = 0;
  let isTorn = false;
  let daemon = startDaemon(home, { port });

  async function killAndRestart(): Promise<void> {
    for (const kill of planKills()) {
      if (kill.whileStarting) {
        await end(daemon);
        await killWhileStarting(() => {
          const starting = startDaemon(home, { port });
          return { ...starting, kill: () => end(starting) };
        });
        counts.inStart += 1;
      } else {
        await daemon.ready;
        // It has answered something, if anything is left to send.
        const after = Math.min(Math.max(kill.afterSends, report.sends + 1), sends.length);
        while (report.sends < after) await sleep(1);
        await pause(kill.delayMs, report);
        if (underWay > 0) counts.hits += 1;
        await end(daemon);
        if (disk === undefined && kill.tears && leaveTornEnd(home.eventsDir, 1 + random.below(2000)))
          counts.torn += 1;
      }
      counts.kills += 1;
      daemon = startDaemon(home, { port });
    }
    await daemon.ready;
  }

  async function end({ kill }: ServerProcess): Promise<void> {
    if (disk === undefined) return kill();
    const torn = random.chance(0.6) ? random.below(2 ** 31) : null;
    const { files, names } = await disk.cut({ kill, torn, inSync: random.chance(0.5) });
    counts.forgotten.files += files;
    counts.forgotten.names += names;
    if (torn !== null) counts.parts += 1;
    // An earlier one is the same: the next daemon was killed before it got to it.
    const hadTornEnd = isTorn;
    isTorn = hasTornEnd(home.eventsDir);
    if (isTorn && !hadTornEnd) counts.torn += 1;
  }

  try {
    await daemon.ready;
    // If half of `format.json` were left, no daemon would start again, and no delivery could be lost.
    if (sync === 'nothing') await disk?.settle();
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
    await check({ report, audit, ending, seconds, ...counts }, home);
  } finally {
    post.close();
    await daemon.kill();
    await disk?.unmount();
    home.remove();
  }
}

type Kill =
  | { whileStarting: true }
  /** `tears`: leaves half a line. */
  | { whileStarting: false; afterSends: number; delayMs: number; tears: boolean };

/**
 * When to kill: after a random number of acknowledged sends and some milliseconds; every fifth kill, and the second
 * one, hits the daemon again during its start, in its recovery. A kill leaves complete lines, because a write is one
 * system call; a power cut does not, so every third kill of a running daemon also leaves half a line, unless the power
 * is really cut (power-cut.ts).
 */
function planKills(): Kill[] {
  const moments = Array.from({ length: wanted }, () => random.below(Math.floor(sends.length * 0.9)));
  moments.sort((left, right) => left - right);
  return moments.map((afterSends, index) =>
    index % 5 === 1
      ? { whileStarting: true }
      : { whileStarting: false, afterSends, delayMs: random.below(30), tears: index % 3 === 0 },
  );
}

/** Short enough that something is left to send. */
async function pause(milliseconds: number, report: SendReport): Promise<void> {
  const { sends: before } = report;
  const enough = performance.now() + milliseconds;
  while (performance.now() < enough && report.sends < before + MOST_IN_PAUSE) await sleep(1);
}

/** Damages copies of the log: the verdict has to notice each. */
async function damageCopies(report: SendReport, home: DaemonHome): Promise<void> {
  const victim = random.pick([...report.acknowledged.keys()]);
  for (const [name, { change, verdict }] of Object.entries(sabotages)) {
    const copy = join(home.home, name);
    sabotageCopy(home.eventsDir, copy, victim, change);
    const line = verdictLine(judge(report, await auditLog(copy)));
    judgeSabotage(name, line, line.includes(verdict));
  }
}

/** The same on a disk that only pretends to sync. */
async function useBadDisk(saved: (typeof badDisks)[number]): Promise<void> {
  await play(saved, async ({ report, audit }) => {
    const verdict = judge(report, audit);
    judgeSabotage(`a sync saves ${saved}`, verdictLine(verdict), verdict.lost > 0);
  });
}
