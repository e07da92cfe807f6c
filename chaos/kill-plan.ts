// When to kill: after so many acknowledged sends and some milliseconds, at random; every fifth kill hits
// the daemon again while it starts, in the midst of its recovery. A kill leaves whole lines, because a write
// is one system call; a power cut does not, so every third kill of a running daemon also leaves half a line behind.
import type { Random } from '../packages/testkit/src/random.ts';

export type Kill = { afterSends: number; delayMs: number; whileStarting: boolean; tears: boolean };

export function killPlan(kills: number, sends: number, random: Random): Kill[] {
  const plan = Array.from({ length: kills }, (_, index): Kill => {
    const whileStarting = index > 0 && random.chance(0.2);
    const afterSends = random.below(Math.floor(sends * 0.95));
    return {
      afterSends,
      delayMs: random.below(30),
      whileStarting,
      tears: random.chance(1 / 3) && !whileStarting,
    };
  });
  const moments = plan.map(({ afterSends }) => afterSends).toSorted((left, right) => left - right);
  return plan.map((kill, index) => ({
    ...kill,
    afterSends: moments[index] ?? 0,
    delayMs: kill.whileStarting ? 20 + random.below(300) : kill.delayMs,
  }));
}
