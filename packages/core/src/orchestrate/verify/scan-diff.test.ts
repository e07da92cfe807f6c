import { describe, expect, test } from 'vitest';
import { growthOfCost } from '../../testing/growth-of-cost.ts';
import { MAX_DIFF_BYTES, scanDiff } from './scan-diff.ts';

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

const scan = (path: string, ...lines: string[]) => scanDiff(diffOf({ path, lines }));
const brief = (findings: ReturnType<typeof scanDiff>) =>
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
    ['test_a.py', '@pytest.mark.skip'],
    ['test_a.py', '@pytest.mark.skip(reason="later")'],
    ['test_a.py', '@unittest.skip("later")'],
    ['test_a.py', '@pytest.mark.xfail'],
    ['src/lib.rs', '    #[ignore]'],
    ['src/lib.rs', '    #[ignore = "slow"]'],
    ['ATest.java', '  @Disabled("later")'],
    ['ATest.java', '  @Ignore'],
    ['ATest.java', '  @Test(enabled = false)'],
    ['ATests.cs', '  [Fact(Skip = "later")]'],
    ['ATests.cs', '  [Ignore("later")]'],
    ['a_spec.rb', `  xit 'adds' do`],
    ['a_spec.rb', `  it 'adds', skip: true do`],
    ['a_test.exs', '  @tag :skip'],
    ['a_test.go', '//go:build ignore'],
    ['a_test.cpp', 'TEST(Cart, DISABLED_adds) {'],
  ])('%s: %s', (path, line) => {
    expect(brief(scan(path, `+${line}`))).toEqual(['test-skipped blocking 1']);
  });

  test.each([
    ['a.test.ts', `test.skip(process.platform === 'win32', 'not there')`],
    ['a.test.ts', `it.skipIf(windows)('adds', () => {`],
    ['a.test.ts', `test.todo('adds')`],
    ['test_a.py', '@pytest.mark.skipif(windows)'],
    ['test_a.py', '        pytest.skip("no docker")'],
    ['a_test.go', '\t\tt.Skip("short")'],
    ['ATest.java', '@DisabledOnOs(WINDOWS)'],
  ])('only told: %s: %s', (path, line) => {
    expect(brief(scan(path, `+${line}`))).toEqual(['test-skipped advisory 1']);
  });

  test('the first thing that a test does is no condition', () => {
    expect(brief(scan('a_test.go', ' func TestAdd(t *testing.T) {', '+\tt.Skip("later")'))).toEqual([
      'test-skipped blocking 2',
    ]);
    expect(brief(scan('test_a.py', ' def test_add():', '+    pytest.skip("later")'))).toEqual([
      'test-skipped blocking 2',
    ]);
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

  test('one that was there, went, or moved is no finding', () => {
    expect(scan('a.test.ts', ` it.skip('adds')`)).toEqual([]);
    expect(scan('a.test.ts', `-it.skip('adds', () => {`, `+it('adds', () => {`)).toEqual([]);
    const line = `it.skip('adds two numbers', () => {`;
    expect(
      scanDiff(
        diffOf({ path: 'a.test.ts', lines: [`-${line}`] }, { path: 'b.test.ts', lines: [`+  ${line}`] }),
      ),
    ).toEqual([]);
    expect(
      brief(
        scanDiff(
          diffOf(
            { path: 'ATest.java', lines: ['-@Disabled'] },
            { path: 'BTest.java', lines: ['+@Disabled'] },
          ),
        ),
      ),
    ).toEqual(['test-skipped blocking 1']);
  });
});

