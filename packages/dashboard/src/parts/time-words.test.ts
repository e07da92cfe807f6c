import { expect, test } from 'vitest';
import { clockWords, durationWords, exactWords } from './time-words.ts';

test.each([
  [-5, '0 ms'],
  [340, '340 ms'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [3_599_999, '59 min'],
  [3_600_000, '1 h'],
  [7_800_000, '2 h 10 min'],
  [40_000_000, '11 h'],
  [90_000_000, '25 h'],
  [3 * 86_400_000, '3 d'],
])('%d ms is %s', (milliseconds, words) => expect(durationWords(milliseconds)).toBe(words));

test('a time on another day includes the date', () => {
  const noon = new Date(2026, 10, 9, 12, 5).getTime();
  expect(clockWords(noon, noon + 1_000)).toBe('12:05');
  expect(clockWords(noon, noon + 86_400_000)).toBe('9 Nov, 12:05');
});

test('the exact time is local and UTC', () => {
  expect(exactWords(Date.UTC(2026, 10, 9, 12, 5, 7))).toMatch(/^.+ \(2026-11-09 12:05:07 UTC\)$/);
});
