// Measures whether work grows linearly or quadratically with the length of its input. It compares this thread's CPU time,
// so a slow or busy machine makes no difference, and takes the median of several rounds, so one pause that the system
// charges to this thread makes none either.
const PIECES = 16;
const ROUNDS = 5;
const ENOUGH_MICROSECONDS = 5_000;

/**
 * How much longer one input takes than the same amount in sixteen short ones: about 1 if the cost is linear, 16 if it is
 * quadratic. `growthOfCost((length) => find('a'.repeat(length)), 16_000)`
 */
export function growthOfCost(work: (length: number) => void, length: number): number {
  const rounds = Array.from({ length: ROUNDS }, () => growthInOneRound(work, length)).toSorted(
    (a, b) => a - b,
  );
  return rounds[Math.floor(ROUNDS / 2)] ?? Number.NaN;
}

function growthInOneRound(work: (length: number) => void, length: number): number {
  let short = 0;
  let long = 0;
  while (short < ENOUGH_MICROSECONDS) {
    short += cost(() => {
      for (let piece = 0; piece < PIECES; piece += 1) work(length / PIECES);
    });
    long += cost(() => work(length));
  }
  return long / short;
}

function cost(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}
