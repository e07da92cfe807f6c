import { usdText } from 'svc-monitor/src/features/agents/cost.ts';
import { expect, test } from 'vitest';
import { clockWords, countWords, durationWords, exactWords, waitedWords } from './format.ts';

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

test('a wait of nothing is 0 minutes', () => {
  expect([0, 12_000].map(waitedWords)).toEqual(['0 min', '12 s']);
});

test('a time on another day includes the date', () => {
  const noon = new Date(2026, 10, 9, 12, 5).getTime();
  expect(clockWords(noon, noon + 1_000)).toBe('12:05');
  expect(clockWords(noon, noon + 86_400_000)).toBe('9 Nov, 12:05');
});

test('the exact time is local and UTC', () => {
  expect(exactWords(Date.UTC(2026, 10, 9, 12, 5, 7))).toMatch(/^.+ \(2026-11-09 12:05:07 UTC\)$/);
});

test.each([
  [null, 'unknown'],
  [0, '$0.00'],
  [0.004, 'under $0.01'],
  [4.2, '$4.20'],
  [1234.5, '$1,234.50'],
])('%s dollars are %s', (usd, words) => expect(usdText(usd)).toBe(words));

test.each([
  [undefined, 'unknown'],
  [0, '0'],
  [999, '999'],
  [12_400, '12.4 k'],
  [2_000, '2 k'],
  [340_400, '340 k'],
  [999_600, '1 M'],
  [1_240_000, '1.2 M'],
])('%s tokens are %s', (count, words) => expect(countWords(count)).toBe(words));
