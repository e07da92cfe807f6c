// Measures whether work grows linearly or quadratically with the length of its input. It compares two sums of this
// thread's CPU time, so a slow or busy machine makes no difference.
const PIECES = 16;
const ENOUGH_MICROSECONDS = 30_000;

/**
 * How much longer one input takes than the same amount in sixteen short ones: about 1 if the cost is linear, 16 if it is
 * quadratic. `growthOfCost((length) => find('a'.repeat(length)), 16_000)`
 */
export function growthOfCost(work: (length: number) => void, length: number): number {
  let short = 0;
  let long = 0;
  while (short + long < ENOUGH_MICROSECONDS) {
    short += cost(() => {
      for (let piece = 0; piece < PIECES; piece += 1) work(length / PIECES);
    });
    long += cost(() => work(length));
  }
  return long / Math.max(short, 1);
}

function cost(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}
