import { describe, expect, test } from 'vitest';
import { afterKey, shareOf, spanFor, spanOf, timeAt } from './time-scrubber.tsx';

const now = Date.UTC(2026, 10, 9, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const day = spanOf('24h', now);

test('a time and its position convert both ways', () => {
  expect(shareOf(now - 12 * HOUR, day)).toBe(0.5);
  expect(timeAt(0.5, day)).toBe(now - 12 * HOUR);
});

test('a time outside the span is clamped to its edge', () => {
  expect(shareOf(now - 30 * HOUR, day)).toBe(0);
  expect(shareOf(now + HOUR, day)).toBe(1);
  expect(timeAt(-3, day)).toBe(day.from);
});

test('close to the end is live', () => {
  expect(timeAt(1, day)).toBeNull();
  expect(timeAt(shareOf(now - 2 * MINUTE, day), day)).toBeNull();
  expect(timeAt(shareOf(now - 3 * MINUTE, day), day)).toBe(now - 3 * MINUTE);
});

test.each([
  [HOUR, '24h'],
  [24 * HOUR, '24h'],
  [25 * HOUR, '7d'],
  [90 * 24 * HOUR, '7d'],
])('%d ms ago is in the last %s', (ago, name) => expect(spanFor(now - ago, now)).toBe(name));

describe('keys', () => {
  const noon = now - 12 * HOUR;
  test.each<[string, number | null, number | null | undefined]>([
    ['ArrowLeft', null, now - 5 * MINUTE],
    ['ArrowLeft', noon, noon - 5 * MINUTE],
    ['ArrowRight', noon, noon + 5 * MINUTE],
    ['ArrowRight', now - 6 * MINUTE, null],
    ['ArrowRight', null, null],
    ['PageDown', null, now - HOUR],
    ['PageUp', noon, noon + HOUR],
    ['Home', noon, day.from],
    ['ArrowLeft', day.from, day.from],
    ['End', noon, null],
    ['Enter', noon, undefined],
  ])('%s from %s', (key, time, next) => expect(afterKey(key, time, day)).toBe(next));
});
