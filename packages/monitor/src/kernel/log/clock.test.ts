import { expect, test } from 'vitest';
import { lateLines, timeToStartFrom } from './clock.ts';

const NOW = Date.UTC(2026, 10, 15, 12);

test.each([
  [0, null],
  [119_999, null],
  [120_000, '2026-11-15T12:02:00.000Z'],
  [16 * 86_400_000, '2026-12-01T12:00:00.000Z'],
])('%i ms behind the newest line: late until %s', (behindMs, until) => {
  expect(lateLines(behindMs, NOW)?.until ?? null).toBe(until);
});

test('the problem names the difference, the time and the fix', () => {
  expect(lateLines(7_500_000, NOW)).toMatchObject({
    why: expect.stringMatching(
      /2 h 5 min behind the newest event .* get the time 2026-11-15T14:05:00.000Z until/,
    ),
    remedy: expect.stringContaining('svc monitor restart'),
  });
});

test.each([
  ['a line in the past', NOW - 1, NOW - 1],
  ['an ordinary clock correction', NOW + 120_000, NOW + 120_000],
  ['a line in the future', NOW + 120_001, 0],
])('a start after %s', (_, newestLine, from) => {
  expect(timeToStartFrom(newestLine, NOW)).toBe(from);
});
