// Two daemons are started at the same moment on one data root, again and again; the winner is killed with -9
// in one round and asked to stop in the next. `npm run chaos:two-daemons` (200 rounds); each round must have
// exactly one that answers, and the other must end with code 6 and say who that is.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createDaemonHome } from '../packages/testkit/src/daemon/start-daemon.ts';

const ROUND_MS = 30_000;
const EXIT_ALREADY_RUNNING = 6;

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '200' } } });
const rounds = Number(values.rounds);
const alive = new Set<ChildProcess>();

type Contender = { child: ChildProcess; ended: Promise<number | string>; said: () => string };

// No daemon outlives this script, however it ends; the home goes after them.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});
const { home, dataDir } = createDaemonHome('chaos-two-daemons');

const started = performance.now();
let exactlyOne = 0;
for (let round = 0; round < rounds; round += 1) {
  const problem = await playRound(round % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
  if (problem === undefined) exactlyOne += 1;
  else console.error(`round ${round + 1}: ${problem}`);
}
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(`two daemons at the same moment, half of the winners killed with -9; ${seconds} s`);
console.log(`rounds ${rounds} exactly one ${exactlyOne}`);
if (exactlyOne !== rounds) process.exitCode = 1;

/** What went wrong in the round, or undefined. */
async function playRound(ending: 'SIGKILL' | 'SIGTERM'): Promise<string | undefined> {
  const contenders = [contend(), contend()];
  try {
    const first = await within(
      ROUND_MS,
      Promise.race(contenders.map(async (each) => ({ each, code: await each.ended }))),
    );
    if (first === undefined) return `both are still there after ${ROUND_MS / 1000} s`;
    const loser = first.each;
    const winner = contenders.find((each) => each !== loser);
    if (first.code !== EXIT_ALREADY_RUNNING) return `one ended with ${first.code}: ${loser.said()}`;
    const record = JSON.parse(readFileSync(join(dataDir, 'daemon.json'), 'utf8'));
    const told = `pid ${winner?.child.pid}, ${record.url}`;
    if (!loser.said().includes(told)) return `the loser does not say "${told}": ${loser.said()}`;
    const response = await fetch(`${record.url}/api/health`, { signal: AbortSignal.timeout(5_000) });
    const health = (await response.json()) as { pid: number; instance: string };
    if (health.pid !== winner?.child.pid || health.instance !== record.instance) return 'another one answers';
    winner.child.kill(ending);
    const how = await within(ROUND_MS, winner.ended);
    const expected = ending === 'SIGKILL' ? 'SIGKILL' : 0;
    return how === expected ? undefined : `the winner ended with ${how}: ${winner.said()}`;
  } finally {
    for (const { child } of contenders) child.kill('SIGKILL');
    await Promise.all(contenders.map(({ ended }) => ended));
  }
}

function contend(): Contender {
  const child = spawn(process.execPath, [join(home, 'dist', 'svc.js'), 'monitor', 'run'], {
    cwd: home,
    // A free port for each, so that the port does not decide.
    env: { HOME: home, SVC_DATA_DIR: dataDir, SVC_MONITOR_PORT: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  alive.add(child);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const ended = new Promise<number | string>((resolve) => {
    // `close`, not `exit`: by then everything it said has been read.
    child.on('close', (code, signal) => {
      alive.delete(child);
      resolve(code ?? signal ?? 'unknown');
    });
  });
  return { child, ended, said: () => said };
}

async function within<T>(milliseconds: number, work: Promise<T>): Promise<T | undefined> {
  const enough = new AbortController();
  const late = sleep(milliseconds, undefined, { signal: enough.signal }).catch(() => undefined);
  const result = await Promise.race([work, late]);
  enough.abort();
  return result;
}