describe('emptied', () => {
  test.each([
    ['a.test.ts', [` it('adds', () => {`, '-  expect(add(1, 2)).toBe(3);', ' });']],
    ['a.test.ts', [` it('adds', async () => {`, '-  expect(add(1, 2)).toBe(3);', '+  // later', ' });']],
    ['a.test.ts', [`-it('adds', () => {`, '-  expect(add(1, 2)).toBe(3);', '-});', `+it('adds', () => {});`]],
    ['a_test.go', [' func TestAdd(t *testing.T) {', '-\tif add(1, 2) != 3 { t.Fatal() }', ' }']],
    ['src/lib.rs', [' #[test]', ' fn adds() {', '-    assert_eq!(add(1, 2), 3);', ' }']],
    ['ATest.java', [' @Test', ' void adds() {', '-    assertEquals(3, add(1, 2));', ' }']],
    ['test_a.py', [' def test_add():', '-    assert add(1, 2) == 3', '+    pass', ' ', ' def test_more():']],
    ['test_a.py', [' def test_add():', '     """Adds."""', '-    assert add(1, 2) == 3', ' ', ' x = 1']],
    ['a_spec.rb', [` it 'adds' do`, '-  expect(add(1, 2)).to eq 3', ' end']],
  ])('%s: %j', (path, lines) => {
    expect(scan(path, ...lines)).toContainEqual(
      expect.objectContaining({ kind: 'test-emptied', severity: 'blocking' }),
    );
  });

  test.each([
    ['a.test.ts', [` it('adds', () => {`, '-  expect(a).toBe(3);', '+  expect(a).toBe(4);', ' });']],
    ['a.test.ts', [` it('adds', () => {`, ' });', '+const x = 1;']],
    ['a.test.ts', [`+test('is quiet', () => run({}));`]],
    ['test_a.py', [' def test_add():', '+    x = 1', '     assert x']],
  ])('not: %s: %j', (path, lines) => {
    expect(scan(path, ...lines)).toEqual([]);
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
    expect(brief(scan('a.test.ts', ...lines))).toEqual(['assertion-removed blocking 3']);
    expect(brief(scan('a.test.ts', ...lines, '+// expect(a).toBe(1);'))).toEqual([
      'assertion-removed blocking 3',
    ]);
    expect(scan('a.test.ts', ...lines, '+  expect(a).toBe(7);')).toEqual([]);
    expect(scan('src/a.ts', ...lines)).toEqual([]);
  });

  test('what moved is still there', () => {
    const gone = { path: 'a.test.ts', lines: ['-  expect(cart.total).toBe(1);'] };
    expect(
      scanDiff(diffOf(gone, { path: 'b.test.ts', lines: ['+    expect(cart.total).toBe(1);'] })),
    ).toEqual([]);
  });

  test('a whole test counts once, as that test', () => {
    const lines = [`-it('adds', () => {`, '-  expect(a).toBe(1);', '-});', ` it('more', () => {`];
    expect(brief(scan('a.test.ts', ...lines))).toEqual(['test-removed blocking 1']);
  });

  test('a renamed test is the same', () => {
    const lines = [`-it('adds', () => {`, `+it('adds numbers', () => {`, '   expect(a).toBe(1);'];
    expect(scan('a.test.ts', ...lines)).toEqual([]);
  });

  test('a table in place of single tests is for a person to judge', () => {
    const lines = [`-it('one', () => {`, `-it('two', () => {`, `+test.each([1, 2])('%s', (n) => {`];
    expect(brief(scan('a.test.ts', ...lines))).toEqual(['test-removed advisory 1']);
  });

  test('a deleted file of tests, unless what it tested is deleted too', () => {
    const tests: Change = {
      path: 'test/cart.test.ts',
      status: 'deleted',
      lines: [`-it('adds', () => {`, '-  expect(a).toBe(1);', '-});'],
    };
    const source: Change = { path: 'src/cart.ts', status: 'deleted', lines: ['-export const cart = 1;'] };
    expect(brief(scanDiff(diffOf(tests)))).toEqual(['test-removed blocking 1']);
    expect(scanDiff(diffOf(tests, source))).toEqual([]);
    const smaller: Change = { path: 'src/cart.ts', lines: ['-export const cart = 1;'] };
    expect(brief(scanDiff(diffOf(tests, smaller)))).toEqual(['test-removed advisory 1']);
    const moved: Change = { path: 'b.test.ts', lines: tests.lines.map((line) => line.replace('-', '+')) };
    expect(scanDiff(diffOf(tests, moved))).toEqual([]);
  });
});

describe('weakened', () => {
  test.each([
    ['a.test.ts', 'expect(true).toBe(true);'],
    ['a.test.ts', 'expect(1).toEqual(1);'],
    ['a.test.ts', 'expect(true).toBeTruthy();'],
    ['a.test.ts', 'expect(total).toBe(total);'],
    ['a.test.ts', 'assert.ok(true);'],
    ['a.test.ts', 'assert.strictEqual(1, 1);'],
    ['test_a.py', '    assert True'],
    ['test_a.py', '    assert 1 == 1'],
    ['test_a.py', '    self.assertTrue(True)'],
    ['a_test.go', '\tassert.True(t, true)'],
    ['tests/a.rs', '    assert!(true);'],
    ['src/lib.rs', '    assert_eq!(1, 1);'],
    ['ATest.java', '    assertTrue(true);'],
    ['ATests.cs', '    Assert.True(true);'],
    ['a_spec.rb', '    expect(true).to be true'],
    ['package.json', '    "test": "vitest run || true",'],
    ['package.json', '    "test": "exit 0",'],
    ['package.json', '    "test": "echo ok",'],
    ['.github/workflows/ci.yml', '      - run: npm test || true'],
    ['.gitlab-ci.yml', '    - pytest || exit 0'],
    ['Makefile', '\t-go test ./...'],
    ['.ci/run', 'npm test || :'],
  ])('%s: %s', (path, line) => {
    expect(brief(scan(path, `+${line}`))).toEqual(['assertion-weakened blocking 1']);
  });

  test.each([
    ['a.test.ts', 'expect(true).toBe(false);'],
    ['a.test.ts', 'expect(isReady).toBe(true);'],
    ['a.test.ts', `expect('a').toBe('b');`],
    ['a.test.ts', '// expect(true).toBe(true);'],
    ['test_a.py', '    assert True is value'],
    ['.github/workflows/ci.yml', '      - run: docker rm web || true'],
    ['.github/workflows/ci.yml', '      # npm test || true'],
    ['Makefile', '\t-rm -rf dist'],
    ['package.json', '    "test": "vitest run",'],
    ['package.json', '    "test": "echo start && vitest run",'],
  ])('not: %s: %s', (path, line) => {
    expect(scan(path, `+${line}`)).toEqual([]);
  });

  test('told: an exact assertion gave way to a loose one; a step may fail', () => {
    expect(brief(scan('a.test.ts', '-expect(a).toBe(3);', '+expect(a).toBeDefined();'))).toEqual([
      'assertion-weakened advisory 1',
    ]);
    expect(brief(scan('.github/workflows/ci.yml', '+    continue-on-error: true'))).toEqual([
      'assertion-weakened advisory 1',
    ]);
  });
});

