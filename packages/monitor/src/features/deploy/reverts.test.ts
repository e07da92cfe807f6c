import { expect, test } from 'vitest';
import { isReverted } from './reverts.ts';

const [merge, first, second, third] = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(40)) as [
  string,
  string,
  string,
  string,
];
const reverting = (sha: string, reverted: string) => ({
  sha,
  message: `Revert "x"\n\nThis reverts commit ${reverted}.`,
});

test.each([
  ['nothing came later', [], false],
  ['something else', [{ sha: first, message: 'feature' }], false],
  ['reverted', [reverting(first, merge)], true],
  ['reverted by a short id', [reverting(first, merge.slice(0, 8))], true],
  [
    'a merge was reverted',
    [{ sha: first, message: `This reverts commit ${merge}, reversing\nchanges` }],
    true,
  ],
  ['another one was reverted', [{ sha: second, message: 'y' }, reverting(first, second)], false],
  ['the revert was reverted', [reverting(first, merge), reverting(second, first)], false],
  ['reverted for good', [reverting(first, merge), reverting(second, first), reverting(third, second)], true],
  ['two reverts of each other', [reverting(first, second), reverting(second, first)], false],
])('%s', (_, later, expected) => {
  expect(isReverted(merge, later)).toBe(expected);
});
