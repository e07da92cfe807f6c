// How often a provider may be called: so many at once, and so long apart. Who comes too early is told when to
// come again and is not kept waiting, so that a burst costs nothing.

export type Lease = {
  /** Resolves when another call of the same lease may start, and not before `waitMs` have passed. */
  again: (waitMs: number, signal: AbortSignal) => Promise<void>;
  release: () => void;
};

export type Limiter = {
  take: () => { ok: true; lease: Lease } | { ok: false; retryAfterMs: number };
  /** The provider asked to be left alone. */
  pause: (milliseconds: number) => void;
};

export const AT_ONCE = 2;
export const APART_MS = 500;
/** Nobody can make us wait longer than that. */
const LONGEST_PAUSE_MS = 60_000;

export function createLimiter({
  now,
  sleep,
}: {
  now: () => number;
  sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}): Limiter {
  let running = 0;
  /** The earliest moment of the next start. */
  let next = Number.NEGATIVE_INFINITY;

  const lease = (): Lease => {
    let isHeld = true;
    return {
      async again(waitMs, signal) {
        // The moment is taken before the wait, so that nobody else starts in it.
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
