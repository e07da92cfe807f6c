import { expect, test } from 'vitest';
import { createBuckets } from './limits.ts';

test('a burst is allowed, then the rate', () => {
  const buckets = createBuckets({ perSecond: 10, burst: 3 }, 100);
  for (let round = 0; round < 3; round += 1) {
    expect(buckets.wait('a', 0)).toBe(0);
    buckets.draw('a', 1, 0);
  }
  expect(buckets.wait('a', 0)).toBe(100);
  expect(buckets.wait('a', 60)).toBe(40);
  expect(buckets.wait('a', 100)).toBe(0);
  expect(buckets.wait('b', 0)).toBe(0);
});

test('a debt is paid before anything more', () => {
  const buckets = createBuckets({ perSecond: 1000, burst: 1000 }, 100);
  buckets.draw('a', 26_000, 0);
  expect(buckets.wait('a', 0)).toBe(25_001);
  expect(buckets.wait('a', 25_001)).toBe(0);
});

test('a clock that goes back removes no tokens', () => {
  const buckets = createBuckets({ perSecond: 10, burst: 2 }, 100);
  buckets.draw('a', 1, 1000);
  expect(buckets.wait('a', 0)).toBe(0);
});

test('memory is bounded, and keys in use are kept', () => {
  const buckets = createBuckets({ perSecond: 0.001, burst: 1 }, 100);
  buckets.draw('busy', 1, 0);
  for (let number = 0; number < 10_000; number += 1) {
    buckets.draw(`key ${number}`, 1, 0);
    if (number % 10 === 0) buckets.draw('busy', 1, 0);
  }
  expect(buckets.size()).toBeLessThanOrEqual(100);
  expect(buckets.wait('busy', 0)).toBeGreaterThan(0);
  expect(buckets.wait('key 0', 0)).toBe(0);
});
