// Counts what a person does: every typed line, key and click that a journey sends. And the goals for these figures.
import { failUnless } from '../../packages/testkit/src/script.ts';

export type Hands = {
  /** Called by everything that acts for the person, once for each act. */
  did: (act: string) => void;
  /** The acts since then; without a mark, all. */
  since: (mark?: number) => readonly string[];
  mark: () => number;
};

export function createHands(): Hands {
  const acts: string[] = [];
  return {
    did: (act) => void acts.push(act),
    since: (mark = 0) => acts.slice(mark),
    mark: () => acts.length,
  };
}

/** From the end of `svc init` to an agent that works on a ticket, beside one busy process. */
export const goals = { acts: 4, seconds: 30, answer: 1 } as const;

/** Prints a figure with its goal; the script fails if it is above it. */
export function judgeFigure(journey: string, what: string, figure: number, goal: number, unit: string): void {
  const isReached = figure <= goal;
  const shown = Number.isInteger(figure) ? String(figure) : figure.toFixed(1);
  console.log(
    `${journey}: ${what}: ${shown} ${unit} (goal at most ${goal}: ${isReached ? 'reached' : 'NOT reached'})`,
  );
  failUnless(isReached);
}
