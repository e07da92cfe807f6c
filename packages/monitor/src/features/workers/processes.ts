// Whether a process is the one that a signal file names. Workers write its start in different forms: a time as text,
// seconds or milliseconds since 1970, the output of `ps`, or the ticks of Linux.
import type { ProcessStart } from '@svc/lib/system';

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
