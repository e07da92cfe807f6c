import { expect, test } from 'vitest';
import { type DiffRow, rowsBetween, rowsOfDiff } from './diff.tsx';

const words = (rows: readonly DiffRow[]): string[] =>
  rows.map((row) =>
    'before' in row ? `${row.kind} ${row.before}:${row.after} ${row.text}` : `${row.kind} ${row.text}`,
  );

test('a unified diff, also of a file that became a link', () => {
  const diff = [
    'diff --git a/x b/x',
    'deleted file mode 100644',
    '--- a/x',
    '+++ /dev/null',
    '@@ -7,2 +0,0 @@ function x() {',
    '-one',
    '--- two',
    'diff --git a/x b/x',
    '--- /dev/null',
    '+++ b/x',
    '@@ -0,0 +1 @@',
    '+target',
    String.raw`\ No newline at end of file`,
    '',
  ].join('\n');
  expect(words(rowsOfDiff(diff))).toEqual([
    'hunk @@ -7,2 +0,0 @@ function x() {',
    'removed 7:null one',
    'removed 8:null -- two',
    'hunk @@ -0,0 +1 @@',
    'added null:1 target',
    'note No newline at end of file',
  ]);
  expect(rowsOfDiff('')).toEqual([]);
});

test('two texts: only the lines around a change', () => {
  const lines = Array.from({ length: 30 }, (_, number) => `line ${number + 1}`);
  const after = lines.with(4, 'changed').toSpliced(20, 1, 'new a', 'new b');
  const rows = words(rowsBetween(lines.join('\n'), after.join('\n')));
  expect(rows.slice(0, 6)).toEqual([
    'hunk @@ line 2 @@',
    'same 2:2 line 2',
    'same 3:3 line 3',
    'same 4:4 line 4',
    'removed 5:null line 5',
    'added null:5 changed',
  ]);
  expect(rows).toContain('added null:22 new b');
  expect(rows).toContain('same 22:23 line 22');
  expect(rows).not.toContain('same 12:12 line 12');
});

test.each([
  ['', 'a\nb\n', ['added null:1 a', 'added null:2 b']],
  ['a\n', '', ['removed 1:null a']],
  ['a\n', 'a\n', []],
  ['a\nb\nc', 'a\nc', ['same 1:1 a', 'removed 2:null b', 'same 3:2 c']],
])('%j to %j', (before, after, rows) => expect(words(rowsBetween(before, after))).toEqual(rows));

test('texts that are too different to compare are replaced', () => {
  const text = (mark: string): string => Array.from({ length: 2_000 }, (_, at) => `${mark}${at}`).join('\n');
  const rows = rowsBetween(text('a'), text('b'));
  expect(rows.map(({ kind }) => kind).filter((kind, at, all) => kind !== all[at - 1])).toEqual([
    'removed',
    'added',
  ]);
});
