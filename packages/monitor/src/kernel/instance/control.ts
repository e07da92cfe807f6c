// The process that svc runs in, as far as the daemon's control needs it. Passed in, so tests can replace it.
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { exitProcess } from '@svc/lib/disk-calls';
import { systemErrorCode } from '@svc/lib/errors';
import { isPid } from '@svc/lib/pid';
import type { Machine } from '../config/environment.ts';
import type { Environment } from '../config/resolved-value.ts';
import { refuseNewerData } from '../disk/data-format.ts';
import { Failure } from '../failure.ts';
import { openEventLog } from '../log/event-log.ts';
import { identifyHost } from '../log/log-entry.ts';
import type { DaemonIdentity } from './daemon-identity.ts';
import { usable } from './daemon-record.ts';
import { type FoundDaemon, notAnswering, waitForDaemon } from './find-daemon.ts';
import { claimInstance } from './instance.ts';
import { linesBehind, logFileOf, openToAppend } from './log-file.ts';
import { linesOfFailure } from './log-text.ts';

export type Host = {
  pid: number;
  /** The command that runs this svc again: node, its flags, the start file. */
  program: readonly string[];
  /** Standard output as a file descriptor. */
  standardOutput: number;
  signal: (pid: number, name: NodeJS.Signals) => void;
  onStopSignal: (listener: (name: NodeJS.Signals) => void) => void;
  /** An uncaught error. */
  onFault: (listener: (error: unknown) => void) => void;
  /** Without a code: uses the one that was set before. */
  exit: (code?: number) => never;
};

export const thisProcess: Host = {
  pid: process.pid,
  program: [process.execPath, ...process.execArgv, process.argv[1] ?? ''],
  standardOutput: 1,
  signal: (pid, name) => void process.kill(pid, name),
  onStopSignal(listener) {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, listener);
  },
  onFault(listener) {
    process.on('uncaughtException', listener);
    process.on('unhandledRejection', listener);
  },
  exit: exitProcess,
};

// Starts the daemon in the background: a process with its own session, its output in the log file, and this call
// returns when it answers. If a daemon is already running, or another caller wins the race, that one is used.

const START_MS = 20_000;
const SUCCESSOR_WITHIN_MS = 1_000;
const SAY_SO_AFTER_MS = 1_000;
const SHOWN_LINES = 20;

export type StartOptions = {
  dataDir: string;
  /** The command that runs svc: node, its flags, the start file. */
  program: readonly string[];
  /** The daemon's environment, secrets included. */
  environment: () => Promise<Environment>;
  /** The daemon stays in this folder: its project is served. */
  folder: string;
  /** Called when it takes long. */
  onWaiting: () => void;
  interrupted: AbortSignal;
  timeoutMs?: number;
};

export type Started = { daemon: DaemonIdentity; wasRunning: boolean };

export async function startDaemon(options: StartOptions): Promise<Started> {
  const waiting = setTimeout(options.onWaiting, SAY_SO_AFTER_MS);
  try {
    // A daemon that is starting or stopping decides first whether there is anything to start.
    const found = await settled(options, START_MS);
    if (found.state === 'running') return { daemon: found.daemon, wasRunning: true };
    if (found.state !== 'stopped') throw notAnswering(found, options.dataDir);
    return await launch(options);
  } finally {
    clearTimeout(waiting);
  }
}

