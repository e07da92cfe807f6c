// How long the most recent operations took: a fixed number of times is kept.
import type { RecentTimes } from '@svc/core';

const KEPT = 1_000;

export function createRecentTimes(kept = KEPT) {
  const times = new Float64Array(kept);
  let count = 0;
  return {
    note(milliseconds: number): void {
      times[count % kept] = milliseconds;
      count += 1;
    },
    figures(): RecentTimes {
      const sampled = Math.min(count, kept);
      const sorted = times.slice(0, sampled).toSorted();
      /** The time that this share of the operations did not exceed. */
      const at = (part: number): number | null => {
        const time = sorted[Math.max(0, Math.ceil(part * sampled) - 1)];
        return time === undefined ? null : Math.round(time * 1000) / 1000;
      };
      return { count, sampled, p50Ms: at(0.5), p99Ms: at(0.99) };
    },
  };
}
