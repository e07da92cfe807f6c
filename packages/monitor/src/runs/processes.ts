// When processes started, so a pid that was reused is not mistaken for the original process.

import { readFile } from 'node:fs/promises';
import { systemErrorCode } from '@svc/lib/errors';
import { runCommand } from '@svc/lib/process';

/** The unit of start times in /proc; the kernel reports 100 per second to programs. */
const TICKS_PER_SECOND = 100;
const PS_TIMEOUT_MS = 5_000;
const PS_MAX_BYTES = 1024 * 1024;

export type ProcessStart =
  /** `mark` stays the same for the same process, even when the clock is set. */
  | { state: 'running'; startedAt: number; mark: string }
  | { state: 'gone' }
  | { state: 'unknown'; problem: string };

export type ReadProcessStarts = (pids: readonly number[]) => Promise<Map<number, ProcessStart>>;

/** The method for this system. */
export function processStartsOf(platform: NodeJS.Platform): ReadProcessStarts {
  return platform === 'linux' ? startsFromProc : startsFromPs;
}

export const startsFromProc: ReadProcessStarts = async (pids) => {
  const bootedAt = await bootTime();
  const starts = await Promise.all(
    pids.map(async (pid) => [pid, await startFromProc(pid, bootedAt)] as const),
  );
  return new Map(starts);
};

async function bootTime(): Promise<number> {
  const found = /^btime (\d+)$/m.exec(await readFile('/proc/stat', 'utf8'))?.[1];
  if (found === undefined) throw new Error('/proc/stat does not contain the boot time.');
  return Number(found) * 1000;
}

async function startFromProc(pid: number, bootedAt: number): Promise<ProcessStart> {
  let text: string;
  try {
    text = await readFile(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    if (code !== 'ENOENT' && code !== 'ESRCH') return { state: 'unknown', problem: code };
    // The system may hide the processes of other users.
    return exists(pid) ? { state: 'unknown', problem: 'hidden' } : { state: 'gone' };
  }
  // The program's name is in parentheses and may itself contain spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  const ticks = Number(fields[19]);
  if (state === undefined || !Number.isSafeInteger(ticks))
    return { state: 'unknown', problem: `/proc/${pid}/stat has an unknown format` };
  // A zombie: ended, and waiting for its parent to collect it.
  if (state === 'Z' || state === 'X') return { state: 'gone' };
  return { state: 'running', startedAt: bootedAt + (ticks * 1000) / TICKS_PER_SECOND, mark: String(ticks) };
}

export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemErrorCode(error) !== 'ESRCH';
  }
}

/** One call for all: `ps` returns times in whole seconds. */
export const startsFromPs: ReadProcessStarts = async (pids) => {
  const starts = new Map<number, ProcessStart>(pids.map((pid) => [pid, { state: 'gone' }]));
  if (pids.length === 0) return starts;
  const args = ['-o', 'pid=', '-o', 'stat=', '-o', 'lstart=', '-p', pids.join(',')];
  for (const line of (await psOutput(args)).split('\n')) {
    const [, pid, state, time = ''] = /^\s*(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line) ?? [];
    if (pid === undefined || state?.startsWith('Z')) continue;
    const startedAt = Date.parse(`${time} UTC`);
    starts.set(
      Number(pid),
      Number.isNaN(startedAt)
        ? { state: 'unknown', problem: 'ps returned no time' }
        : { state: 'running', startedAt, mark: time },
    );
  }
  return starts;
};

async function psOutput(args: string[]): Promise<string> {
  const end = await runCommand({
    file: '/bin/ps',
    args,
    environment: { LC_ALL: 'C', TZ: 'UTC' },
    timeoutMs: PS_TIMEOUT_MS,
    maxBytes: PS_MAX_BYTES,
  });
  // Exit code 1 means that none of the processes exists.
  if (end.ended === 'exit' && end.exitCode <= 1) return end.stdout;
  throw new Error(`ps did not answer (${end.ended === 'exit' ? end.exitCode : end.ended})`);
}

// Whether a process is the one that a signal file names. Workers write its start in different forms: a time as text,
// seconds or milliseconds since 1970, the output of `ps`, or the ticks of /proc.

const TOLERANCE_MS = 2_000;
/** 1973 in milliseconds and the year 5138 in seconds: a smaller number is seconds. */
const LEAST_MILLISECONDS = 1e11;
/** 2001 in seconds; a smaller number is not the time of a running process. */
const LEAST_SECONDS = 1e9;

/** Null when the file has no start time for the process, or one that cannot be compared. */
export function isSameProcess(
  running: Extract<ProcessStart, { state: 'running' }>,
  pidStartedAt: string | number | null | undefined,
): boolean | null {
  if (pidStartedAt === null || pidStartedAt === undefined) return null;
  if (String(pidStartedAt).trim() === running.mark) return true;
  const times = startTimes(pidStartedAt);
  if (times.length === 0) return null;
  return times.some((time) => Math.abs(time - running.startedAt) <= TOLERANCE_MS);
}

const zone = /(Z|UTC|GMT|[+-]\d\d:?\d\d)$/i;

/** Milliseconds since 1970. Text without a zone is local time for some writers and UTC for others. */
function startTimes(value: string | number): number[] {
  const number =
    typeof value === 'number' ? value : /^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : null;
  if (number !== null) {
    if (number >= LEAST_MILLISECONDS) return [number];
    return number >= LEAST_SECONDS ? [number * 1000] : [];
  }
  const text = String(value).slice(0, 100);
  const readings = zone.test(text) ? [text] : [text, `${text} UTC`, `${text}Z`];
  return readings.map((reading) => Date.parse(reading)).filter((time) => !Number.isNaN(time));
}
