// Starts an agent so that it outlives the daemon and is never started twice. A constant shell command writes its own pid
// into a file that must not exist yet, and then becomes the agent: whatever is killed and whenever, the file exists before
// the agent does. Output goes directly into files; the daemon holds no end of a pipe.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { safeSegment } from '@svc/contract/signal-file';
import { endGroup } from '@svc/lib/end-group';
import { systemErrorCode } from '@svc/lib/errors';
import { ifAllowed } from '@svc/lib/files';
import { isFolder, openFile } from '@svc/lib/paths';
import { readPid } from '@svc/lib/pid';
import type { RunCommand } from '@svc/lib/process';
import type { ProcessStart, ReadProcessStarts } from '@svc/lib/system';
import { Failure } from '../../../kernel/failure.ts';
import { isSameProcess } from '../../workers/processes.ts';
import { errorTail, inOneLine } from '../agent-output.ts';
import type { AttachedImage } from '../schemas.ts';

// A pid file is written once, by the shell that then becomes the agent. Its time proves which process the pid means.

const MOST_BYTES = 32;
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** The shell writes right after its start; a busy machine may delay it. */
const LONGEST_START_MS = 60_000;
/** Start times of processes are exact to about a second. */
const TOLERANCE_MS = 2_000;

/** `pid` is null while nothing is written: the start is in progress, or was interrupted. */
export type PidFile = { pid: number | null; writtenAt: number };

/** Null when it does not exist, or is not a pid file. */
export async function readPidFile(path: string): Promise<PidFile | null> {
  const handle = await ifAllowed(openFile(path, { flags: flags }));
  if (handle === undefined) return null;
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) return null;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
    const text = buffer.toString('latin1', 0, bytesRead);
    // Without the end of its line it is not written yet.
    const pid = text.endsWith('\n') ? readPid(text) : undefined;
    return { pid: pid ?? null, writtenAt: stats.mtimeMs };
  } finally {
    await handle.close();
  }
}

/**
 * Whether the running process is the one that wrote the file. A process that got the pid later started after the file was
 * written; a process that ran then and still runs is the writer.
 */
export function wrotePidFile(
  start: Extract<ProcessStart, { state: 'running' }>,
  { writtenAt }: PidFile,
): boolean {
  const before = writtenAt - start.startedAt;
  return before >= -TOLERANCE_MS && before <= LONGEST_START_MS;
}

// The files of an agent: `<runs folder>/<orchestrator>/workers/{output,pids}/`. Every attempt of a command line appends to
// the same output. Each attempt has its own pid file, and there is never a second one for the same attempt; an agent that
// svc talks to also has its own record, journal and file of sent messages per attempt.

export type AgentFiles = {
  pidFile: string;
  /** The stream of JSON lines. */
  output: string;
  errors: string;
  /** How the attempt was started (AgentRecord). */
  record: string;
  /** Everything that svc sends to the agent, and everything that the agent writes. */
  sent: string;
  journal: string;
  /** The text of the ticket, for a command line. */
  ticket: string;
};

const pidFileName = /^(.{1,120})\.(\d{1,6})\.pid$/;

export function pidFolder(runsDir: string, orchestrator: string): string {
  return join(runsDir, orchestrator, 'workers', 'pids');
}

/** `attempt` counts every launch of the ticket in this run, from 1, including those after a person's retry. */
export function agentFiles(
  runsDir: string,
  { orchestrator, ticket, attempt }: { orchestrator: string; ticket: string; attempt: number },
): AgentFiles {
  if (!safeSegment(orchestrator) || !safeSegment(ticket) || !Number.isInteger(attempt) || attempt < 1)
    throw new Failure('usage', `"${orchestrator}/${ticket}" (${attempt}) is not a valid agent name.`);
  const output = join(runsDir, orchestrator, 'workers', 'output');
  return {
    pidFile: join(pidFolder(runsDir, orchestrator), `${ticket}.${attempt}.pid`),
    output: join(output, `${ticket}-stream.jsonl`),
    errors: join(output, `${ticket}-stderr.log`),
    record: join(output, `${ticket}.${attempt}.agent.json`),
    sent: join(output, `${ticket}.${attempt}.sent.jsonl`),
    journal: join(output, `${ticket}.${attempt}.journal.jsonl`),
    ticket: join(output, `${ticket}.${attempt}.ticket.md`),
  };
}

/** An image of a message, named by its content. `svc retention` knows it by its name, as it does the journals. */
export function imageFile(
  runsDir: string,
  worker: { orchestrator: string; ticket: string },
  { sha256, type }: AttachedImage,
): string {
  const { journal } = agentFiles(runsDir, { ...worker, attempt: 1 });
  return join(dirname(journal), `${worker.ticket}.${sha256}.${type.slice('image/'.length)}`);
}

