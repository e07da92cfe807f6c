import { expect, test } from 'vitest';
import { createRecentTimes } from './metrics.ts';

test('no, one and many operations', () => {
  const times = createRecentTimes(100);
  expect(times.figures()).toEqual({ count: 0, sampled: 0, p50Ms: null, p99Ms: null });
  times.note(7.00049);
  expect(times.figures()).toEqual({ count: 1, sampled: 1, p50Ms: 7, p99Ms: 7 });
  for (let time = 1; time <= 250; time += 1) times.note(time);
  expect(times.figures()).toEqual({ count: 251, sampled: 100, p50Ms: 200, p99Ms: 249 });
});
