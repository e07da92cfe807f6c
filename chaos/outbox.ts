// A process with a real event log and the real outbox is killed with -9 at each step between a line of the log,
// the row in the outbox and the effect outside, again and again. After a last undisturbed life every effect that
// the log asked for must be there once, in order, and nothing else.
// `npm run chaos:outbox` (200 kills); with `-- --power-cuts 100` its disk loses its power instead, and with it
// everything that was not synced (power-cut.ts); `-- --sabotage` also runs four broken ways of doing it, and disks that
// do not sync, which the verdict has to notice; `-- --seed 2` makes other choices.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeMachine } from '../packages/testkit/src/daemon/process-figures.ts';
import { createRandom } from '../packages/testkit/src/random.ts';
import { scriptOptions } from '../packages/testkit/src/script-options.ts';
import { WAIT_MS } from '../packages/testkit/src/waiting.ts';
import { bundleProcess } from './bundle-process.ts';
import type { ChildOrders, Sabotage } from './outbox-child.ts';
import { type KillPoint, killPoints, type PlannedKill, planKills } from './outbox-plan.ts';
import { type ChaosTracker, startChaosTracker } from './outbox-tracker.ts';
import { isKept, judgeOutbox, type OutboxVerdict, outboxVerdictLine } from './outbox-verdict.ts';
import { mountPowerCutDisk, type PowerCutDisk, type PowerCutOptions } from './power-cut.ts';

const options = scriptOptions({
  kills: 200,
  /** Instead of the kills. */
  'power-cuts': 0,
  inputs: 15,
  'last-inputs': 60,
  seed: 1,
  sabotage: false,
});
/** A life may be over before it came to its point: then another is tried, at the first passage. */
const TRIES = 5;
const SABOTAGE_KILLS = 4;
const sabotages: Record<Sabotage, { points: KillPoint[]; says: RegExp }> = {
  'cursor-first': { points: ['inside-accept'], says: /missing [1-9]/ },
  'finish-first': { points: ['before-handler'], says: /missing [1-9]/ },
  'not-idempotent': { points: ['after-effect', 'before-finish'], says: /doubled [1-9]/ },
  'told-first': { points: ['after-attention'], says: /missing [1-9]/ },
};

type Sync = NonNullable<PowerCutOptions['sync']>;
/** Disks that say that they have synced and have not. */
const badDisks: readonly Sync[] = ['nothing', 'files'];
const isPowerCut = options['power-cuts'] > 0;
const wanted = isPowerCut ? options['power-cuts'] : options.kills;
const what = isPowerCut ? 'power cuts' : 'kills';

type Run = {
  verdict: OutboxVerdict;
  killed: Map<KillPoint, number>;
  tracker: ChaosTracker;
  seconds: number;
  lost: number;
};

const random = createRandom(options.seed);
const alive = new Set<ChildProcess>();
const folders: string[] = [];
// No life outlives this script, however it ends.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const script = await bundleProcess('outbox-child.ts');
console.log(describeMachine());
console.log(
  `${wanted} ${what} over ${killPoints.length} points, ${options.inputs} lines in a life, ${options['last-inputs']} in the last, seed ${options.seed}`,
);
const whole = await play(planKills(wanted, random), null, isPowerCut ? 'everything' : null);
const { asked, refused, again } = whole.tracker.counts;
const kills = [...whole.killed.values()].reduce((sum, count) => sum + count, 0);
for (const problem of whole.verdict.problems.slice(0, 20)) console.log(`  ${problem}`);
console.log(killPoints.map((point) => `${point} ${whole.killed.get(point) ?? 0}`).join(', '));
console.log(
  `${whole.seconds.toFixed(1)} s, ${kills} ${what}; ${whole.verdict.inputs} facts, ${whole.verdict.lines} lines, ${whole.lost} lost; the tracker was asked ${asked} times, refused ${refused}, ${again} came again after their result was there`,
);
console.log(outboxVerdictLine(whole.verdict));
if (!isKept(whole.verdict) || whole.lost > 0 || kills !== wanted) process.exitCode = 1;
if (options.sabotage) await tryTheCheck();
if (options.sabotage && isPowerCut) for (const saved of badDisks) await useBadDisk(saved);

