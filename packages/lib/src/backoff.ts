// How long to wait before the next attempt. Randomised by half in both directions, so that a thousand machines do not
// reconnect at the same moment.
const FIRST_MS = 250;
const LONGEST_MS = 10_000;
/** A problem that only a person can fix is retried less and less often. */
export const LONGEST_AFTER_REFUSAL_MS = 300_000;
/** The longest wait that a relay may ask for. */
const LONGEST_RETRY_AFTER_MS = 120_000;

/**
 * The wait after the `attempt`-th failure in a row, counted from 0; `random` is between 0 and 1.
 * `backoffMs(0, 0.5)` is 250, `backoffMs(3, 0.5)` is 2000, and from the sixth on it is about 10,000.
 */
export function backoffMs(attempt: number, random: number, longestMs = LONGEST_MS): number {
  const steady = Math.min(FIRST_MS * 2 ** Math.min(Math.max(attempt, 0), 16), longestMs);
  return Math.round(steady * (0.5 + random));
}

/** The wait in a `Retry-After` header: seconds or a date; undefined if it has none. */
export function retryAfterMs(
  header: string | null | undefined,
  now: number,
  longestMs = LONGEST_RETRY_AFTER_MS,
): number | undefined {
  const text = header?.trim() ?? '';
  if (text === '') return undefined;
  const wait = /^\d{1,9}(?:\.\d{1,3})?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(wait) && wait > 0 ? Math.min(wait, longestMs) : undefined;
}
