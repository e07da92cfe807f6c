// The driver of every chaos script: a load, what disturbs it meanwhile, the verdict, and damage that the verdict has to
// notice.
import { describeMachine, failUnless, judgeSabotage, printProblems } from '../packages/testkit/src/script.ts';

/** Without a problem the promise is kept. */
export type Verdict = { figures: readonly string[]; problems: readonly string[] };
/** What was damaged, what the verdict finds then, and what it has to find. */
export type Damage = readonly [what: string, found: string | readonly string[], wanted: RegExp];

type Scenario = {
  /** Printed first. */
  title: string;
  /** Closed however it ends; folders and processes end with the script anyway. */
  world?: { close: () => unknown };
  load: () => unknown;
  /** While the load runs. */
  disturb?: () => unknown;
  /** `seconds`: how long the load took. */
  verdict: (seconds: number) => Verdict | Promise<Verdict>;
  /** Damages what is left, one thing after the other. */
  sabotage?: (() => Iterable<Damage> | AsyncIterable<Damage>) | false;
  /** The load itself is sabotaged: a problem of the verdict has to say so. */
  broken?: { what: string; wanted: RegExp } | false;
  /** Stops what ran until now; it has to end with 0. */
  stop?: () => Promise<number | string>;
};

const MOST_PROBLEMS = 100;

export async function scenario(given: Scenario): Promise<void> {
  const { title, world, load, disturb, verdict, sabotage, broken, stop } = given;
  console.log(`${describeMachine()}\n${title}`);
  try {
    const started = performance.now();
    await Promise.all([load(), disturb?.()]);
    const { figures, problems } = await verdict((performance.now() - started) / 1000);
    for (const figure of figures) console.log(figure);
    if (broken) return judge([broken.what, problems, broken.wanted]);
    printProblems(problems, MOST_PROBLEMS);
    failUnless(problems.length === 0);
    for await (const damage of sabotage ? sabotage() : []) judge(damage);
    const ending = (await stop?.()) ?? 0;
    if (ending !== 0) console.log(`the daemon stopped with ${ending}`);
    failUnless(ending === 0);
  } finally {
    await world?.close();
  }
}

function judge([what, found, wanted]: Damage): void {
  const lines = [found].flat();
  const noticed = lines.find((line) => wanted.test(line));
  judgeSabotage(what, noticed ?? lines[0] ?? 'nothing', noticed !== undefined);
}

/** A condition as a part of the problems. */
export function unless(isGood: boolean, problem: string): string[] {
  return isGood ? [] : [problem];
}
