import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { growthOfCost } from '../../kernel/testing/growth-of-cost.ts';
import { testAdvice } from './test-advice.ts';

type Change = { path: string; lines: string[]; status?: 'added' | 'deleted' };

/** Lines with their signs, in one hunk. */
function diffOf(...changes: Change[]): string {
  return changes
    .map(({ path, lines, status }) => {
      const before = lines.filter((line) => !line.startsWith('+')).length;
      const now = lines.filter((line) => !line.startsWith('-')).length;
      return [
        `diff --git a/${path} b/${path}`,
        ...(status === 'deleted' ? ['deleted file mode 100644'] : []),
        ...(status === 'added' ? ['new file mode 100644'] : []),
        `--- ${status === 'added' ? '/dev/null' : `a/${path}`}`,
        `+++ ${status === 'deleted' ? '/dev/null' : `b/${path}`}`,
        `@@ -1,${before} +1,${now} @@`,
        ...lines,
      ].join('\n');
    })
    .join('\n');
}

const scan = (path: string, ...lines: string[]) => testAdvice(diffOf({ path, lines }));
const brief = (findings: ReturnType<typeof testAdvice>) =>
  findings.map(({ kind, severity, line }) => `${kind} ${severity} ${line}`);

describe('skipped', () => {
  test.each([
    ['a.test.ts', `it.skip('adds', () => {`],
    ['a.test.ts', `it.concurrent.skip('adds', () => {`],
    ['a.test.ts', `test.skip('adds', () => {`],
    ['a.test.ts', `test.skip.each([1])('adds', () => {`],
    ['a.test.ts', `describe.skip('cart', () => {`],
    ['a.test.ts', `test.describe.skip('cart', () => {`],
    ['a.test.ts', `  xit('adds', () => {`],
    ['a.test.ts', `xdescribe('adds', () => {`],
    ['a.test.ts', `it.only('adds', () => {`],
    ['a.test.ts', `it.fails('adds', () => {`],
    ['a.test.ts', `test('adds', { skip: true }, () => {`],
    ['a.test.ts', `test.skip(process.platform === 'win32', 'not there')`],
    ['a.test.ts', `it.skipIf(windows)('adds', () => {`],
    ['a.test.ts', `test.todo('adds')`],
    ['test_a.py', '@pytest.mark.skip'],
    ['test_a.py', '@pytest.mark.skip(reason="later")'],
    ['test_a.py', '@unittest.skip("later")'],
    ['test_a.py', '@pytest.mark.xfail'],
    ['test_a.py', '@pytest.mark.skipif(windows)'],
    ['test_a.py', '        pytest.skip("no docker")'],
    ['a_test.go', '\t\tt.Skip("short")'],
    ['a_test.go', '//go:build ignore'],
    ['src/lib.rs', '    #[ignore]'],
    ['src/lib.rs', '    #[ignore = "slow"]'],
    ['ATest.java', '  @Disabled("later")'],
    ['ATest.java', '@DisabledOnOs(WINDOWS)'],
    ['ATest.java', '  @Ignore'],
    ['ATest.java', '  @Test(enabled = false)'],
    ['ATests.cs', '  [Fact(Skip = "later")]'],
    ['ATests.cs', '  [Ignore("later")]'],
    ['a_spec.rb', `  xit 'adds' do`],
    ['a_spec.rb', `  it 'adds', skip: true do`],
    ['a_test.exs', '  @tag :skip'],
    ['a_test.cpp', 'TEST(Cart, DISABLED_adds) {'],
  ])('%s: %s', (path, line) => {
    expect(brief(scan(path, `+${line}`))).toEqual(['test-skipped advisory 1']);
  });

  test.each([
    ['a.test.ts', `// it.skip('adds')`],
    ['a.test.ts', `const text = "it.skip('adds')";`],
    ['a.test.ts', ` * it.skip('adds')`],
    ['a.test.ts', `list.skip(3);`],
    ['a.test.ts', `exit('adds');`],
    ['a.test.ts', `process.exit(1);`],
    ['src/a.ts', `cursor.it.skip(3);`],
    ['test_a.py', '# @pytest.mark.skip'],
    ['README.md', `it.skip('adds')`],
    ['node_modules/x/a.test.js', `it.skip('adds')`],
  ])('not: %s: %s', (path, line) => {
    expect(scan(path, `+${line}`)).toEqual([]);
  });

  test('one that existed before, was removed, or moved is not a finding', () => {
    expect(scan('a.test.ts', ` it.skip('adds')`)).toEqual([]);
    expect(scan('a.test.ts', `-it.skip('adds', () => {`, `+it('adds', () => {`)).toEqual([]);
    const line = `it.skip('adds two numbers', () => {`;
    expect(
      testAdvice(
        diffOf({ path: 'a.test.ts', lines: [`-${line}`] }, { path: 'b.test.ts', lines: [`+  ${line}`] }),
      ),
    ).toEqual([]);
  });
});

