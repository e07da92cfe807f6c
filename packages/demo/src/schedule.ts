// The order of the day: what happens and what is said, each with its moment after the start.
import type { Fact } from '../../testkit/src/tape/fact.ts';
import { DAY_BEGINS, DAY_ENDS, type Scene } from './scenes.ts';

export type Step = { afterMs: number } & ({ fact: Fact } | { scene: Scene });

/** `lengthMs` is how long the whole day takes. What was before the day begins is left out. */
export function scheduleOf(given: {
  facts: readonly Fact[];
  scenes: readonly Scene[];
  lengthMs: number;
}): Step[] {
  const msPerMinute = msPerMinuteOf(given.lengthMs);
  const afterMs = (minute: number): number => Math.round((minute - DAY_BEGINS) * msPerMinute);
  const facts = given.facts
    .filter(({ at }) => at > DAY_BEGINS && at <= DAY_ENDS)
    .map((fact) => ({ minute: fact.at, step: { afterMs: afterMs(fact.at), fact } }));
  const said = given.scenes.map((scene) => ({
    minute: scene.minute,
    step: { afterMs: afterMs(scene.minute), scene },
  }));
  return [...facts, ...said].toSorted((one, other) => one.minute - other.minute).map(({ step }) => step);
}

/** How long a minute of the day takes. */
export function msPerMinuteOf(lengthMs: number): number {
  return lengthMs / (DAY_ENDS - DAY_BEGINS);
}
