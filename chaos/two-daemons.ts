// Two daemons are repeatedly started on one data root. In one round both try to lock it at the same time, in the next
// the second one starts while the first has the lock and does not answer yet. The winner is killed with -9 or stopped.
// `npm run chaos:two-daemons` (200 rounds); in each round exactly one must answer, and the other must end with code 6
// and name the winner.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { within } from '@svc/lib/timeout';
import { bundleProcess } from '../packages/testkit/src/daemon/bundle-process.ts';
import { createDaemonHome } from '../packages/testkit/src/daemon/start-daemon.ts';
import { askJson, endOf, endWithScript, scriptOptions } from '../packages/testkit/src/script.ts';
import { until, WAIT_MS } from '../packages/testkit/src/waiting.ts';
import { scenario } from './scenario.ts';

const EXIT_ALREADY_RUNNING = 6;
/** How often a winner that does not answer yet is tried. */
const QUESTIONS = 6;
/** How long a loser waits for the winner's first answer before it gives up. */
const LOSER_WAITS_MS = 10_000;

const { rounds } = scriptOptions({ rounds: 200 });

type Contender = {
  child: ChildProcess;
  ended: Promise<number | string>;
  said: () => string;
  /** It is about to try to lock. */
  atLock: Promise<void>;
  /** It has the lock; never, if the other was first. */
  locked: Promise<void>;
  letThrough: () => void;
  /** From the attempt to its end. */
  waitedMs: () => number;
};

const { home, dataDir } = createDaemonHome('chaos-two-daemons');
const gate = await bundleProcess('chaos/two-daemons-gate.ts');

/** Losers that waited in vain for the winner's first answer. */
let impatient = 0;
const problems: string[] = [];
await scenario({
  title: `${rounds} rounds: two daemons at the same time, or one during the other's start; half of the winners are killed with -9`,
  async load() {
    for (let round = 0; round < rounds; round += 1) {
      const ending = round % 2 === 0 ? 'SIGTERM' : 'SIGKILL';
      const problem = await playRound(ending, round % 4 < 2).catch(String);
      if (problem !== undefined) problems.push(`round ${round + 1}: ${problem}`);
    }
  },
  verdict: (seconds) => ({
    figures: [
      `${seconds.toFixed(1)} s, ${impatient} losers waited in vain`,
      `rounds ${rounds} exactly one ${rounds - problems.length}`,
    ],
    problems,
  }),
});

/** The problem in the round, or undefined. */
async function playRound(ending: 'SIGKILL' | 'SIGTERM', areTogether: boolean): Promise<string | undefined> {
  const contenders = [contend(), contend()] as const;
  const [one, other] = contenders;
  const all: Contender[] = [...contenders];
  try {
    await inTime(Promise.all([one.atLock, other.atLock]), 'both reach the lock');
    one.letThrough();
    if (!areTogether) await inTime(one.locked, 'the first has the lock');
    other.letThrough();
    const first = await inTime(
      Promise.race(contenders.map(async (each) => ({ each, code: await each.ended }))),
      'one of them ends',
    );
    const winner = first.each === one ? other : one;
    if (first.code !== EXIT_ALREADY_RUNNING) return `one ended with ${first.code}: ${first.each.said()}`;
    const record = await recordOf(winner);
    const words = `pid ${winner.child.pid}, ${record.url}`;
    let loser = first.each;
    // A slow winner may not answer before the loser stops waiting: then another loser tries again.
    for (let left = QUESTIONS; left > 0 && /is starting|does not answer/.test(loser.said()); left -= 1) {
      impatient += 1;
      if (loser.waitedMs() < LOSER_WAITS_MS) return `the loser did not wait: ${loser.said()}`;
      loser = contend();
      all.push(loser);
      loser.letThrough();
      const code = await inTime(loser.ended, 'one more ends');
      if (code !== EXIT_ALREADY_RUNNING) return `one more ended with ${code}: ${loser.said()}`;
    }
    if (!loser.said().includes(words)) return `the loser does not print "${words}": ${loser.said()}`;
    const health = await askJson<{ pid: number; instance: string }>(`${record.url}/api/health`);
    if (health.pid !== winner.child.pid || health.instance !== record.instance) return 'another one answers';
    winner.child.kill(ending);
    const how = await inTime(winner.ended, `the winner ends by ${ending}`);
    const expected = ending === 'SIGKILL' ? 'SIGKILL' : 0;
    return how === expected ? undefined : `the winner ended with ${how}: ${winner.said()}`;
  } finally {
    for (const { child } of all) child.kill('SIGKILL');
    await Promise.all(all.map(({ ended }) => ended));
  }
}

function contend(): Contender {
  const command = ['--import', gate, join(home, 'dist', 'svc.js'), 'monitor', 'run'];
  const child = endWithScript(
    spawn(process.execPath, command, {
      cwd: home,
      // A free port for each, so that the port does not decide.
      env: { HOME: home, SVC_DATA_DIR: dataDir, SVC_MONITOR_PORT: '0' },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    }),
  );
  const times = { through: 0, ended: 0 };
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const ended = endOf(child).finally(() => (times.ended = performance.now()));
  const atLock = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const pipe = child.stdio[3] as Socket;
  let heard = '';
  pipe.on('data', (chunk: Buffer) => {
    heard += chunk.toString();
    if (heard.includes('here')) atLock.resolve();
    if (heard.includes('locked')) locked.resolve();
  });
  // It was killed before the attempt.
  pipe.on('error', () => undefined);
  return {
    child,
    ended,
    said: () => said,
    atLock: atLock.promise,
    locked: locked.promise,
    letThrough() {
      times.through = performance.now();
      pipe.write('.');
    },
    waitedMs: () => times.ended - times.through,
  };
}

async function recordOf({ child }: Contender): Promise<{ url: string; instance: string }> {
  return until(() => {
    const record = JSON.parse(readFileSync(join(dataDir, 'daemon.json'), 'utf8'));
    return record.pid === child.pid && record;
  });
}

/** Rejects if it takes too long. */
function inTime<T>(work: Promise<T>, what: string): Promise<T> {
  return within(work, WAIT_MS, () => {
    throw new Error(`not after ${WAIT_MS / 1000} s: ${what}`);
  });
}
