// Which types of tests exist for a change, by the conventions for paths and file names. The contents of the files are
// not checked here: the tests are run.
import {
  type DiffScope,
  extensionOf,
  fileNameOf,
  folderOf,
  foldersOf,
  isNamedTest,
  isSubjectToTests,
  isTestFile,
  subjectOf,
} from './file-kind.ts';

type TestTypeState =
  /** A test of the type is added or changed by the diff. */
  | 'in-diff'
  /** It already existed, near the changed files. */
  | 'nearby'
  | 'missing'
  /** An unknown type: cannot be checked. */
  | 'unknown';

export type TestTypePresence = { type: string; state: TestTypeState; examples: string[] };

type Row = { type: string; also?: string; folder?: string; name?: RegExp; extension?: string };

/** The first matching row decides the type of a test; without a match it is a unit test. */
const rows: readonly Row[] = [
  {
    type: 'e2e',
    also: 'end-to-end endtoend system acceptance',
    folder: 'e2e end-to-end cypress playwright system acceptance features',
    name: /[._-](?:e2e|e2e-spec|cy)[._-]|_e2e_test\.|E2ETests?\./i,
  },
  {
    type: 'contract',
    also: 'pact',
    folder: 'contract contracts pact pacts',
    name: /[._-](?:contract|pact)[._-]|ContractTests?\./i,
  },
  {
    type: 'visual',
    also: 'screenshot vrt',
    folder: 'visual vrt __image_snapshots__ screenshots chromatic',
    name: /[._-](?:visual|vrt)[._-]|\.stories\./i,
  },
  {
    type: 'performance',
    also: 'perf load benchmark bench stress',
    folder: 'perf performance load bench benches benchmark benchmarks k6 stress',
    name: /[._-](?:bench|perf|load|k6)[._-]|(?:Benchmark|PerformanceTests?)\./i,
  },
  {
    type: 'accessibility',
    also: 'a11y',
    folder: 'a11y accessibility',
    name: /[._-](?:a11y|accessibility)[._-]/i,
  },
  { type: 'security', folder: 'security', name: /[._-]security[._-]/i },
  { type: 'smoke', folder: 'smoke', name: /[._-]smoke[._-]/i },
  {
    type: 'api',
    folder: 'api-tests api_tests requests',
    name: /[._-]api[._-](?:test|spec)|^test_api_|_api_(?:test|spec)\.|Api(?:Test|Tests|IT)\./,
  },
  {
    type: 'integration',
    also: 'functional',
    folder: 'integration integration-tests integration_tests integrationtest functional it androidtest',
    name: /[._-](?:integration|int|integ)[._-]|^test_integration|IT\.(?:java|kt|groovy|scala)$|IntegrationTests?\./,
  },
  {
    type: 'component',
    also: 'ct',
    folder: 'component component-tests',
    name: /[._-](?:component|ct)[._-]/i,
    extension: 'tsx jsx vue svelte',
  },
  { type: 'unit', also: 'units' },
];
const tables = rows.map((row) => ({
  ...row,
  folders: new Set(row.folder?.split(' ')),
  extensions: new Set(row.extension?.split(' ')),
}));

const typeByName = new Map(
  rows.flatMap((row) => [row.type, ...(row.also?.split(' ') ?? [])].map((name) => [name, row.type] as const)),
);

/** `unit`, `Unit Tests` and `unit-test` are the same; undefined if the type is unknown. */
export function testTypeNamed(name: string): string | undefined {
  const plain = name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_]+/g, '-')
    .replace(/-?tests?$/, '');
  return typeByName.get(plain);
}

