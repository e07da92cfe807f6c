// Signed deliveries arrive while the daemon is killed with -9 at random times and restarted; the sender repeats what
// was not answered with 2xx. Afterwards the log is compared with every answer.
// `npm run chaos:ingest` (50,000 deliveries, 25 kills); `-- --power-cuts 25` has the data folder on a disk that loses
// its power instead, and with it everything that was not synced (power-cut.ts); `-- --sabotage` shows that the check
// can fail; `-- --seed 2` makes other choices: which are sent twice, in which order, when to kill.
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../packages/testkit/src/daemon/free-port.ts';
import { createStartKiller, type ServerProcess } from '../packages/testkit/src/daemon/server-process.ts';
import {
  codehostSecret,
  createDaemonHome,
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
  damagedCopies,
  hasTornEnd,
  isKept,
  judge,
  leaveTornEnd,
  verdictLine,
} from '../packages/testkit/src/log/audit-log.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import { describeCounts, scriptOptions } from '../packages/testkit/src/script.ts';
import { WAIT_MS } from '../packages/testkit/src/waiting.ts';
import { mountPowerCutDisk, type PowerCutOptions } from './power-cut.ts';
import { type Damage, scenario, unless, type Verdict } from './scenario.ts';

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

await play('everything');
if (options.sabotage && isPowerCut) for (const sync of badDisks) await play(sync);

/** One daemon's home, with all deliveries and all kills. `sync`: what a sync of its disk saves. */
async function play(sync: NonNullable<PowerCutOptions['sync']>): Promise<void> {
  const port = await freePort(random);
  const home = createDaemonHome('chaos-ingest');
  const disk = isPowerCut ? await mountPowerCutDisk({ folder: home.dataDir, sync }) : undefined;
  const post = createPost(port);
  const killWhileStarting = createStartKiller(home, random);
  const report = createReport();
  /** `hits`: of a daemon that had answered some and not all; `parts`: some unsynced data still existed. */
  const counts = { kills: 0, inStart: 0, hits: 0, torn: 0, parts: 0, files: 0, names: 0 };
  let underWay = 0;
  let isTorn = false;
  let daemon = startDaemon(home, { port });
  await daemon.ready;
  // If half of `format.json` were left, no daemon would start again, and no delivery could be lost.
  if (sync === 'nothing') await disk?.settle();
  await scenario({
    title: `${options.deliveries} deliveries, ${sends.length} sends, ${options['at-once']} at once, ${wanted} ${what}, seed ${options.seed}`,
    world: {
      async close() {
        post.close();
        await daemon.kill();
        await disk?.unmount();
        home.remove();
      },
    },
    load: () =>
      sendUntilAcknowledged(
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
      ),
    disturb: killAndRestart,
    verdict,
    sabotage: options.sabotage && damages,
    broken: sync !== 'everything' && { what: `a sync saves ${sync}`, wanted: /but is not in the log/ },
  });

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
    counts.files += files;
    counts.names += names;
    if (torn !== null) counts.parts += 1;
    // An earlier one is the same: the next daemon was killed before it got to it.
    const hadTornEnd = isTorn;
    isTorn = hasTornEnd(home.eventsDir);
    if (isTorn && !hadTornEnd) counts.torn += 1;
  }

  async function verdict(seconds: number): Promise<Verdict> {
    const { kills, inStart, hits, torn, parts, files, names } = counts;
    const ending = await daemon.stop();
    const audit = await auditLog(home.eventsDir);
    const found = judge(report, audit);
    return {
      figures: [
        `${seconds.toFixed(1)} s, ${Math.round(sends.length / seconds)} sends/s; ${kills} ${what}, ${inStart} of them while it started, ${hits} of them with deliveries in progress; torn ends left ${torn}, quarantined ${audit.quarantined}`,
        ...(isPowerCut
          ? [`the disk forgot changes of ${files} files and ${names} names; ${parts} cuts kept parts`]
          : []),
        `answers ${describeCounts(report.answers)} (${report.duplicates} duplicates); ${audit.lines} lines, ${(audit.bytes / 2 ** 20).toFixed(1)} MiB; stopped with ${ending}`,
        verdictLine(found),
      ],
      problems: [
        ...found.problems,
        ...unless(isKept(found), 'the log is not what was acknowledged'),
        ...unless(found.acknowledged === options.deliveries, 'not everything was acknowledged'),
        ...unless(kills === wanted && hits === kills - inStart, `not ${wanted} ${what} in the middle`),
        ...unless(audit.quarantined >= torn, 'a torn end was not quarantined'),
        ...unless(ending === 0, `the daemon stopped with ${ending}`),
      ],
    };
  }

  async function* damages(): AsyncGenerator<Damage> {
    const victim = random.pick([...report.acknowledged.keys()]);
    for (const { name, copy, verdict: expected } of damagedCopies(home.eventsDir, home.home, victim))
      yield [name, verdictLine(judge(report, await auditLog(copy))), expected];
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
