// Starts an agent so that it outlives the daemon and is never started twice. A constant shell command writes its
// own pid into a file that must not exist yet and then becomes the agent: whoever is killed at whatever moment,
// the file is there before the agent is. Output goes straight into files; the daemon holds no end of a pipe.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemErrorCode } from '../../errors.ts';
import type { ReadProcessStarts } from '../../runs/process-start.ts';
import { endGroup } from '../worktrees/process-group.ts';
import type { AgentFiles } from './agent-files.ts';
import { readPidFile } from './pid-file.ts';

const LAUNCHER = 'set -C; echo $$ > "$1" || exit 75; shift; exec "$@"';
const REFUSED = 75;
const START_PATIENCE_MS = 10_000;
const WRITE_PATIENCE_MS = 1_000;
const LOOK_MS = 5;
const GRACE_MS = 5_000;
const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

/** Unknown: nobody who could be told was there when it ended. */
type AgentEnd = { known: true; exitCode: number | null; signal: NodeJS.Signals | null } | { known: false };

export type LaunchedAgent = {
  pid: number;
  /** For `pid` and `pidStartedAt` of the signal file; null when it ended before it could be looked at. */
  startedAt: string | null;
  /** When the agent and all that it started have ended; never refused. */
  ended: Promise<AgentEnd>;
};

export type Launch =
  | { state: 'started'; agent: LaunchedAgent }
  /** The pid file of this attempt is there. `pid` is null while nothing is written in it. */
  | { state: 'already-started'; pid: number | null }
  | { state: 'failed'; problem: string };

export async function launchAgent({
  argv,
  cwd,
  environment,
  files,
  processStarts,
  start = spawn,
  graceMs = GRACE_MS,
}: {
  argv: readonly [string, ...string[]];
  cwd: string;
  environment: Readonly<Record<string, string>>;
  /** Of this attempt. */
  files: AgentFiles;
  processStarts: ReadProcessStarts;
  start?: typeof spawn;
  /** How long what the agent left behind may take to end. */
  graceMs?: number;
}): Promise<Launch> {
  const known = await readPidFile(files.pidFile);
  if (known !== null) return { state: 'already-started', pid: known.pid };
  // The system would say that the shell is missing.
  if (!(await isFolder(cwd))) return { state: 'failed', problem: `The folder ${cwd} is not there.` };
  const child = await spawnInto(files, (output, errors) =>
    start('/bin/sh', ['-c', LAUNCHER, 'svc-agent', files.pidFile, ...argv], {
      cwd,
      env: environment,
      detached: true,
      stdio: ['ignore', output, errors],
    }),
  );
  if ('problem' in child) return { state: 'failed', problem: child.problem };
  const { pid } = child;
  const ended = child.exit.then(async (end) => {
    await endGroupOf(pid, graceMs);
    return end;
  });
  const begun = await hasBegun(child, files.pidFile);
  if (begun !== 'begun') {
    await endGroupOf(pid, graceMs);
    return begun;
  }
  const found = (await processStarts([pid])).get(pid);
  const startedAt = found?.state === 'running' ? new Date(found.startedAt).toISOString() : null;
  return { state: 'started', agent: { pid, startedAt, ended } };
}

type Child = ChildProcess & { pid: number; exit: Promise<AgentEnd> };

async function spawnInto(
  files: AgentFiles,
  begin: (output: number, errors: number) => ChildProcess,
): Promise<Child | { problem: string }> {
  try {
    for (const path of [files.pidFile, files.output, files.errors])
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const output = await open(files.output, appending, 0o600);
    try {
      const errors = await open(files.errors, appending, 0o600);
      try {
        const child = begin(output.fd, errors.fd);
        // At once: an agent may have ended before anything else is done here.
        const exit = exitOf(child);
        child.unref();
        await once(child, 'spawn');
        return Object.assign(child, { pid: child.pid ?? 0, exit });
      } finally {
        await errors.close();
      }
    } finally {
      await output.close();
    }
  } catch (error) {
    if (systemErrorCode(error) === undefined || !(error instanceof Error)) throw error;
    return { problem: `The agent could not be started: ${error.message}` };
  }
}

function exitOf(child: ChildProcess): Promise<AgentEnd> {
  return new Promise((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ known: true, exitCode, signal }));
  });
}

/** What the agent left running in its group ends with it. */
async function endGroupOf(pid: number, graceMs: number): Promise<void> {
  try {
    await endGroup(pid, graceMs);
  } catch (error) {
    // Not allowed to end one of them: it took another user's rights. The agent itself has ended all the same.
    if (systemErrorCode(error) !== 'EPERM') throw error;
  }
}

/** The file has the child's own pid as soon as the shell is about to become the agent. */
async function hasBegun(
  child: Child,
  pidFile: string,
): Promise<'begun' | Exclude<Launch, { state: 'started' }>> {
  const begunAt = performance.now();
  for (;;) {
    // Before the file is read, so that a file without the pid means something when it has ended.
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    const written = await readPidFile(pidFile);
    if (written?.pid === child.pid) return 'begun';
    if (hasEnded && child.exitCode === REFUSED && written?.pid)
      return { state: 'already-started', pid: written.pid };
    // Another start may be about to write.
    const mayBeWritten = written !== null && performance.now() < begunAt + WRITE_PATIENCE_MS;
    if (hasEnded && !mayBeWritten)
      return {
        state: 'failed',
        problem: `The pid file ${pidFile} could not be written (${endText(child)}).`,
      };
    if (performance.now() > begunAt + START_PATIENCE_MS)
      return { state: 'failed', problem: `The agent did not begin within ${START_PATIENCE_MS / 1000} s.` };
    await sleep(LOOK_MS);
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return false;
  }
}

function endText({ exitCode, signalCode }: ChildProcess): string {
  return signalCode === null ? `exit code ${exitCode}` : signalCode;
}