async function launch(options: StartOptions): Promise<Started> {
  const { dataDir, program, folder, interrupted, timeoutMs = START_MS } = options;
  const path = logFileOf(dataDir);
  const environment = await options.environment();
  const log = usable(dataDir, () => openToAppend(path));
  try {
    const [command, ...args] = [...program, 'monitor', 'run', '--log-file', path];
    const child = spawn(command, args, {
      cwd: folder,
      env: environment,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    let ending: string | undefined;
    child.on('error', (error) => (ending = error.message));
    child.on('exit', (code, signal) => (ending = signal ?? `exit code ${code}`));
    child.unref();
    const deadline = performance.now() + timeoutMs;
    const found = await waitForDaemon(dataDir, (now) => isUp(now) || ending !== undefined, {
      timeoutMs,
      interrupted,
    });
    // If our process ended because another was first, the other one may need a moment more.
    let last =
      found.state === 'running' && ending === undefined ? found : await settled(options, SUCCESSOR_WITHIN_MS);
    if (last.state === 'running' && !isUp(last))
      last = await waitForDaemon(dataDir, (now) => isUp(now) || now.state !== 'running', {
        timeoutMs: deadline - performance.now(),
        interrupted,
      });
    if (last.state !== 'running')
      throw startFailed(
        path,
        { ending, timeoutMs },
        linesOfFailure(linesBehind(log.fd, log.size, SHOWN_LINES)),
      );
    if (!isUp(last)) throw notChecked(last.daemon, timeoutMs);
    const wasRunning = last.daemon.pid !== child.pid;
    // A process that is still loading would take the data root later, once the other daemon has been stopped.
    if (wasRunning) child.kill();
    return { daemon: last.daemon, wasRunning };
  } finally {
    closeSync(log.fd);
  }
}

/** A daemon that answers may still fail at its first look at a file. */
function isUp(found: FoundDaemon): boolean {
  return found.state === 'running' && found.daemon.filesChecked !== false;
}

function settled({ dataDir, interrupted }: StartOptions, timeoutMs: number): Promise<FoundDaemon> {
  return waitForDaemon(dataDir, ({ state }) => state === 'running' || state === 'stopped', {
    timeoutMs,
    interrupted,
  });
}

/** It may still end at its next look, so it does not count as started; and it is left alone, because it may go on. */
function notChecked({ pid, url }: DaemonIdentity, timeoutMs: number): Failure {
  return new Failure(
    'start-failed',
    `The daemon (pid ${pid}) answers at ${url}, but has not checked its files after ${timeoutMs / 1000} s.`,
    'See which disk or file does not answer: svc doctor, svc monitor logs. Then: svc monitor status',
  );
}

function startFailed(
  path: string,
  { ending, timeoutMs }: { ending: string | undefined; timeoutMs: number },
  lines: readonly string[],
): Failure {
  const what =
    ending === undefined
      ? `The daemon does not answer after ${timeoutMs / 1000} s.`
      : `The daemon did not start (${ending}).`;
  const shown = lines.length === 0 ? '' : ` Its output:\n${lines.map((line) => `  ${line}`).join('\n')}`;
  return new Failure(
    'start-failed',
    what + shown,
    ending === undefined ? 'See what it is doing: svc monitor logs --follow' : `The whole log: ${path}`,
  );
}

// Stops the daemon: signals the process that was proved to be the daemon, and waits until the data root is free. A pid
// that is only recorded in a file is never signalled.

const STOP_MS = 15_000;
const PROOF_WITHIN_MS = 3_000;

export type StopOptions = {
  dataDir: string;
  signal: (pid: number, name: NodeJS.Signals) => void;
  interrupted: AbortSignal;
  timeoutMs?: number;
};

/** The pid of the daemon that was stopped, or undefined if none was running. */
export async function stopDaemon(options: StopOptions): Promise<number | undefined> {
  const { dataDir, interrupted, timeoutMs = STOP_MS } = options;
  const found = await waitForDaemon(
    dataDir,
    ({ state }) => state === 'running' || state === 'stopped' || state === 'stopping',
    { timeoutMs: PROOF_WITHIN_MS, interrupted },
  );
  if (found.state === 'stopped') return undefined;
  if (found.state === 'starting' || found.state === 'not-answering') throw notAnswering(found, dataDir);
  const { pid } = found.state === 'running' ? found.daemon : found.record;
  if (found.state === 'running') ask(pid, options.signal);
  // A service manager may have started the next one before we check.
  const isGone = (now: FoundDaemon) =>
    now.state === 'stopped' || (now.state === 'running' && now.daemon.pid !== pid);
  if (isGone(await waitForDaemon(dataDir, isGone, { timeoutMs, interrupted }))) return pid;
  throw new Failure(
    'stop-failed',
    `The daemon (pid ${pid}) did not stop within ${timeoutMs / 1000} s.`,
    `Kill it; nothing that was acknowledged is lost: kill -9 ${pid}`,
  );
}

function ask(pid: number, signal: StopOptions['signal']): void {
  if (!isPid(pid))
    throw new Failure(
      'stop-failed',
      'The daemon is process 1, the first one of its system.',
      'Stop it from outside, for instance by stopping its container.',
    );
  try {
    signal(pid, 'SIGTERM');
  } catch (error) {
    if (systemErrorCode(error) === 'ESRCH') return;
    throw new Failure(
      'stop-failed',
      `The daemon (pid ${pid}) cannot be signalled: ${(error as Error).message}.`,
    );
  }
}

// Rebuilds the index while no daemon is running: holds the data root's lock for that time.

export async function reindexAlone(
  machine: Machine,
  now: () => Date,
  { acceptMissing }: { acceptMissing: boolean },
): Promise<{ lines: number; seconds: number }> {
  refuseNewerData(machine.dataDir);
  const instance = claimInstance(machine.dataDir);
  if (instance === undefined) {
    throw new Failure(
      'not-answering',
      'A daemon holds the data folder but does not answer.',
      'See: svc monitor status',
    );
  }
  const started = performance.now();
  const log = openEventLog({
    eventsFolder: machine.eventsDir,
    databaseFile: machine.databaseFile,
    clock: { now: () => now().getTime() },
    host: await identifyHost(machine.dataDir),
    newId: () => crypto.randomUUID(),
  });
  try {
    await log.reindex({ acceptMissing });
    return { lines: log.lastSeq(), seconds: Math.round((performance.now() - started) / 100) / 10 };
  } finally {
    await log.close();
    instance.withdraw();
  }
}
