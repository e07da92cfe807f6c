// How often a provider may be called: a number of calls at once, and a minimum interval. A call that comes too early is
// refused with the time to retry and does not wait, so a burst costs nothing.

export type Lease = {
  /** Resolves when another call of the same lease may start, at the earliest after `waitMs`. */
  again: (waitMs: number, signal: AbortSignal) => Promise<void>;
  release: () => void;
};

export type Limiter = {
  take: () => { ok: true; lease: Lease } | { ok: false; retryAfterMs: number };
  /** The provider asked for a pause. */
  pause: (milliseconds: number) => void;
};

export const AT_ONCE = 2;
export const APART_MS = 500;
/** Longer requested pauses are cut to this. */
const LONGEST_PAUSE_MS = 60_000;

export function createLimiter({
  now,
  sleep,
}: {
  now: () => number;
  sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}): Limiter {
  let running = 0;
  /** The earliest time of the next start. */
  let next = Number.NEGATIVE_INFINITY;

  const lease = (): Lease => {
    let isHeld = true;
    return {
      async again(waitMs, signal) {
        // The time is reserved before the wait, so no other call starts at it.
        const start = Math.max(next, now() + waitMs);
        next = start + APART_MS;
        await sleep(start - now(), signal);
      },
      release() {
        if (isHeld) running -= 1;
        isHeld = false;
      },
    };
  };

  return {
    take() {
      const wait = next - now();
      if (wait > 0) return { ok: false, retryAfterMs: wait };
      if (running >= AT_ONCE) return { ok: false, retryAfterMs: APART_MS };
      running += 1;
      next = now() + APART_MS;
      return { ok: true, lease: lease() };
    },
    pause(milliseconds) {
      next = Math.max(next, now() + Math.min(milliseconds, LONGEST_PAUSE_MS));
    },
  };
}
