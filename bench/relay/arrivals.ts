// What has arrived at a receiver: each delivery once, how often one came again, and how long each was on the way.
import { type Spread, sharedNow, spreadOf } from './latencies.ts';

export type Arrivals = Spread & {
  distinct: number;
  again: number;
  /** When the last one came, by the shared clock. */
  lastAt: number;
};

export function createArrivals() {
  let latencies: number[] = [];
  let known = new Set<string>();
  let again = 0;
  let lastAt = 0;
  return {
    note(deliveryId: string, sentAt: string): void {
      lastAt = sharedNow();
      if (known.has(deliveryId)) {
        again += 1;
        return;
      }
      known.add(deliveryId);
      latencies.push(lastAt - Number(sentAt));
    },
    report: (): Arrivals => ({ ...spreadOf(latencies), distinct: known.size, again, lastAt }),
    forget(): void {
      latencies = [];
      known = new Set();
      again = 0;
    },
  };
}
