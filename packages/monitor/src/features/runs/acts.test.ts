import { expect, test } from 'vitest';
import { defaultTimings, readTimings } from './acts.ts';

test('given values replace the defaults', () => {
  expect(readTimings('')).toEqual(defaultTimings);
  expect(readTimings('{}')).toEqual(defaultTimings);
  expect(readTimings('{"revivalDelaysSec":[1,2],"settleSec":0}')).toEqual({
    ...defaultTimings,
    revivalDelaysSec: [1, 2],
    settleSec: 0,
  });
});

test.each([
  '{',
  '[]',
  '{"settle":1}',
  '{"claimSec":-1}',
  '{"revivalDelaysSec":["1"]}',
  '{"afterEndSec":1e9}',
])('invalid: %s', (text) => {
  expect(readTimings(text)).toBeUndefined();
});
