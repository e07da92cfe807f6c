// `node .ci/fixed-computation.ts`: prints how many milliseconds a fixed computation on one core takes now, the median of
// three. The time of a whole run divided by it shows whether a change is slow, or only the machine.
import { createHash } from 'node:crypto';

const RUNS = 3;
const BLOCK = Buffer.alloc(1024 * 1024, 'a block of a fixed text');
const BLOCKS = 40;

function once(): number {
  const started = performance.now();
  const hash = createHash('sha256');
  for (let block = 0; block < BLOCKS; block += 1) hash.update(BLOCK);
  hash.digest();
  return performance.now() - started;
}

const times = Array.from({ length: RUNS }, once).toSorted((one, other) => one - other);
console.log(Math.round(times[Math.floor(RUNS / 2)] ?? 0));
