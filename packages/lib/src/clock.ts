// The clocks and timers that modules receive as arguments, so that a test can move time.

export type Clock = {
  /** Milliseconds since 1970, by the wall clock: it can be set, and continues while the machine sleeps. */
  now: () => number;
  /** Milliseconds since an arbitrary time: it is never set, and may stop while the machine sleeps. */
  monotonic: () => number;
  /** Calls back once; the returned function cancels it. */
  after: (milliseconds: number, call: () => void) => () => void;
};

/** For code that only needs the time. */
export type WallClock = Pick<Clock, 'now'>;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(milliseconds, call) {
    const timer = setTimeout(call, milliseconds).unref();
    return () => clearTimeout(timer);
  },
};
