import { expect, test } from 'vitest';
import { costWords, countWords } from './amount-words.ts';

test.each([
  [null, 'unknown'],
  [0, '$0.00'],
  [0.004, 'under $0.01'],
  [4.2, '$4.20'],
  [1234.5, '$1,234.50'],
])('%s dollars are %s', (usd, words) => expect(costWords(usd)).toBe(words));

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
