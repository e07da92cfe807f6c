// Counts what a person does: every typed line, key and click that a journey sends. And judges the figures of a journey.
import { WAIT_MS } from '../../packages/testkit/src/waiting.ts';

export type Hands = {
  /** Called by everything that acts for the person, once for each act. */
  did: (act: string) => void;
  /** The acts since that mark. */
  since: (mark: number) => readonly string[];
  mark: () => number;
};

export function createHands(): Hands {
  const acts: string[] = [];
  return {
    did: (act) => void acts.push(act),
    since: (mark) => acts.slice(mark),
    mark: () => acts.length,
  };
}

/**
 * From the end of `svc init` to an agent that works on a ticket, beside one busy process; and to answer a request. With
 * TEST_PATIENCE, for a machine that does more than that, it may take longer.
 */
export const goals = { acts: 4, seconds: (30 * WAIT_MS) / 60_000, answer: 1 } as const;

/** Prints each figure with its goal, which is the most that it may be. */
export function createFigures(of: string) {
  const missed: string[] = [];
  return {
    missed: (): readonly string[] => missed,
    judge(what: string, figure: number, goal: number, unit: string): void {
      const isReached = figure <= goal;
      const shown = Number.isInteger(figure) ? String(figure) : figure.toFixed(1);
      console.log(
        `${of}: ${what}: ${shown} ${unit} (goal at most ${goal}: ${isReached ? 'reached' : 'NOT reached'})`,
      );
      if (!isReached) missed.push(`${what}: ${shown} ${unit}, the goal is at most ${goal}`);
    },
  };
}
