// How long to wait before the next attempt. Spread by half in both directions, so that a thousand machines
// do not come back at the same moment.
const FIRST_MS = 250;
const LONGEST_MS = 10_000;
/** What only a person can mend is asked for less and less often. */
export const LONGEST_AFTER_REFUSAL_MS = 300_000;
/** A relay may ask for patience, but not for more than this. */
const LONGEST_RETRY_AFTER_MS = 120_000;

/**
 * The wait after the `attempt`-th failure in a row, counted from 0; `random` is from 0 up to 1.
 * `backoffMs(0, 0.5)` is 250, `backoffMs(3, 0.5)` is 2000, and from the sixth on it is about 10,000.
 */
export function backoffMs(attempt: number, random: number, longestMs = LONGEST_MS): number {
  const steady = Math.min(FIRST_MS * 2 ** Math.min(Math.max(attempt, 0), 16), longestMs);
  return Math.round(steady * (0.5 + random));
}

/** What a `Retry-After` header asks for: seconds or a date; undefined when it asks for nothing. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (text === '') return undefined;
  const wait = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(wait) && wait > 0 ? Math.min(wait, LONGEST_RETRY_AFTER_MS) : undefined;
}
