// A regular look at the clocks. When they disagree, or the look itself comes far too late, the machine slept
// or its clock was set: every connection from before is worth nothing.
import type { TunnelClock } from './clock.ts';

const JUMP_MS = 60_000;

/** Calls `onLook` every `everyMs`, and `onWoke` first where time has jumped. Returns the stop. */
export function watchClock(options: {
  clock: TunnelClock;
  everyMs: number;
  onLook: () => void;
  onWoke: () => void;
}): () => void {
  const { clock, everyMs, onLook, onWoke } = options;
  let wall = clock.now();
  let steady = clock.monotonic();
  let cancel = clock.after(everyMs, look);

  function look(): void {
    const wallPassed = clock.now() - wall;
    const steadyPassed = clock.monotonic() - steady;
    wall += wallPassed;
    steady += steadyPassed;
    cancel = clock.after(everyMs, look);
    if (Math.abs(wallPassed - steadyPassed) > JUMP_MS || steadyPassed - everyMs > JUMP_MS) onWoke();
    onLook();
  }

  return () => cancel();
}
