import { expect, test } from 'vitest';
import { usualPatience } from './acts.ts';
import { readPatience } from './patience.ts';

test('nothing is the usual; what is named is taken', () => {
  expect(readPatience('')).toEqual(usualPatience);
  expect(readPatience('{}')).toEqual(usualPatience);
  expect(readPatience('{"revivalDelaysSec":[1,2],"settleSec":0}')).toEqual({
    ...usualPatience,
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
])('not understood: %s', (text) => {
  expect(readPatience(text)).toBeUndefined();
});
