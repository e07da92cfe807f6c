import { expect, test } from 'vitest';
import { type DiffScope, isSubjectToTests, scopeOfDiff } from './file-kind.ts';

test.each<[DiffScope, string[]]>([
  ['docs-only', []],
  ['docs-only', ['README.md', 'docs/guide.rst', 'LICENSE', 'docs/flow.png']],
  ['backend', ['README.md', 'src/main.go']],
  ['backend', ['src/cart.ts']],
  ['backend', ['requirements.txt']],
  ['backend', ['.github/workflows/ci.yml']],
  ['backend', ['web/api/handler.ts']],
  ['backend', ['db/migrations/001.sql']],
  ['frontend', ['src/components/cart.ts']],
  ['frontend', ['src/Cart.tsx', 'vite.config.ts', 'package.json']],
  ['frontend', ['web/style.css']],
  ['frontend', ['android/app/Main.kt']],
  ['fullstack', ['web/cart.tsx', 'server/cart.go']],
  ['fullstack', ['client/cart.ts', 'server/cart.ts']],
])('%s: %j', (scope, paths) => {
  expect(scopeOfDiff(paths)).toBe(scope);
});

test.each([
  ['src/cart.ts', true],
  ['web/a.css', true],
  ['package.json', false],
  ['README.md', false],
  ['vendor/x.go', false],
  ['vite.config.ts', false],
])('%s requires tests: %s', (path, demands) => {
  expect(isSubjectToTests(path)).toBe(demands);
});
