import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseUnifiedDiff } from './unified-diff.ts';

const parse = (...lines: string[]) => parseUnifiedDiff(lines.join('\n')).files;

test('a hunk ends where its header says, whatever its lines look like', () => {
  const [file, second] = parse(
    'diff --git a/a.ts b/a.ts',
    '--- a/a.ts',
    '+++ b/a.ts',
    '@@ -1,3 +1,3 @@ function',
    ' keep',
    '--- a/not-a-header',
    '+++ b/not-a-header',
    ' diff --git a/x b/x',
    '\\ No newline at end of file',
    'diff --git a/b.ts b/b.ts',
  );
  expect(file).toMatchObject({ path: 'a.ts', status: 'modified' });
  expect(file?.hunks).toEqual([
    [
      { sign: ' ', text: 'keep', line: 1 },
      { sign: '-', text: '-- a/not-a-header', line: 2 },
      { sign: '+', text: '++ b/not-a-header', line: 2 },
      { sign: ' ', text: 'diff --git a/x b/x', line: 3 },
    ],
  ]);
  expect(second?.path).toBe('b.ts');
});

test('renames, deletions, binary files, quoted names', () => {
  expect(
    parse(
      'diff --git a/old b.ts b/new b.ts',
      'similarity index 90%',
      'rename from old b.ts',
      'rename to new b.ts',
    ),
  ).toMatchObject([{ oldPath: 'old b.ts', path: 'new b.ts', status: 'renamed' }]);
  expect(
    parse('diff --git a/a.ts b/a.ts', 'deleted file mode 100644', '--- a/a.ts', '+++ /dev/null'),
  ).toMatchObject([{ path: 'a.ts', status: 'deleted' }]);
  expect(parse('diff --git a/a b/c b/a b/c', 'Binary files a/a b/c and b/a b/c differ')).toMatchObject([
    { path: 'a b/c', binary: true },
  ]);
  expect(
    parse('diff --git "a/gr\\303\\266\\303\\237e\\n\\"x" "b/gr\\303\\266\\303\\237e\\n\\"x"'),
  ).toMatchObject([{ path: 'größe\n"x' }]);
  expect(parse('diff --git "a/\\377" "b/\\377"')).toMatchObject([{ path: '\\377' }]);
});

test('long lines are cut, what is not understood is counted, nothing throws', () => {
  const [file] = parse('diff --git a/a b/a', '@@ -0,0 +1 @@', `+${'x'.repeat(5_000)}`);
  expect(file?.hunks[0]?.[0]?.text).toHaveLength(2_000);
  expect(parseUnifiedDiff('diff --git a/a b/a\n@@ -1,5 +1,5 @@\nwhat\n@@ nothing').notUnderstood).toBe(2);
  const part = fc.constantFrom(
    'diff --git ',
    'a/x',
    ' b/',
    '"',
    '\\',
    '@@ -1 +1 @@',
    '\n',
    '+',
    '-',
    ' ',
    '\r',
    '7',
  );
  fc.assert(
    fc.property(fc.array(part), (parts) => void parseUnifiedDiff(parts.join(''))),
    { numRuns: 500 },
  );
});
