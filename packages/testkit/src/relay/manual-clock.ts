// A clock that stops until a test moves it. Between two timers it lets the program work, so the effects of a timer have
// happened when the next one is due.
import { setImmediate as turn } from 'node:timers/promises';

type Timer = { due: number; call: () => void };

export type ManualClock = {
  now: () => number;
  monotonic: () => number;
  after: (milliseconds: number, call: () => void) => () => void;
  /** Lets time pass: every due timer is called in order. */
  advance: (milliseconds: number) => Promise<void>;
  /** The machine sleeps: the wall clock continues, timers and the steady clock do not. */
  sleep: (milliseconds: number) => void;
  /** Lets the program do everything that it can do without time passing. */
  settle: () => Promise<void>;
  timers: () => number;
};

const TURNS = 10;

export function createManualClock(start = Date.parse('2026-11-15T12:00:00Z')): ManualClock {
  const timers = new Set<Timer>();
  let steady = 0;
  let offset = start;

  async function settle(): Promise<void> {
    for (let count = 0; count < TURNS; count += 1) await turn();
  }

  function nextDue(until: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of timers)
      if (timer.due <= until && timer.due < (next?.due ?? Number.POSITIVE_INFINITY)) next = timer;
    return next;
  }

  return {
    now: () => steady + offset,
    monotonic: () => steady,
    after(milliseconds, call) {
      const timer = { due: steady + Math.max(0, milliseconds), call };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    async advance(milliseconds) {
      const until = steady + milliseconds;
      await settle();
      for (let timer = nextDue(until); timer !== undefined; timer = nextDue(until)) {
        timers.delete(timer);
        steady = timer.due;
        timer.call();
        await settle();
      }
      steady = until;
    },
    sleep(milliseconds) {
      offset += milliseconds;
    },
    settle,
    timers: () => timers.size,
  };
}
