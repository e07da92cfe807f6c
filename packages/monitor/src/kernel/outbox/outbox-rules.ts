// Effects that must not overtake each other share an order key: they run one at a time, in the order of their lines,
// and one that is being retried holds back those behind it.
import type { Effect, EffectKinds, EffectRules, Lane } from './effect.ts';

/** `write-signal:run-1/ABC-1`; null for an effect whose order does not matter. */
export function orderKeyOf(kinds: EffectKinds, effect: Effect): string | null {
  const { orderKey } = kinds[effect.kind] as EffectRules<Effect['kind']>;
  return orderKey === undefined ? null : `${effect.kind}:${orderKey(effect)}`;
}

/** A kind that this version does not know is local: it calls nothing, and is given up at once. */
export function laneOf(kinds: EffectKinds, kind: string): Lane {
  return Object.hasOwn(kinds, kind) ? kinds[kind as Effect['kind']].lane : 'local';
}

// When the outbox retries a failed effect, and when it gives up.

const FIRST_MS = 1_000;
const LONGEST_MS = 5 * 60_000;
/** The longest wait that a service may ask for. */
const LONGEST_ASKED_MS = 60 * 60_000;
const FEWEST_ATTEMPTS = 12;
const LEAST_AGE_MS = 24 * 60 * 60_000;

/** No wait is longer: a later retry time was computed before the clock was set back. */
export const LONGEST_RETRY_WAIT_MS = LONGEST_ASKED_MS;

/**
 * The wait after the `attempts`-th failure, counted from 1; `random` is between 0 and 1. It doubles from one second to
 * five minutes, randomly reduced by up to half; at least `askedMs`, the wait that the service asked for.
 * `retryWaitMs(3, 1)` is 4000.
 */
export function retryWaitMs(attempts: number, random: number, askedMs = 0): number {
  const steady = Math.min(FIRST_MS * 2 ** Math.min(Math.max(attempts - 1, 0), 16), LONGEST_MS);
  const asked = Number.isFinite(askedMs) ? Math.min(askedMs, LONGEST_ASKED_MS) : 0;
  return Math.max(Math.round(steady * (0.5 + random / 2)), asked);
}

/** Both must be used up, the attempts and the day: a laptop that slept for a day has not tried yet. */
export function isTimeToGiveUp(row: { attempts: number; createdAt: number }, now: number): boolean {
  return row.attempts >= FEWEST_ATTEMPTS && now - row.createdAt >= LEAST_AGE_MS;
}
