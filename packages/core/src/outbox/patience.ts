// How patient the outbox is with an effect that fails: when to try again, and when to give up.
const FIRST_MS = 1_000;
const LONGEST_MS = 5 * 60_000;
/** A service may ask for patience, but not for more than this. */
const LONGEST_ASKED_MS = 60 * 60_000;
const FEWEST_ATTEMPTS = 12;
const SHORTEST_PATIENCE_MS = 24 * 60 * 60_000;

/** No wait is longer: a moment further ahead was written by a clock that has since been set back. */
export const LONGEST_RETRY_WAIT_MS = LONGEST_ASKED_MS;

/**
 * The wait after the `attempts`-th failure, counted from 1; `random` is from 0 up to 1. It doubles from a
 * second to five minutes, spread over its upper half; `askedMs` is what the service asked for.
 * `retryWaitMs(3, 1)` is 4000.
 */
export function retryWaitMs(attempts: number, random: number, askedMs = 0): number {
  const steady = Math.min(FIRST_MS * 2 ** Math.min(Math.max(attempts - 1, 0), 16), LONGEST_MS);
  const asked = Number.isFinite(askedMs) ? Math.min(askedMs, LONGEST_ASKED_MS) : 0;
  return Math.max(Math.round(steady * (0.5 + random / 2)), asked);
}

/** Both must be over, the attempts and the day: a laptop that slept for a day has not tried yet. */
export function isPatienceOver(row: { attempts: number; createdAt: number }, now: number): boolean {
  return row.attempts >= FEWEST_ATTEMPTS && now - row.createdAt >= SHORTEST_PATIENCE_MS;
}
