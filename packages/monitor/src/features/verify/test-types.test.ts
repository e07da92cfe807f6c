import { describe, expect, test } from 'vitest';
import { testTypeNamed, testTypesOf, testTypesPresent } from './test-types.ts';

test.each([
  ['src/cart.test.ts', ['unit']],
  ['src/cart.spec.js', ['unit']],
  ['src/__tests__/cart.ts', ['unit']],
  ['tests/test_cart.py', ['unit']],
  ['cart/cart_test.go', ['unit']],
  ['src/test/java/CartTest.java', ['unit']],
  ['Shop.Tests/CartTests.cs', ['unit']],
  ['spec/cart_spec.rb', ['unit']],
  ['src/Cart.test.tsx', ['unit', 'component']],
  ['e2e/cart.ts', ['e2e']],
  ['cypress/cart.cy.js', ['e2e']],
  ['src/cart.e2e-spec.ts', ['e2e']],
  ['tests/integration/test_cart.py', ['integration']],
  ['src/cart.integration.test.ts', ['integration']],
  ['src/test/java/CartIT.java', ['integration']],
  ['tests/cart.rs', ['integration']],
  ['src/cart.api.test.ts', ['api']],
  ['spec/requests/cart_spec.rb', ['api']],
  ['test/contract/cart.pact.ts', ['contract']],
  ['src/Cart.ct.test.tsx', ['component']],
  ['tests/visual/cart.spec.ts', ['visual']],
  ['src/Cart.stories.tsx', ['visual']],
  ['src/cart.bench.ts', ['performance']],
  ['tests/a11y/cart.spec.ts', ['accessibility']],
  ['tests/helpers.ts', []],
  ['src/cart.ts', []],
  ['src/latest.ts', []],
  ['README.md', []],
])('%s: %j', (path, types) => {
  expect(testTypesOf(path)).toEqual(types);
});

test.each([
  ['unit', 'unit'],
  ['Unit Tests', 'unit'],
  ['end-to-end', 'e2e'],
  ['perf', 'performance'],
  ['integration_test', 'integration'],
  ['vibes', undefined],
  ['', undefined],
])('%j means %s', (name, type) => {
  expect(testTypeNamed(name)).toBe(type);
});

describe('for a change', () => {
  const present = (tree: string[], changed: string[], required: string[]) =>
    testTypesPresent({ scope: 'backend', tree, changed, required }).map(({ type, state }) => [type, state]);

  test('in the diff, near it, missing, unknown', () => {
    const tree = ['src/cart.ts', 'src/cart.test.ts', 'e2e/shop.ts', 'src/other.ts'];
    expect(present(tree, ['src/cart.ts', 'src/cart.test.ts'], ['unit', 'e2e', 'contract', 'vibes'])).toEqual([
      ['unit', 'in-diff'],
      ['e2e', 'nearby'],
      ['contract', 'missing'],
      ['vibes', 'unknown'],
    ]);
    expect(present(tree, ['src/cart.ts'], ['unit'])).toEqual([['unit', 'nearby']]);
  });

  test.each([
    ['src/shop/cart.py', 'tests/shop/test_cart.py', 'nearby'],
    ['src/main/java/shop/Cart.java', 'src/test/java/shop/CartTest.java', 'nearby'],
    ['packages/a/src/cart.ts', 'packages/a/test/cart.test.ts', 'nearby'],
    ['packages/a/src/cart.ts', 'packages/b/src/cart.test.ts', 'missing'],
    ['packages/a/src/cart.ts', 'tests/cart.test.ts', 'nearby'],
    ['src/cart.ts', 'src/__tests__/other.test.ts', 'nearby'],
    ['src/cart.ts', 'lib/far/other.test.ts', 'missing'],
  ])('%s and a unit test %s: %s', (source, near, state) => {
    expect(present([source, near], [source], ['unit'])).toEqual([['unit', state]]);
  });

  test('a deleted test is not in the diff', () => {
    expect(present(['src/cart.ts'], ['src/cart.ts', 'src/cart.test.ts'], ['unit'])).toEqual([
      ['unit', 'missing'],
    ]);
  });

  test('tests inside a source file count', () => {
    const found = testTypesPresent({
      scope: 'backend',
      tree: ['src/lib.rs'],
      changed: ['src/lib.rs'],
      required: ['unit'],
      withTestsInside: new Set(['src/lib.rs']),
    });
    expect(found).toEqual([{ type: 'unit', state: 'in-diff', examples: ['src/lib.rs'] }]);
  });

  test('changes to only documentation, settings and tests require nothing', () => {
    expect(testTypesPresent({ scope: 'docs-only', tree: [], changed: ['a.md'], required: ['unit'] })).toEqual(
      [],
    );
    expect(present([], ['package.json', '.github/workflows/ci.yml'], ['unit'])).toEqual([]);
    expect(present(['a.test.ts'], ['a.test.ts'], ['e2e'])).toEqual([]);
  });
});