/** A test may have two types: `cart.test.tsx` is a unit test and a component test. */
export function testTypesOf(path: string): string[] {
  if (!isTestFile(path) && !/\.stories\.[a-z]{1,4}$/.test(path)) return [];
  // A crate's `tests/` are its integration tests; tests inside its sources are not visible in a path.
  if (/(?:^|\/)tests\/[^/]*\.rs$/.test(path)) return ['integration'];
  const found = tables.find(
    ({ folders, name }) =>
      foldersOf(path).some((folder) => folders.has(folder)) || name?.test(fileNameOf(path)),
  );
  if (found !== undefined) return [found.type];
  // A helper next to the tests proves nothing, unless the language marks tests only by their folder.
  if (!isNamedTest(path) && !foldersOf(path).includes('__tests__')) return [];
  const types = ['unit'];
  const byExtension = tables.find(({ extensions }) => extensions.has(extensionOf(path)));
  return byExtension === undefined ? types : [...types, byExtension.type];
}

const EXAMPLES = 3;

/**
 * For each required type, whether the change has such tests. `tree` are the files of the repository after the change,
 * `changed` those in the diff, `withTestsInside` sources that contain their own tests (Rust). Documentation and
 * settings require nothing.
 */
export function testTypesPresent({
  scope,
  tree,
  changed,
  required,
  withTestsInside = new Set(),
}: {
  scope: DiffScope;
  tree: readonly string[];
  changed: readonly string[];
  required: readonly string[];
  withTestsInside?: ReadonlySet<string>;
}): TestTypePresence[] {
  const subjects = changed.filter((path) => isSubjectToTests(path) && !isTestFile(path));
  if (scope === 'docs-only' || subjects.length === 0) return [];
  const inTree = new Set(tree);
  const typesIn = (path: string): string[] =>
    withTestsInside.has(path) ? ['unit', ...testTypesOf(path)] : testTypesOf(path);
  // A test that the diff deletes no longer exists.
  const changedTests = changed.filter((path) => inTree.has(path));
  const isNear = nearnessTo(subjects);

  return [...new Set(required)].map((name): TestTypePresence => {
    const type = testTypeNamed(name);
    if (type === undefined) return { type: name, state: 'unknown', examples: [] };
    const has = (path: string): boolean => typesIn(path).includes(type);
    const inDiff = changedTests.filter(has);
    if (inDiff.length > 0) return { type, state: 'in-diff', examples: inDiff.slice(0, EXAMPLES) };
    const nearby = tree.filter((path) => has(path) && isNear(path, type)).slice(0, EXAMPLES);
    return { type, state: nearby.length > 0 ? 'nearby' : 'missing', examples: nearby };
  });
}

/** Folders that contain packages. */
const packageFolders = new Set('packages apps services libs modules crates plugins projects'.split(' '));

/**
 * A unit test is near a file if it is named after it in the same package, or is in its folder or in a test folder
 * inside it. Tests of other types belong to a package, or to the repository as a whole.
 */
function nearnessTo(subjects: readonly string[]): (test: string, type: string) => boolean {
  const named = new Set(subjects.map((path) => `${packageOf(path)}\0${subjectOf(path)}`));
  const folders = new Set(subjects.map(folderOf));
  const packages = new Set(subjects.map(packageOf));
  return (test, type) => {
    const own = packageOf(test);
    if (type !== 'unit' && type !== 'component') return own === '' || packages.has(own);
    const beside = folderOf(test).replace(/(?:^|\/)(?:__tests__|tests?|spec)$/, '');
    const subject = subjectOf(test);
    return (
      folders.has(folderOf(test)) ||
      folders.has(beside) ||
      named.has(`${own}\0${subject}`) ||
      // Tests of the whole repository in a separate tree: `tests/shop/test_cart.py`.
      (own === '' && [...packages].some((name) => named.has(`${name}\0${subject}`)))
    );
  };
}

/** `packages/core` for a file in it; empty for one that belongs to the repository as a whole. */
function packageOf(path: string): string {
  const [first = '', second, third] = path.split('/');
  return packageFolders.has(first) && second !== undefined && third !== undefined ? `${first}/${second}` : '';
}