describe('stubs', () => {
  test.each([
    ['src/a.ts', `  throw new Error('not implemented');`],
    ['src/a.ts', `  throw new Error('Not yet implemented');`],
    ['src/a.ts', '  return null; // stub'],
    ['src/a.ts', '  return []; // placeholder'],
    ['a.py', '    raise NotImplementedError'],
    ['a.py', '    return None  # stub'],
    ['a.go', '\tpanic("not implemented")'],
    ['src/lib.rs', '    unimplemented!()'],
    ['src/lib.rs', '    todo!("later")'],
    ['A.kt', '    TODO("later")'],
    ['A.cs', '    throw new NotImplementedException();'],
    ['A.java', '    throw new UnsupportedOperationException("Not implemented yet");'],
    ['a.dart', '  throw UnimplementedError();'],
  ])('%s: %s', (path, line) => {
    expect(brief(scan(path, `+${line}`))).toEqual(['stub blocking 1']);
  });

  test.each([
    ['src/a.ts', '  // TODO: implement caching'],
    ['src/a.ts', '  const mockUsers = ['],
    ['a.py', 'FAKE_USERS = ['],
  ])('only told: %s: %s', (path, line) => {
    expect(brief(scan(path, `+${line}`))).toEqual(['stub advisory 1']);
  });

  test.each([
    ['src/a.test.ts', `  throw new Error('not implemented');`],
    ['src/__mocks__/a.ts', '  const mockUsers = ['],
    ['src/a.ts', `  if (text === 'not implemented') return 1;`],
    ['src/a.ts', `  // throws 'not implemented'`],
    ['src/a.ts', '  return null;'],
    ['src/a.ts', '  const todo = list[0];'],
    ['src/lib.rs', '    todos.push(1);'],
    ['README.md', '    todo!()'],
  ])('not: %s: %s', (path, line) => {
    expect(scan(path, `+${line}`)).toEqual([]);
  });

  test('what others have to write is only told', () => {
    expect(
      brief(
        scan(
          'a.py',
          ' class Shop(ABC):',
          '+    @abstractmethod',
          '+    def buy(self):',
          '+        raise NotImplementedError',
        ),
      ),
    ).toEqual(['stub advisory 4']);
  });
});

describe('bounds', () => {
  test('too large a diff is a finding', () => {
    expect(scanDiff(' '.repeat(MAX_DIFF_BYTES + 1))).toMatchObject([
      { kind: 'not-scanned', severity: 'blocking' },
    ]);
  });

  test('many findings are cut, those that block first', () => {
    const advice = Array.from({ length: 300 }, (_, index) => `+  // TODO: implement ${index}`);
    const findings = scan('src/a.ts', ...advice, `+  throw new Error('not implemented');`);
    expect(findings).toHaveLength(201);
    expect(findings[0]?.severity).toBe('blocking');
    expect(findings.at(-1)?.why).toContain('101 more');
  });

  test('texts and paths can be shown', () => {
    const [found] = scan('a.test.ts', `+it.skip('\u001b[31m\u202e${'x'.repeat(900)}')`);
    expect(found?.text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(found?.text.length).toBeLessThanOrEqual(200);
  });

  test('a file of tests that is binary is a finding', () => {
    expect(
      scanDiff('diff --git a/a.test.ts b/a.test.ts\nBinary files a/a.test.ts and b/a.test.ts differ'),
    ).toMatchObject([{ kind: 'not-scanned', path: 'a.test.ts' }]);
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
    'throw not yet '.repeat(140),
    'assert '.repeat(280),
    '|| '.repeat(650),
    'const static final '.repeat(100),
    '// TODO TODO TODO : '.repeat(100),
    'for (const '.repeat(180),
    ' '.repeat(1_999),
    'return '.repeat(280),
    'MOCK_'.repeat(400),
    '\t-test'.repeat(330),
    '"test:'.repeat(330),
  ])('hostile lines stay cheap: %#', (line) => {
    const paths = [
      'a.test.ts',
      'src/a.ts',
      'test_a.py',
      'a_test.go',
      'ATest.java',
      'a_spec.rb',
      'package.json',
    ];
    const scanLines = (length: number) => {
      const lines = Array.from({ length: 10 }, () => `+${line.slice(0, length)}`);
      scanDiff(diffOf(...paths.map((path) => ({ path, lines }))));
    };
    expect(growthOfCost(scanLines, line.length)).toBeLessThan(6);
  });
});