/** The ticket and attempt in the name of a pid file; undefined for any other file. */
export function readPidFileName(name: string): { ticket: string; attempt: number } | undefined {
  const [, ticket, attempt] = pidFileName.exec(name) ?? [];
  if (ticket === undefined || attempt === undefined || !safeSegment(ticket)) return undefined;
  return { ticket, attempt: Number(attempt) };
}

// Ends an agent and everything it started: first with a request, then by force. Only a process that is proven to be the
// agent is touched: the pid alone may have been reused.

const END_GRACE_MS = 5_000;

export type EndedAgent =
  | 'ended'
  /** It had ended already. */
  | 'gone'
  /** Another process has the pid, or its owner cannot be determined: nothing was touched. */
  | 'not-ours'
  /** It was killed by force and still exists. */
  | 'still-there';

/** `startedAt` from the launch, `findAgents` or the signal file. */
export async function endAgent({
  pid,
  startedAt,
  processStarts,
  graceMs = END_GRACE_MS,
}: {
  pid: number;
  startedAt: string | number;
  processStarts: ReadProcessStarts;
  graceMs?: number;
}): Promise<EndedAgent> {
  const check = async (): Promise<'ours' | 'gone' | 'not-ours'> => {
    const start = (await processStarts([pid])).get(pid);
    if (start === undefined || start.state === 'gone') return 'gone';
    return start.state === 'running' && isSameProcess(start, startedAt) === true ? 'ours' : 'not-ours';
  };
  const found = await check();
  if (found !== 'ours') return found;
  await endGroup(pid, graceMs);
  return (await check()) === 'ours' ? 'still-there' : 'ended';
}

const LAUNCHER = 'set -C; echo $$ > "$1" || exit 75; shift; exec "$@"';
/**
 * For an agent that svc talks to: `tail` copies the file of sent messages to its standard input, from the first line on.
 * It is in the agent's group and outlives the daemon. When it is gone, nothing reaches the agent, so the group ends. The
 * agent's own PATH may not have these programs.
 */
const FED_LAUNCHER =
  'set -C; echo $$ > "$1" || exit 75; fifo="$1.in"; sent=$2; shift 2; path=$PATH; PATH=/usr/bin:/bin; mkfifo -m 600 "$fifo" || exit 1; (tail -n +1 -f "$sent" > "$fifo"; trap "" TERM; kill 0; sleep 5; kill -9 0) & exec < "$fifo"; rm -f "$fifo"; PATH=$path; exec "$@"';
const REFUSED = 75;
const START_TIMEOUT_MS = 10_000;
const WRITE_TIMEOUT_MS = 1_000;
const POLL_MS = 5;
const GRACE_MS = 5_000;
const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

/** Unknown: the daemon was not running when it ended. */
export type AgentEnd =
  | { known: true; exitCode: number | null; signal: NodeJS.Signals | null }
  | { known: false };

export type LaunchedAgent = {
  pid: number;
  /** For `pid` and `pidStartedAt` of the signal file; null when it ended before it could be read. */
  startedAt: string | null;
  /** Resolves when the agent and everything it started have ended; never rejects. */
  ended: Promise<AgentEnd>;
};

export type Launch =
  | { state: 'started'; agent: LaunchedAgent }
  /** The pid file of this attempt exists. `pid` is null while nothing is written in it. */
  | { state: 'already-started'; pid: number | null }
  | { state: 'failed'; problem: string };

