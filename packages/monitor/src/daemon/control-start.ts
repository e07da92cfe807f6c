// Starts the daemon in the background: a process of its own session, its output in the log file, and this
// call returns when it answers. Where one runs already, or another caller's comes up first, that one it is.
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { DaemonIdentity, Environment } from '@svc/core';
import { Failure } from '../errors.ts';
import { notAnswering } from './control-not-answering.ts';
import { usable } from './instance.ts';
import { logFileOf, openToAppend } from './log-file.ts';
import { linesBehind } from './log-file-tail.ts';
import { type FoundDaemon, waitForDaemon } from './status.ts';

const PATIENCE_MS = 20_000;
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
  /** Says that it takes long. */
  onWaiting: () => void;
  interrupted: AbortSignal;
};

export type Started = { daemon: DaemonIdentity; wasRunning: boolean };

export async function startDaemon(options: StartOptions): Promise<Started> {
  const waiting = setTimeout(options.onWaiting, SAY_SO_AFTER_MS);
  try {
    // One that is coming or going decides first whether there is anything to start.
    const found = await settled(options, PATIENCE_MS);
    if (found.state === 'running') return { daemon: found.daemon, wasRunning: true };
    if (found.state !== 'stopped') throw notAnswering(found, options.dataDir);
    return await launch(options);
  } finally {
    clearTimeout(waiting);
  }
}

async function launch(options: StartOptions): Promise<Started> {
  const { dataDir, program, folder, interrupted } = options;
  const path = logFileOf(dataDir);
  const environment = await options.environment();
  const log = usable(dataDir, () => openToAppend(path));
  try {
    const [command, ...words] = [...program, 'monitor', 'run', '--log-file', path];
    const child = spawn(command, words, {
      cwd: folder,
      env: environment,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    let ending: string | undefined;
    child.on('error', (error) => (ending = error.message));
    child.on('exit', (code, signal) => (ending = signal ?? `exit code ${code}`));
    child.unref();
    const found = await waitForDaemon(dataDir, ({ state }) => state === 'running' || ending !== undefined, {
      patienceMs: PATIENCE_MS,
      interrupted,
    });
    // Where our process has ended because another was first, that other one may need a moment more.
    const last = found.state === 'running' ? found : await settled(options, SUCCESSOR_WITHIN_MS);
    if (last.state === 'running') return { daemon: last.daemon, wasRunning: last.daemon.pid !== child.pid };
    throw startFailed(path, ending, linesBehind(log.fd, log.size, SHOWN_LINES));
  } finally {
    closeSync(log.fd);
  }
}

function settled({ dataDir, interrupted }: StartOptions, patienceMs: number): Promise<FoundDaemon> {
  return waitForDaemon(dataDir, ({ state }) => state === 'running' || state === 'stopped', {
    patienceMs,
    interrupted,
  });
}

function startFailed(path: string, ending: string | undefined, lines: readonly string[]): Failure {
  const what =
    ending === undefined
      ? `The daemon does not answer after ${PATIENCE_MS / 1000} s.`
      : `The daemon did not start (${ending}).`;
  const shown = lines.length === 0 ? '' : ` It said:\n${lines.map((line) => `  ${line}`).join('\n')}`;
  return new Failure(
    'start-failed',
    what + shown,
    ending === undefined ? 'See what it does: svc monitor logs --follow' : `The whole log: ${path}`,
  );
}
