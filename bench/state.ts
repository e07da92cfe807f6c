// A log of a million lines: the cost of folding, the time until a start has the state, the time for any past state, and
// memory and disk usage. `npm run bench:state` writes the log and removes it; `-- --lines 100000` for a quick run.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { bundleProcess } from '../packages/testkit/src/daemon/bundle-process.ts';
import {
  describeMachine,
  judgeGoal,
  medianOf,
  scriptFolder,
  scriptOptions,
  secondsSince,
} from '../packages/testkit/src/script.ts';
import { writeHistory } from '../packages/testkit/src/tape/history.ts';
import { startChild } from './child.ts';
import type { StateFigures, StateOrder } from './state-child.ts';

const options = scriptOptions({
  lines: 1_000_000,
  seed: 5,
  moments: 20,
  'heap-growing-percent': 0,
  'goal-start': 2_000,
  'goal-at': 1_000,
  'goal-rss': 300,
});
/** A worker's lines with that many rounds of checks, reviews and pushes. */
const LINES_EACH = 490;
const ROUNDS = 38;
const DAYS = 30;
/** Past boards are large and soon garbage: by default the engine lets much of it accumulate. */
const growing = options['heap-growing-percent'];
const nodeOptions = [
  '--max-semi-space-size=16',
  ...(growing > 0 ? [`--heap-growing-percent=${growing}`] : []),
];
const folder = scriptFolder('bench-state');

console.log(`${describeMachine()}, ${nodeOptions.join(' ')}`);
const before = performance.now();
const until = new Date();
const events = join(folder, 'events');
const cards = Math.max(1, Math.round(options.lines / LINES_EACH));
const { lines } = writeHistory(events, { cards, until, days: DAYS, rounds: ROUNDS, seed: options.seed });
const size = readdirSync(events).reduce((sum, name) => sum + statSync(join(events, name)).size, 0);
console.log(
  `${lines} lines of ${Math.round(size / lines)} bytes, ${megabytes(size)}, ${cards} workers in ${DAYS} days, written in ${secondsSince(before)} s`,
);
// As one file, like the shipped daemon: reading sources would take additional time and memory.
const program = await bundleProcess('bench/state-child.ts');
const to = until.getTime();
const about = { folder, lines, from: to - DAYS * 86_400_000, to, seed: options.seed };

const fold = await inChild<StateFigures['fold']>({ ...about, task: 'fold' });
console.log(
  `a line: read and parsed ${perLine(fold.readMs)}, read, parsed and folded ${perLine(fold.foldMs)} (the better of two rounds each)`,
);
console.log(`the board at the end: ${JSON.stringify(fold.entities)}`);

const made = await inChild<StateFigures['prepare']>({ ...about, task: 'prepare' });
console.log(
  `first start, everything from the first line: state ${seconds(made.readyMs)}, ${made.effects} effects queued, index ${seconds(made.indexMs)}; longest block of the event loop ${made.holdMs} ms`,
);
console.log(
  `snapshots: ${made.snapshots.count}, ${megabytes(made.snapshots.bytes)} on disk, the newest ${megabytes(made.newestBytes)}`,
);

const cold = (task: 'stopped' | 'killed' | 'without') =>
  inChild<StateFigures['cold']>({ ...about, task, moments: options.moments });
const without = await cold('without');
console.log(`start without snapshots: ${seconds(without.readyMs)}, most memory ${without.mostRss} MB`);
const stopped = await cold('stopped');
judgeGoal('start after a stop', stopped.readyMs, options['goal-start'], 'ms');
const killed = await cold('killed');
judgeGoal(
  `start after a kill, ${killed.foldedLines} lines behind the last snapshot`,
  killed.readyMs,
  options['goal-start'],
  'ms',
);
const times = [...stopped.momentsMs, ...killed.momentsMs];
console.log(`the board at a past time, p50 of ${times.length}: ${medianOf(times).toFixed(0)} ms`);
judgeGoal('the board at a past time, the slowest', Math.max(...times), options['goal-at'], 'ms');
console.log(`longest block of the event loop meanwhile ${Math.max(stopped.holdMs, killed.holdMs)} ms`);
console.log(`memory once started ${killed.startRss} MB, at the end ${killed.endRss} MB`);
judgeGoal('most memory throughout', Math.max(stopped.mostRss, killed.mostRss), options['goal-rss'], 'MB');

/** Each in its own process, with the options of the daemon. */
async function inChild<Figures>(order: StateOrder): Promise<Figures> {
  const child = startChild<StateOrder, Figures>(program, nodeOptions);
  const figures = await child.ask(order);
  child.end();
  return figures;
}

function perLine(milliseconds: number): string {
  return `${((milliseconds * 1_000) / lines).toFixed(1)} µs`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MB`;
}
