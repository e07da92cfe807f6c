// The time of lines and this machine's clock. While a daemon runs, `ts` never goes back: after the clock was set back,
// new lines get the time of the newest line until the clock has caught up. A restart uses the clock again, so a clock
// that was ahead once costs a restart and no more. `seq` is the order either way.

/** A smaller difference is an ordinary clock correction or the duration of a request. */
export const CLOCK_TOLERANCE_MS = 120_000;
const MINUTE_MS = 60_000;

/** How far two clocks are apart: `0 h 5 min`. */
export function clockDistance(milliseconds: number): string {
  const minutes = Math.round(Math.abs(milliseconds) / MINUTE_MS);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The earliest time of the first line after a start: the time of the newest line, unless that is in the future. */
export function timeToStartFrom(newestLine: number, now: number): number {
  return newestLine - now > CLOCK_TOLERANCE_MS ? 0 : newestLine;
}

export type LateLines = { until: string; why: string; remedy: string };

/** The problem while lines get a time that the clock has not reached; null within the tolerance. */
export function lateLines(behindMs: number, now: number): LateLines | null {
  if (behindMs < CLOCK_TOLERANCE_MS) return null;
  const until = new Date(now + behindMs).toISOString();
  return {
    until,
    why: `this machine's clock is ${clockDistance(behindMs)} behind the newest event in the log, so new events get the time ${until} until the clock reaches it`,
    remedy:
      'Check the clock (date) and correct it if it is wrong, then run: svc monitor restart. New events then get the clock time again.',
  };
}
