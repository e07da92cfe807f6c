// svc demo: a team's day in three minutes, with the real daemon in a temporary home. Nothing leaves this machine,
// and nothing is left on it. Started by the verb, with the command that runs svc behind `--`:
//
//   node demo.ts --minutes 3 -- node packages/monitor/src/cli/start.ts
//
// It ends with the day (exit 0), with Ctrl-C, SIGTERM or SIGHUP, with a terminal that has gone, and with the
// process that started it. Each way leads through `leave`; should even that fail, the next demo clears up.
import { constants, tmpdir, uptime } from 'node:os';
import { parseArgs } from 'node:util';
import { openClouds } from './clouds.ts';
import { DaemonDidNotStart, openDashboard, startDemoDaemon } from './daemon.ts';
import { DAY_BEGINS, openDay } from './day.ts';
import { makeHome, writeConfiguration, writePrograms } from './home.ts';
import { removeLeftovers } from './leftovers.ts';
import { pastOf, writePast } from './past.ts';
import { playDay } from './play.ts';

const EXIT_NOT_STARTED = 6;
const EXIT_BUG = 70;
/** A terminal's Ctrl-C comes twice: from the terminal and from the verb. */
const SAME_CTRL_C_MS = 500;

const { values, positionals: program } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    port: { type: 'string', default: '0' },
    'no-open': { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const complain = (text: string): void => void process.stderr.write(`${text}\n`);
const leaving = new AbortController();
/** What is to be undone, the newest first. */
const undo: (() => Promise<void> | void)[] = [];
/** The same, in a hurry. */
const undoAtOnce: (() => void)[] = [];
let left: Promise<never> | undefined;

function leave(code: number): Promise<never> {
  left ??= clearUp(code);
  return left;
}

async function clearUp(code: number): Promise<never> {
  leaving.abort();
  for (const step of undo.toReversed()) {
    try {
      await step();
    } catch (error) {
      // It is tried once more, at once, when the process ends.
      complain(`Not cleared up yet: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (askedAt !== undefined) say('Ended. Nothing is left behind.');
  process.exit(code);
}

process.once('exit', () => {
  for (const step of undoAtOnce.toReversed()) step();
});

let askedAt: number | undefined;
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(name, () => {
    const code = 128 + constants.signals[name];
    if (askedAt !== undefined && performance.now() - askedAt > SAME_CTRL_C_MS) process.exit(code);
    askedAt ??= performance.now();
    void leave(code);
  });
process.once('disconnect', () => void leave(128 + constants.signals.SIGHUP));
// The terminal has gone, and nothing more can be said to it.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', () => void leave(128 + constants.signals.SIGHUP));

try {
  await live();
  await leave(0);
} catch (error) {
  if (leaving.signal.aborted) await left;
  complain(error instanceof DaemonDidNotStart ? error.message : wordsOfBug(error));
  await leave(error instanceof DaemonDidNotStart ? EXIT_NOT_STARTED : EXIT_BUG);
}

async function live(): Promise<void> {
  const now = new Date();
  const removed = await removeLeftovers(tmpdir(), now, new Date(now.getTime() - uptime() * 1_000));
  const home = makeHome(tmpdir(), process.pid);
  undo.push(home.remove);
  undoAtOnce.push(home.remove);
  const day = openDay({ now: new Date(now.getTime() - 1_000), nowIs: DAY_BEGINS, pid: process.pid });
  writePast(pastOf(day), home);
  const clouds = await openClouds(home);
  undo.push(clouds.close);
  writeConfiguration(home, clouds);
  writePrograms(home);
  leaving.signal.throwIfAborted();
  const { ready, stop, kill } = startDemoDaemon({
    home,
    program,
    port: Number(values.port),
    codehost: clouds.codehost,
    environment: process.env,
  });
  undo.push(stop);
  undoAtOnce.push(kill);
  const daemon = await ready;
  const lengthMs = Number(values.minutes) * 60_000;
  say(`Dashboard: ${daemon.url}`);
  say(
    `A team's day in ${values.minutes} minutes, played on this machine alone. Ctrl-C ends it and leaves nothing.\n`,
  );
  for (const { home: path, problem } of removed)
    say(
      `An earlier demo was killed: ${path} ${problem === undefined ? 'is removed' : `is left: ${problem}`}.\n`,
    );
  if (!values['no-open']) openDashboard(program, home, process.env);
  const ending = daemon.ended.then((how) => {
    if (leaving.signal.aborted) return;
    throw new DaemonDidNotStart(`The daemon of the demo ended (${how}). It said:\n${daemon.lastWords()}`);
  });
  const playing = playDay({ daemon, clouds, day, lengthMs, say, signal: leaving.signal });
  await Promise.race([playing, ending]);
  leaving.signal.throwIfAborted();
  if (values.keep) {
    say('\nThe dashboard stays until Ctrl-C.');
    await ending;
  }
  say('\nStart for real, in a repository of yours:\n\n  svc init\n');
}

function wordsOfBug(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `This is a bug in svc. Please report it with these lines:\n${stack}`;
}