export async function launchAgent({
  argv,
  cwd,
  environment,
  files,
  isTalkedTo = false,
  processStarts,
  start = spawn,
  graceMs = GRACE_MS,
}: {
  argv: readonly [string, ...string[]];
  cwd: string;
  environment: Readonly<Record<string, string>>;
  files: Omit<AgentFiles, 'record' | 'ticket'>;
  /** Its standard input is the file of sent messages, and its output goes to its own journal. */
  isTalkedTo?: boolean;
  processStarts: ReadProcessStarts;
  start?: typeof spawn;
  /** How long the processes that the agent left running may take to end. */
  graceMs?: number;
}): Promise<Launch> {
  const known = await readPidFile(files.pidFile);
  if (known !== null) return { state: 'already-started', pid: known.pid };
  // Without this check the system would report that the shell is missing.
  if (!(await isFolder(cwd))) return { state: 'failed', problem: `The folder ${cwd} does not exist.` };
  const launcher = isTalkedTo
    ? [FED_LAUNCHER, 'svc-agent', files.pidFile, files.sent]
    : [LAUNCHER, 'svc-agent', files.pidFile];
  const child = await spawnInto(
    { ...files, ...(isTalkedTo && { output: files.journal }) },
    (output, errors) =>
      start('/bin/sh', ['-c', ...launcher, ...argv], {
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
  const started = await hasStarted(child, files.pidFile);
  if (started !== 'started') {
    await endGroupOf(pid, graceMs);
    return started;
  }
  const found = (await processStarts([pid])).get(pid);
  const startedAt = found?.state === 'running' ? new Date(found.startedAt).toISOString() : null;
  return { state: 'started', agent: { pid, startedAt, ended } };
}

type Child = ChildProcess & { pid: number; exit: Promise<AgentEnd> };

async function spawnInto(
  files: Omit<AgentFiles, 'record' | 'ticket'>,
  begin: (output: number, errors: number) => ChildProcess,
): Promise<Child | { problem: string }> {
  try {
    for (const path of [files.pidFile, files.output, files.errors])
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const output = await openFile(files.output, { flags: appending, mode: 0o600 });
    try {
      const errors = await openFile(files.errors, { flags: appending, mode: 0o600 });
      try {
        const child = begin(output.fd, errors.fd);
        // Immediately: the agent may end before anything else happens here.
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

/** Processes that the agent left running in its group end with it. */
async function endGroupOf(pid: number, graceMs: number): Promise<void> {
  try {
    await endGroup(pid, graceMs);
  } catch (error) {
    // Not permitted to end one of them: it changed to another user. The agent itself has ended.
    if (systemErrorCode(error) !== 'EPERM') throw error;
  }
}

/** The file has the child's own pid as soon as the shell is about to become the agent. */
async function hasStarted(
  child: Child,
  pidFile: string,
): Promise<'started' | Exclude<Launch, { state: 'started' }>> {
  const startedWaiting = performance.now();
  for (;;) {
    // Before the file is read, so a file without the pid is conclusive if the process has ended.
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    const written = await readPidFile(pidFile);
    if (written?.pid === child.pid) return 'started';
    if (hasEnded && child.exitCode === REFUSED && written?.pid)
      return { state: 'already-started', pid: written.pid };
    // Another start may be about to write.
    const mayBeWritten = written !== null && performance.now() < startedWaiting + WRITE_TIMEOUT_MS;
    if (hasEnded && !mayBeWritten)
      return {
        state: 'failed',
        problem: `The pid file ${pidFile} could not be written (${endText(child)}).`,
      };
    if (performance.now() > startedWaiting + START_TIMEOUT_MS)
      return { state: 'failed', problem: `The agent did not start within ${START_TIMEOUT_MS / 1000} s.` };
    await sleep(POLL_MS);
  }
}

function endText({ exitCode, signalCode }: ChildProcess): string {
  return signalCode === null ? `exit code ${exitCode}` : signalCode;
}

// Checks whether an agent's program can be started, before anything is created for it, with the shell and environment
// that would start the agent.

const ASK = 'cd "$1" || exit 1; exec "$2" --version';
const TIMEOUT_MS = 30_000;
const MOST_ANSWER_BYTES = 1024 * 1024;
const remedy =
  "Install it, or set svc.orchestration.agent to another program, with its full path if it is not in the daemon's PATH. After changing PATH: svc monitor restart";

/** Exit codes of a shell whose program is missing or cannot be executed. */
export function cannotStart(exitCode: number | null): boolean {
  return exitCode === 126 || exitCode === 127;
}

/** Any other exit code is fine: not every program knows `--version`. */
export async function checkProgram({
  template,
  folder,
  environment,
  run,
}: {
  template: readonly string[];
  /** The project's folder: a relative program path is relative to it, as it is to a worktree. */
  folder: string;
  environment: Readonly<Record<string, string>>;
  run: RunCommand;
}): Promise<void> {
  const [program = ''] = template;
  // Known only when there is a worktree.
  if (program === '' || program.includes('${')) return;
  const end = await run({
    file: '/bin/sh',
    args: ['-c', ASK, 'svc-agent', folder, program],
    environment,
    timeoutMs: TIMEOUT_MS,
    maxBytes: MOST_ANSWER_BYTES,
  });
  if (end.ended === 'too-large' || (end.ended === 'exit' && !cannotStart(end.exitCode))) return;
  throw new Failure(
    'start-failed',
    `The agent program ${JSON.stringify(program.slice(0, 200))} cannot be used: ${problemOf(end)}.`,
    remedy,
  );
}

function problemOf(end: Awaited<ReturnType<RunCommand>>): string {
  if (end.ended === 'timeout') return `it did not answer --version within ${TIMEOUT_MS / 1000} s`;
  if (end.ended === 'not-started') return `the shell that starts it is missing (${end.reason})`;
  if (end.ended !== 'exit') return 'a signal ended it while it ran --version';
  const output = inOneLine(errorTail(end.stderr));
  const what = end.exitCode === 127 ? 'it was not found' : 'it cannot be executed';
  return output === '' ? what : `${what} (${output})`;
}
