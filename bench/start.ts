// Processor time of the smallest commands as a ratio to bare Node, and of the daemon's start as a ratio to an earlier
// build: medians of runs that take turns. `npm run bench:start`, or with the dist folder of the earlier build:
// `npm run bench:start -- --before ../earlier/packages/monitor/dist`.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuMicroseconds } from '../packages/testkit/src/daemon/process-figures.ts';
import {
  createDaemonHome,
  type DaemonHome,
  startDaemon,
} from '../packages/testkit/src/daemon/start-daemon.ts';
import { describeMachine, failUnless, medianOf, scriptOptions } from '../packages/testkit/src/script.ts';

const options = scriptOptions({ runs: 15, before: '' });
/** At most, as a multiple of bare Node. */
const goals = [
  ['--version', 1.5, ['--version']],
  ['--help', 1.5, ['--help']],
  ['help of a verb', 1.5, ['deploy', 'retry', '--help']],
  ['completion', 1.5, ['complete', 'bash', '1', 'svc', 'depl']],
  ['outbox', 2.5, ['outbox']],
  ['board', 2.5, ['board']],
  ['attention', 2.5, ['attention', 'list']],
  ['why', 2.5, ['why', 'BENCH-1']],
  ['hook of an agent', 2, ['hook', 'claude', 'PostToolUse', '%data']],
] as const;
const GOAL_OF_START = 0.75;
/** What Claude Code gives its hook after a tool. */
const hookEvent = JSON.stringify({
  session_id: 'bench',
  cwd: '/',
  hook_event_name: 'PostToolUse',
  tool_name: 'Bash',
});

const home = createDaemonHome('bench-start');
const meter = join(home.home, 'meter.cjs');
writeFileSync(
  meter,
  `process.on('exit', () => { const { user, system } = process.cpuUsage(); require('node:fs').writeSync(3, String(user + system)); });`,
);

console.log(describeMachine());
await measureCommands();
if (options.before !== '') await measureStarts();
home.remove();

async function measureCommands(): Promise<void> {
  const daemon = startDaemon(home);
  const { port } = await daemon.ready;
  const bare: number[] = [];
  const used = goals.map((): number[] => []);
  // The first run of each fills the cache of compiled code.
  for (let run = -1; run < options.runs; run++) {
    const times = [millisecondsOf([]), ...goals.map(([, , words]) => millisecondsOf(words, port))];
    if (run < 0) continue;
    bare.push(times[0] ?? 0);
    for (const [index, times_] of used.entries()) times_.push(times[index + 1] ?? 0);
  }
  await daemon.stop();
  console.log(`bare Node: ${medianOf(bare).toFixed(0)} ms of processor time`);
  for (const [index, [name, goal]] of goals.entries())
    judge(name, medianOf(used[index] ?? []), medianOf(bare), goal);
}

/** For the whole process. Without words: Node that does nothing. */
function millisecondsOf(words: readonly string[], port = 0): number {
  const program = words.length === 0 ? ['-e', ''] : [join(home.home, 'dist/svc.js'), ...words];
  const { output, status } = spawnSync(
    process.execPath,
    ['--require', meter, ...program.map((word) => (word === '%data' ? home.dataDir : word))],
    {
      env: {
        PATH: process.env['PATH'],
        HOME: home.home,
        SVC_DATA_DIR: home.dataDir,
        SVC_MONITOR_PORT: String(port),
      },
      cwd: home.home,
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
      input: hookEvent,
    },
  );
  const used = Number(output[3]?.toString());
  // `why` of a ticket that nobody knows is 1.
  if (!(used > 0) || (status ?? 9) > 1) throw new Error(`svc ${words.join(' ')} ended with ${status}`);
  return used / 1_000;
}

/** From nothing to the first answer. */
async function measureStarts(): Promise<void> {
  const homes = [home, createDaemonHome('bench-start-before', options.before)];
  const used = homes.map((): number[] => []);
  for (let run = -1; run < options.runs; run++)
    for (const [index, one] of homes.entries()) {
      const milliseconds = await millisecondsOfStart(one, run);
      if (run >= 0) used[index]?.push(milliseconds);
    }
  homes[1]?.remove();
  const [now, before] = used.map(medianOf);
  judge('start of the daemon', now ?? 0, before ?? 0, GOAL_OF_START);
}

async function millisecondsOfStart(one: DaemonHome, run: number): Promise<number> {
  const dataDir = join(one.home, `data-${run}`);
  mkdirSync(dataDir);
  const daemon = startDaemon({ ...one, dataDir });
  const { port } = await daemon.ready;
  await (await fetch(`http://127.0.0.1:${port}/api/health`)).text();
  const used = cpuMicroseconds(daemon.pid) / 1_000;
  await daemon.stop();
  return used;
}

function judge(name: string, used: number, compared: number, goal: number): void {
  const ratio = used / compared;
  const isReached = ratio <= goal;
  console.log(
    `${name}: ${used.toFixed(0)} ms, ${ratio.toFixed(2)} times (goal at most ${goal}: ${isReached ? 'reached' : 'NOT reached'})`,
  );
  failUnless(isReached);
}
