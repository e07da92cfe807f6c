import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backoffMs, LONGEST_AFTER_REFUSAL_MS, retryAfterMs } from './backoff.ts';

test.each([
  [0, 250],
  [1, 500],
  [2, 1000],
  [3, 2000],
  [4, 4000],
  [5, 8000],
  [6, 10_000],
  [1000, 10_000],
])('after failure %i the wait is about %i ms', (attempt, about) => {
  expect(backoffMs(attempt, 0.5)).toBe(about);
  expect(backoffMs(attempt, 0)).toBe(about / 2);
  expect(backoffMs(attempt, 1)).toBe(about * 1.5);
});

test('after a refusal the waits keep growing, to about five minutes', () => {
  const waits = [0, 6, 8, 10, 11, 1000].map((attempt) => backoffMs(attempt, 0.5, LONGEST_AFTER_REFUSAL_MS));
  expect(waits).toEqual([250, 16_000, 64_000, 256_000, 300_000, 300_000]);
});

test('the wait never leaves its bounds, whatever the attempt', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, random) => {
      const wait = backoffMs(attempt, random);
      expect(wait).toBeGreaterThanOrEqual(125);
      expect(wait).toBeLessThanOrEqual(15_000);
    }),
  );
});

const now = Date.parse('2026-11-15T00:00:00Z');
test.each([
  ['3', 3000],
  [' 60 ', 60_000],
  ['86400', 120_000],
  ['Sun, 15 Nov 2026 00:00:20 GMT', 20_000],
  ['Sun, 15 Nov 2026 09:00:00 GMT', 120_000],
  ['Sat, 14 Nov 2026 00:00:00 GMT', undefined],
  ['0', undefined],
  ['-5', undefined],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After %j', (header, expected) => {
  expect(retryAfterMs(header, now)).toBe(expected);
});
