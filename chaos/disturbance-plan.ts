// What happens to the feed, and after how many deliveries: as many restarts and cuts as are asked for, and
// beside them a few faults of the relay as a whole, in random order, spread over all but the end.
import type { Random } from '../packages/testkit/src/random.ts';

export type Disturbance = {
  after: number;
  what: 'kill' | 'stop' | 'cut' | 'halfOpen' | 'stall' | 'relayRestart';
  milliseconds: number;
};

export function disturbancePlan(
  { deliveries, restarts, cuts }: { deliveries: number; restarts: number; cuts: number },
  random: Random,
): Disturbance[] {
  const many = (count: number, what: Disturbance['what']) => Array.from({ length: count }, () => what);
  const relayFaults = Math.ceil(cuts / 3);
  const all = random.shuffled([
    ...many(Math.ceil(restarts / 2), 'kill'),
    ...many(Math.floor(restarts / 2), 'stop'),
    ...many(cuts, 'cut'),
    ...many(relayFaults, 'halfOpen'),
    ...many(relayFaults, 'stall'),
    ...many(relayFaults, 'relayRestart'),
  ]);
  const share = (deliveries * 0.95) / all.length;
  return all.map((what, index) => ({
    after: Math.floor((index + random.next()) * share),
    what,
    milliseconds: 200 + random.below(800),
  }));
}
