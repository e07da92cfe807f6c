// A process with a real event log and the real outbox is killed with -9 at each step between a line of the log,
// the row in the outbox and the effect outside, again and again. After a last undisturbed life every effect that
// the log asked for must be there once, in order, and nothing else.
// `npm run chaos:outbox` (200 kills); `-- --sabotage` also runs four broken ways of doing it, which the verdict
// has to notice; `-- --seed 2` makes other choices.
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

const options = scriptOptions({ kills: 200, inputs: 15, 'last-inputs': 60, seed: 1, sabotage: false });
/** A life may be over before it came to its point: then another is tried, at the first passage. */
const TRIES = 5;
const SABOTAGE_KILLS = 4;
const sabotages: Record<Sabotage, { points: KillPoint[]; says: RegExp }> = {
  'cursor-first': { points: ['inside-accept'], says: /missing [1-9]/ },
  'finish-first': { points: ['before-handler'], says: /missing [1-9]/ },
  'not-idempotent': { points: ['after-effect', 'before-finish'], says: /doubled [1-9]/ },
  'told-first': { points: ['after-attention'], says: /missing [1-9]/ },
};

type Run = { verdict: OutboxVerdict; killed: Map<KillPoint, number>; tracker: ChaosTracker; seconds: number };

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
  `${options.kills} kills over ${killPoints.length} points, ${options.inputs} lines in a life, ${options['last-inputs']} in the last, seed ${options.seed}`,
);
const whole = await play(planKills(options.kills, random), null);
const { asked, refused, again } = whole.tracker.counts;
const kills = [...whole.killed.values()].reduce((sum, count) => sum + count, 0);
for (const problem of whole.verdict.problems.slice(0, 20)) console.log(`  ${problem}`);
console.log(killPoints.map((point) => `${point} ${whole.killed.get(point) ?? 0}`).join(', '));
console.log(
  `${whole.seconds.toFixed(1)} s, ${kills} kills; ${whole.verdict.inputs} facts, ${whole.verdict.lines} lines; the tracker was asked ${asked} times, refused ${refused}, ${again} came again after their result was there`,
);
console.log(outboxVerdictLine(whole.verdict));
if (!isKept(whole.verdict) || kills !== options.kills) process.exitCode = 1;
if (options.sabotage) await tryTheCheck();

async function play(plan: readonly PlannedKill[], sabotage: Sabotage | null): Promise<Run> {
  const started = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'svc-chaos-outbox-'));
  folders.push(folder);
  const tracker = await startChaosTracker();
  const killed = new Map<KillPoint, number>();
  try {
    const orders = { folder, tracker: tracker.url, inputs: options.inputs, sabotage };
    for (const kill of plan) {
      await liveUntilKilled({ ...orders, kill });
      killed.set(kill.point, (killed.get(kill.point) ?? 0) + 1);
    }
    const ending = await live({ ...orders, inputs: options['last-inputs'], kill: null });
    if (ending !== 0) throw new Error(`the last life ended with ${ending}`);
    const verdict = judgeOutbox(folder, tracker.moves);
    return { verdict, killed, tracker, seconds: (performance.now() - started) / 1000 };
  } finally {
    tracker.close();
  }
}

async function liveUntilKilled(orders: ChildOrders & { kill: PlannedKill }): Promise<void> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const kill = attempt === 0 ? orders.kill : { ...orders.kill, nth: 1 };
    const ending = await live({ ...orders, kill });
    if (ending === 'SIGKILL') return;
    if (ending !== 0) throw new Error(`a life with ${JSON.stringify(kill)} ended with ${ending}`);
  }
  throw new Error(`${orders.kill.point} was not reached in ${TRIES} lives`);
}

/** How it ended: an exit code or a signal. */
async function live(orders: ChildOrders): Promise<number | string> {
  const child = spawn(process.execPath, [script, JSON.stringify(orders)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  alive.add(child);
  const ended = new Promise<number | string>((resolve) => {
    child.on('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  const late = setTimeout(() => child.kill('SIGTERM'), 3 * WAIT_MS);
  let lines = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    lines += text.split('\n').length - 1;
    if (orders.kill?.point === 'any-moment' && lines >= orders.kill.nth) child.kill('SIGKILL');
  });
  const ending = await ended;
  clearTimeout(late);
  alive.delete(child);
  return ending;
}

/** Runs what must go wrong: the verdict has to notice each. */
async function tryTheCheck(): Promise<void> {
  const names = Object.keys(sabotages) as Sabotage[];
  const tries = names.map(async (name) => {
    const { points, says } = sabotages[name];
    const { verdict } = await play(planKills(SABOTAGE_KILLS, random, points), name);
    return { name, says, verdict };
  });
  for (const { name, says, verdict } of await Promise.all(tries)) {
    const line = outboxVerdictLine(verdict);
    const noticed = says.test(line) && !isKept(verdict);
    console.log(`sabotage, ${name}: ${line}: ${noticed ? 'noticed' : 'NOT NOTICED'}`);
    if (!noticed) process.exitCode = 1;
  }
}
