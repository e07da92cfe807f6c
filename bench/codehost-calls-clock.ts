// A clock that jumps from one task to the next, and stops until that is done: a day passes as fast as its work can be
// done. Plans for the same time run one after the other, so each run of a simulation is the same; then the due timers,
// all at once, as in the daemon.
import { setImmediate as turn } from 'node:timers/promises';
import type { Repeat } from '@svc/lib/rounds';

type Work = () => void | Promise<void>;
type Planned = { at: number; work: Work; comesRound: boolean };

export type SimulatedClock = ReturnType<typeof createSimulatedClock>;

/** Iterations of the event loop in which readers of the log get new lines. */
const TURNS = 10;

/** `afterEach` is called when the work for one time is done, before the clock moves on. */
export function createSimulatedClock(start: number, afterEach: () => void) {
  const planned = new Set<Planned>();
  let now = start;

  function plan(one: Planned): () => void {
    planned.add(one);
    return () => void planned.delete(one);
  }

  function nextMoment(): Planned[] {
    const earliest = Math.min(...[...planned].map(({ at }) => at));
    return [...planned].filter(({ at }) => at === earliest);
  }

  const repeat: Repeat = (work, periodMs) => {
    let cancel: () => void;
    const comeRound = (at: number): void => {
      cancel = plan({
        at,
        comesRound: true,
        work() {
          comeRound(at + periodMs);
          return work();
        },
      });
    };
    comeRound(now + periodMs);
    return () => cancel();
  };

  return {
    now: () => now,
    after: (milliseconds: number, work: Work): void =>
      void plan({ at: now + milliseconds, work, comesRound: false }),
    repeat,
    /** Runs everything that is due before that time; then the clock is at that time. */
    async runUntil(time: number): Promise<void> {
      for (let due = nextMoment(); (due[0]?.at ?? time) < time; due = nextMoment()) {
        now = due[0]?.at ?? now;
        for (const one of due) planned.delete(one);
        for (const { work } of due.filter(({ comesRound }) => !comesRound)) await work();
        await Promise.all(due.filter(({ comesRound }) => comesRound).map(async ({ work }) => work()));
        for (let count = 0; count < TURNS; count += 1) await turn();
        afterEach();
      }
      now = time;
    },
  };
}
