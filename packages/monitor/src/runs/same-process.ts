// Whether a process is the one that a signal file names. Workers write its start as they know it: a time as text,
// seconds or milliseconds since 1970, what `ps` prints, or the ticks of /proc.
import type { ProcessStart } from './process-start.ts';

const TOLERANCE_MS = 2_000;
/** 1973 in milliseconds and the year 5138 in seconds: a number below is seconds. */
const LEAST_MILLISECONDS = 1e11;
/** 2001 in seconds; a number below is no time of a running process. */
const LEAST_SECONDS = 1e9;

/** Null when the file does not say when the process started, or not so that it could be compared. */
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

/** Milliseconds since 1970. A text without a zone is local time for some writers and UTC for others. */
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
