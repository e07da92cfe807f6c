import { patchBetween } from '@svc/testkit';
import { expect, test } from 'vitest';
import { type Diff, lineage, moved, parseDiff, parsePatch, type Step, statesOf } from './hunks.ts';

/** A file's lines, one letter each; null: no file. */
type Text = string | null;

const diffOf = (before: Text, after: Text): Diff =>
  before === after
    ? new Map()
    : new Map([['app', parsePatch(patchBetween(linesOf(before), linesOf(after)))]]);
const linesOf = (text: Text): string => (text === null ? '' : text.split('').join('\n'));

test.each<[string, before: Text, merge: Text, deployed: Text, ReturnType<typeof statesOf>]>([
  ['a line was added: it is there', 'abc', 'abXc', 'abXc', ['in']],
  ['it is gone', 'abc', 'abXc', 'abc', ['out']],
  ['it is there, beside other changes', 'abcdef', 'abXcdef', 'aBXCdef', ['in']],
  ['it is gone, another line is changed', 'abcdef', 'abXcdef', 'abcdEf', ['out']],
  ['it was changed', 'abc', 'abXc', 'abYc', ['changed']],
  ['a line was replaced: it is there', 'abc', 'aXc', 'aXcd', ['in']],
  ['it is back', 'abc', 'aXc', 'abcd', ['out']],
  ['it is back, and the next line is changed', 'abc', 'aXc', 'abd', ['out']],
  ['it is there behind a restored line', 'abc', 'aXc', 'abX', ['in']],
  ['it was changed further', 'abc', 'aXc', 'aYc', ['changed']],
  ['a line was removed: it is gone', 'abc', 'ac', 'acd', ['in']],
  ['it is back too', 'abc', 'ac', 'abcd', ['out']],
  ['two places: one is back', 'abcdef', 'aXcdYf', 'abcdYf', ['out', 'in']],
  ['a file was added: it is gone', null, 'abc', null, ['out']],
  ['a file was removed: it is still gone', 'abc', null, null, ['in']],
  ['a file was changed, then removed', 'abc', 'aXc', null, ['changed']],
])('%s', (_, before, merge, deployed, expected) => {
  const merged = diffOf(before, merge);
  expect(statesOf(merged, diffOf(before, deployed), diffOf(merge, deployed))).toEqual(expected);
});

test.each<[string, merged: Diff, sinceParent: Diff, sinceMerge: Diff | null, ReturnType<typeof statesOf>]>([
  ['a binary file as before', new Map([['x', null]]), new Map(), new Map([['x', null]]), ['out']],
  ['a binary file as merged', new Map([['x', null]]), new Map([['x', null]]), new Map(), ['in']],
  [
    'a binary file changed',
    new Map([['x', null]]),
    new Map([['x', null]]),
    new Map([['x', null]]),
    ['unknown'],
  ],
  [
    'the lines are not shown',
    diffOf('a', 'X'),
    new Map([['app', null]]),
    new Map([['app', null]]),
    ['unknown'],
  ],
  [
    'a changed line that is not compared with the merge',
    diffOf('abc', 'aXc'),
    diffOf('abc', 'aYc'),
    null,
    ['unknown'],
  ],
])('%s: what cannot be compared is unknown', (_, merged, sinceParent, sinceMerge, expected) => {
  expect(statesOf(merged, sinceParent, sinceMerge)).toEqual(expected);
});

/** Commits after `base` (with "abc") and `merge` ("aXc"): what their file holds. */
function originOf(...commits: [sha: string, text: Text, ...parents: string[]][]) {
  const merged = diffOf('abc', 'aXc');
  const steps = commits.map(([sha, text, ...parents]): Step => {
    const states = statesOf(merged, diffOf('abc', text), diffOf('aXc', text));
    return { sha, parents, states, content: text === 'aXc' ? '' : text };
  });
  return lineage('merge', steps)[0];
}

test.each<[string, Parameters<typeof originOf>, ReturnType<typeof originOf>]>([
  ['changed further', [['1', 'aYc', 'merge']], 'in'],
  [
    'changed further, twice',
    [
      ['1', 'aYc', 'merge'],
      ['2', 'aZc', '1'],
    ],
    'in',
  ],
  [
    'restored, and changed again in the same place',
    [
      ['1', 'abc', 'merge'],
      ['2', 'aYc', '1'],
    ],
    'out',
  ],
  [
    'restored, put in again, and changed',
    [
      ['1', 'abc', 'merge'],
      ['2', 'aXc', '1'],
      ['3', 'aYc', '2'],
    ],
    'in',
  ],
  [
    'a branch from before it that left the lines alone is merged',
    [
      ['1', 'aYc', 'merge'],
      ['2', 'abcd', 'base'],
      ['3', 'aYcd', '1', '2'],
    ],
    'in',
  ],
  [
    'restored on a branch, which is merged without it',
    [
      ['1', 'aYc', 'merge'],
      ['2', 'abc', 'merge'],
      ['3', 'aYc', '1', '2'],
    ],
    'in',
  ],
  [
    'a merge took the other side, which never had it',
    [
      ['1', 'aYc', 'base'],
      ['2', 'aYc', 'merge', '1'],
    ],
    'out',
  ],
  [
    'a merge rewrote what both sides had changed',
    [
      ['1', 'aYc', 'base'],
      ['2', 'aZc', 'merge', '1'],
    ],
    'unknown',
  ],
  [
    'a cherry-pick of it was changed',
    [
      ['1', 'aXc', 'base'],
      ['2', 'aYc', '1'],
      ['3', 'aYc', 'merge', '2'],
    ],
    'in',
  ],
])('%s: the commits in between show it', (_, commits, expected) => {
  expect(originOf(...commits)).toBe(expected);
});

const lines = (...added: string[]): Diff =>
  new Map([['x', [{ from: 1, to: 1, newFrom: 1, newTo: 1 + added.length, removed: [], added }]]]);

test.each<[string, Diff, Diff, ReturnType<typeof moved>]>([
  ['all lines are elsewhere', lines('one', 'two', 'three', '}'), lines('  one', 'two', 'three'), 'all'],
  ['half of them', lines('one', 'two'), lines('two', 'four'), 'some'],
  ['few lines may be equal by chance', lines('one', 'two'), lines('two', 'one'), 'some'],
  ['none of them', lines('one', '}'), lines('two', '}'), 'none'],
  ['no lines were added', lines(), lines('two'), 'none'],
])('%s', (_, merged, since, expected) => {
  expect(moved(merged, since)).toBe(expected);
});

test('a diff has the changes of each file, with and without lines around them', () => {
  const change = { from: 1, to: 2, newFrom: 1, newTo: 3, removed: ['-- b'], added: ['++ b', 'c'] };
  const bare = 'diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -2 +2,2 @@ a\n--- b\n+++ b\n+c\n';
  const gone =
    'diff --git a/y b/y\ndeleted file mode 100644\n--- a/y\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n\\ No newline at end of file\n';
  const binary = 'diff --git a/z b/z\nindex 1..2 100644\nBinary files a/z and b/z differ\n';
  expect([...parseDiff(bare + gone + binary)]).toEqual([
    ['diff --git a/x b/x', [change]],
    ['diff --git a/y b/y', [{ from: 0, to: 2, newFrom: 0, newTo: 0, removed: ['a', 'b'], added: [] }]],
    ['diff --git a/z b/z', null],
  ]);
  expect(parsePatch('@@ -1,3 +1,4 @@\n a\n--- b\n+++ b\n+c\n d')).toEqual([change]);
  expect(parsePatch('@@ -1,3 +1,4 @@\n a\n--- b')).toBeNull();
});
