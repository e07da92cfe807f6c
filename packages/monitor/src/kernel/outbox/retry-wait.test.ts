import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isTimeToGiveUp, LONGEST_RETRY_WAIT_MS, retryWaitMs } from './outbox-rules.ts';

const DAY = 24 * 60 * 60_000;

test.each([
  [1, 1_000],
  [2, 2_000],
  [5, 16_000],
  [9, 256_000],
  [10, 300_000],
  [1_000, 300_000],
])('after failure %i the wait is at most %i ms, at least half of it', (attempts, longest) => {
  expect(retryWaitMs(attempts, 1)).toBe(longest);
  expect(retryWaitMs(attempts, 0)).toBe(longest / 2);
});

test.each([
  [60_000, 60_000],
  [100, 500],
  [2 * DAY, LONGEST_RETRY_WAIT_MS],
  [Number.NaN, 500],
  [Number.POSITIVE_INFINITY, 500],
  [-5, 500],
])('a service that asks for %d ms gets %d', (asked, wait) => {
  expect(retryWaitMs(1, 0, asked)).toBe(wait);
});

test('no wait is longer than the longest', () => {
  fc.assert(
    fc.property(
      fc.integer(),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double(),
      (attempts, random, asked) => {
        const wait = retryWaitMs(attempts, random, asked);
        expect(wait).toBeGreaterThanOrEqual(500);
        expect(wait).toBeLessThanOrEqual(LONGEST_RETRY_WAIT_MS);
      },
    ),
  );
});

test.each([
  [12, DAY, true],
  [11, 10 * DAY, false],
  [500, DAY - 1, false],
])('after %i attempts and %i ms the outbox gives up: %s', (attempts, age, over) => {
  expect(isTimeToGiveUp({ attempts, createdAt: 1_000 }, 1_000 + age)).toBe(over);
});