/** `sync`: what a sync saves on a disk whose power is cut; null is a disk that keeps everything. */
async function play(
  plan: readonly PlannedKill[],
  sabotage: Sabotage | null,
  sync: Sync | null,
): Promise<Run> {
  const started = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'svc-chaos-outbox-'));
  folders.push(folder);
  const disk = sync === null ? undefined : await mountDisk(folder, sync);
  const tracker = await startChaosTracker();
  const killed = new Map<KillPoint, number>();
  /** Facts that a life reported as written. */
  let written = 0;
  try {
    const orders = { folder, tracker: tracker.url, inputs: options.inputs, sabotage };
    for (const kill of plan) {
      written += await liveUntilKilled({ ...orders, kill }, disk);
      killed.set(kill.point, (killed.get(kill.point) ?? 0) + 1);
    }
    const last = await live({ ...orders, inputs: options['last-inputs'], kill: null }, disk);
    if (last.ending !== 0) throw new Error(`the last life ended with ${last.ending}`);
    written += last.written;
    const verdict = judgeOutbox(folder, tracker.moves);
    const lost = Math.max(0, written - verdict.inputs);
    return { verdict, killed, tracker, seconds: (performance.now() - started) / 1000, lost };
  } finally {
    tracker.close();
    await disk?.unmount();
  }
}

/** One that does not sync forgets everything: parts of it, such as half a database, could not be gone on from. */
async function mountDisk(folder: string, sync: Sync): Promise<PowerCutDisk> {
  const disk = await mountPowerCutDisk({ folder, sync });
  if (sync === 'everything') return disk;
  return { ...disk, cut: (cut) => disk.cut({ ...cut, torn: null }) };
}

/** Returns how many facts were reported as written. */
async function liveUntilKilled(
  orders: ChildOrders & { kill: PlannedKill },
  disk: PowerCutDisk | undefined,
): Promise<number> {
  let written = 0;
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const kill = attempt === 0 ? orders.kill : { ...orders.kill, nth: 1 };
    const { ending, ...life } = await live({ ...orders, kill }, disk);
    written += life.written;
    if (ending === 'SIGKILL') return written;
    if (ending !== 0) throw new Error(`a life with ${JSON.stringify(kill)} ended with ${ending}`);
  }
  throw new Error(`${orders.kill.point} was not reached in ${TRIES} lives`);
}

type Life = {
  /** An exit code or a signal. */
  ending: number | string;
  written: number;
};

/** A life that ended by SIGKILL has taken the power of its disk along. */
async function live(orders: ChildOrders, disk: PowerCutDisk | undefined): Promise<Life> {
  const child = spawn(process.execPath, [script, JSON.stringify(orders)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  alive.add(child);
  const ended = new Promise<number | string>((resolve) => {
    child.on('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  const late = setTimeout(() => child.kill('SIGTERM'), 3 * WAIT_MS);
  let lines = 0;
  let cut: Promise<unknown> | undefined;
  function kill(): Promise<unknown> {
    child.kill('SIGKILL');
    return ended;
  }
  function cutPower(): void {
    cut ??= disk?.cut({
      kill,
      torn: random.chance(0.6) ? random.below(2 ** 31) : null,
      inSync: child.exitCode === null && child.signalCode === null && random.chance(0.5),
    });
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    lines += text.split('\n').length - 1;
    if (orders.kill?.point !== 'any-moment' || lines < orders.kill.nth) return;
    if (disk === undefined) void kill();
    else cutPower();
  });
  const ending = await ended;
  clearTimeout(late);
  alive.delete(child);
  if (ending === 'SIGKILL') cutPower();
  await cut;
  return { ending, written: lines };
}

/** Runs what must go wrong: the verdict has to notice each. */
async function tryTheCheck(): Promise<void> {
  const names = Object.keys(sabotages) as Sabotage[];
  const tries = names.map(async (name) => {
    const { points, says } = sabotages[name];
    const { verdict } = await play(planKills(SABOTAGE_KILLS, random, points), name, null);
    return { name, says, verdict };
  });
  for (const { name, says, verdict } of await Promise.all(tries)) {
    const line = outboxVerdictLine(verdict);
    noticed(name, line, says.test(line) && !isKept(verdict));
  }
}

async function useBadDisk(saved: Sync): Promise<void> {
  const { verdict, lost } = await play(planKills(wanted, random), null, saved);
  const line = `${outboxVerdictLine(verdict)}, facts lost ${lost}`;
  noticed(`a sync saves ${saved}`, line, lost > 0);
}

function noticed(name: string, line: string, isNoticed: boolean): void {
  console.log(`sabotage, ${name}: ${line}: ${isNoticed ? 'noticed' : 'NOT NOTICED'}`);
  if (!isNoticed) process.exitCode = 1;
}