describe('removed', () => {
  test('fewer assertions', () => {
    const lines = [
      ` it('adds', () => {`,
      '   run();',
      '-  expect(a).toBe(1);',
      '   expect(b).toBe(2);',
      ' });',
    ];
    expect(brief(scan('a.test.ts', ...lines))).toEqual(['assertion-removed advisory 3']);
    expect(brief(scan('a.test.ts', ...lines, '+// expect(a).toBe(1);'))).toEqual([
      'assertion-removed advisory 3',
    ]);
    expect(scan('a.test.ts', ...lines, '+  expect(a).toBe(7);')).toEqual([]);
    expect(scan('src/a.ts', ...lines)).toEqual([]);
  });

  test.each([
    ['a.test.ts', [` it('adds', () => {`, '-  expect(add(1, 2)).toBe(3);', ' });']],
    ['a.test.ts', [` it('adds', async () => {`, '-  expect(add(1, 2)).toBe(3);', '+  // later', ' });']],
    ['a.test.ts', [`-it('adds', () => {`, '-  expect(add(1, 2)).toBe(3);', '-});', `+it('adds', () => {});`]],
    ['a_test.go', [' func TestAdd(t *testing.T) {', '-\tif add(1, 2) != 3 { t.Fatal() }', ' }']],
    ['src/lib.rs', [' #[test]', ' fn adds() {', '-    assert_eq!(add(1, 2), 3);', ' }']],
    ['ATest.java', [' @Test', ' void adds() {', '-    assertEquals(3, add(1, 2));', ' }']],
    ['test_a.py', [' def test_add():', '-    assert add(1, 2) == 3', '+    pass', ' ', ' def test_more():']],
    ['a_spec.rb', [` it 'adds' do`, '-  expect(add(1, 2)).to eq 3', ' end']],
  ])('an emptied test has fewer assertions: %s: %j', (path, lines) => {
    expect(scan(path, ...lines)).toMatchObject([{ kind: 'assertion-removed', severity: 'advisory' }]);
  });

  test.each([
    ['a.test.ts', [` it('adds', () => {`, '-  expect(a).toBe(3);', '+  expect(a).toBe(4);', ' });']],
    ['a.test.ts', [`-it('adds', () => {`, `+it('adds numbers', () => {`, '   expect(a).toBe(1);']],
    ['a.test.ts', [`+test('is quiet', () => run({}));`]],
    ['test_a.py', [' def test_add():', '+    x = 1', '     assert x']],
  ])('not: %s: %j', (path, lines) => {
    expect(scan(path, ...lines)).toEqual([]);
  });

  test('a moved assertion is not missing', () => {
    const gone = { path: 'a.test.ts', lines: ['-  expect(cart.total).toBe(1);'] };
    expect(
      testAdvice(diffOf(gone, { path: 'b.test.ts', lines: ['+    expect(cart.total).toBe(1);'] })),
    ).toEqual([]);
  });

  test('a deleted test file, unless its source is deleted too', () => {
    const tests: Change = {
      path: 'test/cart.test.ts',
      status: 'deleted',
      lines: [`-it('adds', () => {`, '-  expect(a).toBe(1);', '-});'],
    };
    const source: Change = { path: 'src/cart.ts', status: 'deleted', lines: ['-export const cart = 1;'] };
    expect(testAdvice(diffOf(tests))).toMatchObject([
      { kind: 'test-removed', severity: 'advisory', path: 'test/cart.test.ts' },
    ]);
    expect(testAdvice(diffOf(tests, source))).toEqual([]);
    const moved: Change = { path: 'b.test.ts', lines: tests.lines.map((line) => line.replace('-', '+')) };
    expect(testAdvice(diffOf(tests, moved))).toEqual([]);
  });
});

