// Whether work grows with the length of its input or with the square of it. It counts the processor's time of this
// thread and compares two sums of it: neither a slow machine nor busy processes beside this one make a difference.
const PIECES = 16;
const ENOUGH_MICROSECONDS = 30_000;

/**
 * How many times as long one input takes as the same amount in sixteen short ones: about 1 where the cost grows with
 * the length, 16 where it grows with its square. `growthOfCost((length) => find('a'.repeat(length)), 16_000)`
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
