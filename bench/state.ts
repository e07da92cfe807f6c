// A log of a million lines: what folding costs, how soon a start has the state, how soon any past moment is
// there, and how much memory and disk it takes. `npm run bench:state` writes the log itself and removes it
// afterwards; `-- --lines 100000` for a quick look.
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'rolldown';
import { describeMachine } from '../packages/testkit/src/daemon/process-figures.ts';
import { scriptOptions } from '../packages/testkit/src/script-options.ts';
import type { ColdFigures, FoldFigures, PrepareFigures, StateOrder } from './state-child.ts';
import { writeTape } from './state-tape.ts';

const options = scriptOptions({
  lines: 1_000_000,
  seed: 5,
  moments: 20,
  'heap-growing-percent': 0,
  'goal-start': 2_000,
  'goal-at': 1_000,
  'goal-rss': 300,
});
/** Past boards are large and soon garbage: left to itself, the engine lets much of it pile up. */
const growing = options['heap-growing-percent'];
const nodeOptions = [
  '--max-semi-space-size=16',
  ...(growing > 0 ? [`--heap-growing-percent=${growing}`] : []),
];
const folder = mkdtempSync(join(tmpdir(), 'svc-bench-state-'));
let failed = false;

console.log(`${describeMachine()}, ${nodeOptions.join(' ')}`);
try {
  const before = performance.now();
  const tape = writeTape({ folder: join(folder, 'events'), lines: options.lines, seed: options.seed });
  console.log(
    `${tape.lines} lines of ${Math.round(tape.bytes / tape.lines)} bytes, ${megabytes(tape.bytes)}, ${tape.workers} workers in 30 days, written in ${seconds(performance.now() - before)}`,
  );
  await bundle();
  const about = { folder, lines: tape.lines, from: tape.from, to: tape.to, seed: options.seed };

  const fold = await inChild<FoldFigures>({ ...about, task: 'fold' });
  console.log(
    `a line: read and parsed ${perLine(fold.readMs)}, read, parsed and folded ${perLine(fold.foldMs)} (the better of two rounds each)`,
  );
  console.log(`the board at the end: ${JSON.stringify(fold.entities)}`);

  const made = await inChild<PrepareFigures>({ ...about, task: 'prepare' });
  console.log(
    `first start, everything from the first line: state ${seconds(made.readyMs)}, ${made.effects} effects handed over, index ${seconds(made.indexMs)}; longest hold of the event loop ${made.holdMs} ms`,
  );
  console.log(
    `snapshots: ${made.snapshots.count}, ${megabytes(made.snapshots.bytes)} on disk, the newest ${megabytes(made.newestBytes)}`,
  );

  const cold = (task: 'stopped' | 'killed' | 'without') =>
    inChild<ColdFigures>({ ...about, task, moments: options.moments });
  const without = await cold('without');
  console.log(`start without snapshots: ${seconds(without.readyMs)}, most memory ${without.mostRss} MB`);
  const stopped = await cold('stopped');
  judge('start after a stop', stopped.readyMs, options['goal-start'], 'ms');
  const killed = await cold('killed');
  judge(
    `start after a kill, ${killed.foldedLines} lines behind the last snapshot`,
    killed.readyMs,
    options['goal-start'],
    'ms',
  );
  const times = [...stopped.momentsMs, ...killed.momentsMs].toSorted((left, right) => left - right);
  console.log(
    `the board of a past moment, p50 of ${times.length}: ${times[times.length >> 1]?.toFixed(0)} ms`,
  );
  judge('the board of a past moment, the slowest', times.at(-1) ?? Infinity, options['goal-at'], 'ms');
  console.log(`longest hold of the event loop meanwhile ${Math.max(stopped.holdMs, killed.holdMs)} ms`);
  console.log(`memory once started ${killed.startRss} MB, at the end ${killed.endRss} MB`);
  judge('most memory throughout', Math.max(stopped.mostRss, killed.mostRss), options['goal-rss'], 'MB');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (failed) process.exitCode = 1;

/** In one file, as the daemon is shipped: reading sources takes time and memory that it does not need. */
async function bundle(): Promise<void> {
  await build({
    cwd: import.meta.dirname,
    input: 'state-child.ts',
    platform: 'node',
    resolve: { mainFields: ['module', 'main'] },
    output: { file: join(folder, 'child.js'), format: 'esm' },
    logLevel: 'warn',
  });
}

/** Each in a process of its own, with the options of the daemon. */
function inChild<Figures>(order: StateOrder): Promise<Figures> {
  const child = fork(join(folder, 'child.js'), [JSON.stringify(order)], {
    execArgv: nodeOptions,
  });
  process.once('exit', () => child.kill('SIGKILL'));
  return new Promise((resolve, reject) => {
    let figures: Figures | undefined;
    child.once('message', (message) => (figures = message as Figures));
    child.once('exit', (code) =>
      figures === undefined ? reject(new Error(`${order.task} ended with ${code}`)) : resolve(figures),
    );
  });
}

function judge(what: string, figure: number, goal: number, unit: string): void {
  const reached = figure < goal;
  failed ||= !reached;
  console.log(
    `${what}: ${figure.toFixed(0)} ${unit} (goal under ${goal}: ${reached ? 'ok' : 'not reached'})`,
  );
}

function perLine(milliseconds: number): string {
  return `${((milliseconds * 1_000) / options.lines).toFixed(1)} µs`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MB`;
}