describe('the diff', () => {
  test('a hunk ends where its header says, whatever its lines look like', () => {
    const diff = [
      'diff --git a/a.test.ts b/a.test.ts',
      '--- a/a.test.ts',
      '+++ b/a.test.ts',
      '@@ -1,3 +1,4 @@ function',
      ' keep',
      '--- a/not-a-header.test.ts',
      '+++ b/not-a-header.test.ts',
      '+it.skip(1)',
      ' diff --git a/x b/x',
      '\\ No newline at end of file',
      'diff --git a/b.test.ts b/b.test.ts',
      '--- a/b.test.ts',
      '+++ b/b.test.ts',
      '@@ -0,0 +7 @@',
      '+it.skip(2)',
    ].join('\n');
    expect(testAdvice(diff)).toMatchObject([
      { path: 'a.test.ts', line: 3, text: 'it.skip(1)' },
      { path: 'b.test.ts', line: 7, text: 'it.skip(2)' },
    ]);
  });

  test.each([
    ['+++ b/new b.test.ts\t', 'new b.test.ts'],
    ['+++ "b/größe\\n\\"x.test.ts"', 'größe\\n\\"x.test.ts'],
    ['+++ "b/a \\t.test.ts"\t', 'a \\t.test.ts'],
    ['+++ "b/\\377.test.ts"', '\\377.test.ts'],
  ])('%j is %s', (header, path) => {
    expect(testAdvice(`--- /dev/null\n${header}\n@@ -0,0 +1 @@\n+it.skip()`)).toMatchObject([{ path }]);
  });

  test('no diff makes it throw', () => {
    const part = fc.constantFrom(
      '--- ',
      '+++ ',
      'a/x',
      ' b/',
      '"',
      '\\',
      '@@ -1 +1 @@',
      '\n',
      '+',
      '-',
      ' ',
      '7',
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        expect(testAdvice(parts.join(''))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

describe('bounds', () => {
  test('too large a diff is a finding', () => {
    expect(testAdvice(null)).toMatchObject([{ kind: 'not-scanned', severity: 'advisory' }]);
  });

  test('many findings are cut', () => {
    const findings = scan('a.test.ts', ...Array.from({ length: 301 }, (_, index) => `+it.skip(${index})`));
    expect(findings).toHaveLength(201);
    expect(findings.at(-1)?.why).toContain('101 more');
  });

  test('texts and paths are safe to display', () => {
    const [found] = scan('a.test.ts', `+it.skip('\u001b[31m\u202e${'x'.repeat(900)}')`);
    expect(found?.text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(found?.text?.length).toBeLessThanOrEqual(200);
  });

  test.each([
    'it.'.repeat(700),
    'test.skip('.repeat(200),
    'test.each.each.each.'.repeat(100),
    'expect('.repeat(300),
    'expect(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'.repeat(36),
    '/* '.repeat(650),
    '/**/'.repeat(500),
    '"'.repeat(1_999),
    `it(${'{'.repeat(1_900)}`,
    'it({skip'.repeat(240),
    'assert '.repeat(280),
    'self.assert'.repeat(180),
    ' '.repeat(1_999),
    'return '.repeat(280),
  ])('hostile lines stay cheap: %#', (line) => {
    const paths = ['a.test.ts', 'test_a.py', 'a_test.go', 'ATest.java', 'a_spec.rb', 'a_test.dart'];
    const scanLines = (length: number) => {
      const lines = Array.from({ length: 10 }, () => `+${line.slice(0, length)}`);
      testAdvice(diffOf(...paths.map((path) => ({ path, lines }))));
    };
    expect(growthOfCost(scanLines, line.length)).toBeLessThan(6);
  });
});
