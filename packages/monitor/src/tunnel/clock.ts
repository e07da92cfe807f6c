// The tunnel's clocks: the wall for what is shown, the monotonic one for patience, and timers. A machine that
// sleeps makes the two clocks disagree, and that is how the tunnel knows.
export type TunnelClock = {
  now: () => number;
  monotonic: () => number;
  /** Calls back once; the answer cancels it. */
  after: (milliseconds: number, call: () => void) => () => void;
};

export const systemClock: TunnelClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(milliseconds, call) {
    const timer = setTimeout(call, milliseconds).unref();
    return () => clearTimeout(timer);
  },
};
