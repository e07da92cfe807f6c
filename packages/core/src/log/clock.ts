// The time of lines and this machine's clock. Within one run of the daemon `ts` never goes back: after the clock
// was set back, new lines carry the time of the newest line until the clock has caught up. At a start the clock is
// believed again, so that a clock that was ahead once costs a restart and no more. `seq` is the order either way.

/** Less is an ordinary correction of the clock, or the time that an answer took. */
export const CLOCK_TOLERANCE_MS = 120_000;
const MINUTE_MS = 60_000;

/** How far two clocks are apart: `0 h 5 min`. */
export function clockDistance(milliseconds: number): string {
  const minutes = Math.round(Math.abs(milliseconds) / MINUTE_MS);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The earliest time of the first line after a start: that of the newest line, unless it lies in the future. */
export function timeToStartFrom(newestLine: number, now: number): number {
  return newestLine - now > CLOCK_TOLERANCE_MS ? 0 : newestLine;
}

export type LateLines = { until: string; why: string; remedy: string };

/** What is wrong while lines carry a time that the clock has not reached; null within the tolerance. */
export function lateLines(behindMs: number, now: number): LateLines | null {
  if (behindMs < CLOCK_TOLERANCE_MS) return null;
  const until = new Date(now + behindMs).toISOString();
  return {
    until,
    why: `this machine's clock is ${clockDistance(behindMs)} behind the newest line of the event log: new lines carry the time ${until} until then`,
    remedy:
      'Check the clock (date) and correct it if it is wrong. Then run: svc monitor restart. New lines get the time of the clock again.',
  };
}
