// When to kill: after so many acknowledged sends and some milliseconds, at random; every fifth kill, and the second one,
// hits the daemon again while it starts, in the midst of its recovery. A kill leaves whole lines, because a write
// is one system call; a power cut does not, so every third kill of a running daemon also leaves half a line behind,
// unless the power is really cut (power-cut.ts).
import type { Random } from '../packages/testkit/src/random.ts';

export type Kill =
  | { whileStarting: true }
  /** `tears`: half a line is left behind. */
  | { whileStarting: false; afterSends: number; delayMs: number; tears: boolean };

export function killPlan(kills: number, sends: number, random: Random): Kill[] {
  const moments = Array.from({ length: kills }, () => random.below(Math.floor(sends * 0.9)));
  moments.sort((left, right) => left - right);
  return moments.map((afterSends, index) =>
    index % 5 === 1
      ? { whileStarting: true }
      : { whileStarting: false, afterSends, delayMs: random.below(30), tears: index % 3 === 0 },
  );
}
