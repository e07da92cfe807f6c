// The clocks and timers that parts get passed, so that a test can move time.

export type Clock = {
  /** Milliseconds since 1970, by the wall clock: it can be set, and goes on while the machine sleeps. */
  now: () => number;
  /** Milliseconds since some moment: it is never set, and may stand still while the machine sleeps. */
  monotonic: () => number;
  /** Calls back once; the answer cancels it. */
  after: (milliseconds: number, call: () => void) => () => void;
};

/** What only asks for the time. */
export type WallClock = Pick<Clock, 'now'>;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(milliseconds, call) {
    const timer = setTimeout(call, milliseconds).unref();
    return () => clearTimeout(timer);
  },
};
