// svc demo: a team's day in three minutes, with the real daemon in a temporary home. Nothing leaves this machine, and
// everything is removed at the end. After the day the board stays, so that nobody loses the page that they look at.
// Started by the verb, with the command that runs svc after `--`:
//
//   node demo.ts --minutes 3 -- node packages/monitor/src/cli/start.ts
//
// It ends with Enter (exit 0), with Ctrl-C, SIGTERM or SIGHUP, with a closed terminal, with the process that started it,
// and with `--exit` after the day. Each way goes through `leave`; if that fails, the next demo cleans up.
import { constants, tmpdir, uptime } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { AGENT_TICKET, findGit, makeRepository, startAgentRun } from './agent-run.ts';
import { openClouds } from './clouds.ts';
import { DaemonDidNotStart, openDashboard, startDemoDaemon } from './daemon.ts';
import { DAY_BEGINS, openDay } from './day.ts';
import { makeHome, writeConfiguration, writePrograms } from './home.ts';
import { initCommand } from './init-command.ts';
import { removeLeftovers } from './leftovers.ts';
import { pastOf, writePast } from './past.ts';
import { playDay } from './play.ts';

const EXIT_NOT_STARTED = 6;
const EXIT_BUG = 70;
/** Ctrl-C arrives twice: from the terminal and from the verb. */
const SAME_CTRL_C_MS = 500;

const { values, positionals: program } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    port: { type: 'string', default: '0' },
    'no-open': { type: 'boolean', default: false },
    exit: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});

/** A pipe or a file has no key to press. */
const waitsForEnter = process.stdin.isTTY;
const print = (text: string): void => void process.stdout.write(`${text}\n`);
const printError = (text: string): void => void process.stderr.write(`${text}\n`);
const leaving = new AbortController();
/** Cleanup steps, run newest first. */
const cleanup: (() => Promise<void> | void)[] = [];
/** Synchronous cleanup, for the end of the process. */
const cleanupAtExit: (() => void)[] = [];
let left: Promise<never> | undefined;
/** Enter or a signal ended it; the user knows it by now, or will. */
let isAsked = false;
let hasStarted = false;

function leave(code: number): Promise<never> {
  left ??= cleanUp(code);
  return left;
}

async function cleanUp(code: number): Promise<never> {
  leaving.abort();
  for (const step of cleanup.toReversed()) {
    try {
      await step();
    } catch (error) {
      // It is tried once more when the process exits.
      printError(
        `Cleanup failed, retrying at exit: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
  if (isAsked) print('Ended. Everything was removed.');
  if (isAsked && hasStarted) printNext();
  process.exit(code);
}

process.once('exit', () => {
  for (const step of cleanupAtExit.toReversed()) step();
});

let signaledAt: number | undefined;
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(name, () => {
    const code = 128 + constants.signals[name];
    if (signaledAt !== undefined && performance.now() - signaledAt > SAME_CTRL_C_MS) process.exit(code);
    signaledAt ??= performance.now();
    isAsked = true;
    void leave(code);
  });
process.once('disconnect', () => void leave(128 + constants.signals.SIGHUP));
// The terminal was closed.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', () => void leave(128 + constants.signals.SIGHUP));

try {
  await run();
  await leave(0);
} catch (error) {
  // Ctrl-C also ends a git that is being waited for; the signal of this process is handled in the next turn.
  await nextTurn();
  if (leaving.signal.aborted) await left;
  printError(error instanceof DaemonDidNotStart ? error.message : bugReport(error));
  await leave(error instanceof DaemonDidNotStart ? EXIT_NOT_STARTED : EXIT_BUG);
}

async function run(): Promise<void> {
  const now = new Date();
  const removed = await removeLeftovers(tmpdir(), now, new Date(now.getTime() - uptime() * 1_000));
  const home = makeHome(tmpdir(), process.pid);
  cleanup.push(home.remove);
  cleanupAtExit.push(home.remove);
  const day = openDay({ now: new Date(now.getTime() - 1_000), nowIs: DAY_BEGINS, pid: process.pid });
  writePast(pastOf(day), home);
  const clouds = await openClouds(home, day);
  cleanup.push(clouds.close);
  writeConfiguration(home, clouds);
  const git = findGit(process.env['PATH']);
  writePrograms(home, git);
  if (git !== undefined) makeRepository(home, git);
  leaving.signal.throwIfAborted();
  const { ready, stop, kill } = startDemoDaemon({
    home,
    program,
    port: Number(values.port),
    codehost: clouds.codehost,
    tracker: clouds.tracker,
    environment: process.env,
  });
  cleanup.push(stop);
  cleanupAtExit.push(kill);
  const daemon = await ready;
  const lengthMs = Number(values.minutes) * 60_000;
  print(`Dashboard: ${daemon.url}`);
  print(
    `A team's day in ${values.minutes} ${lengthMs === 60_000 ? 'minute' : 'minutes'}, played on this machine only.${values.exit ? '' : ' The board stays open afterwards.'}`,
  );
  print(`${waitsForEnter ? 'Enter or Ctrl-C' : 'Ctrl-C'} ends it and removes everything.\n`);
  hasStarted = true;
  if (waitsForEnter) endWithEnter();
  for (const { home: path, problem } of removed)
    print(
      `An earlier demo was killed: ${path} ${problem === undefined ? 'was removed' : `was not removed: ${problem}`}.\n`,
    );
  if (!values['no-open']) openDashboard(program, home, process.env);
  const ending = daemon.ended.then((how) => {
    if (leaving.signal.aborted) return;
    throw new DaemonDidNotStart(`The demo's daemon ended (${how}). Its last output:\n${daemon.lastOutput()}`);
  });
  if (git !== undefined) {
    await startAgentRun(daemon, home);
    print(
      `The agent of ${AGENT_TICKET} is starting. It asks you before it edits a file: open its card and answer it.\n`,
    );
  }
  const playing = playDay({ daemon, clouds, day, lengthMs, print, signal: leaving.signal });
  await Promise.race([playing, ending]);
  leaving.signal.throwIfAborted();
  if (values.exit) return printNext();
  print(`\nThe board stays open: ${daemon.url}`);
  print(`${waitsForEnter ? 'Enter or Ctrl-C' : 'Ctrl-C'} ends the demo and removes everything.`);
  await ending;
  leaving.signal.throwIfAborted();
}

/** The next line on standard input ends the demo. */
function endWithEnter(): void {
  process.stdin.once('data', () => {
    isAsked = true;
    void leave(0);
  });
}

function printNext(): void {
  print(`\nTo use svc in your own repository, in its folder:\n\n  ${initCommand(program, process.env)}\n`);
}

function bugReport(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `This is a bug in svc. Please report it with these lines:\n${stack}`;
}
