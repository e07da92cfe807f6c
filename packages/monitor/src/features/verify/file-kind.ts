// Classifies a file by its path alone: its language, whether it is a test, documentation or generated, and whether it
// belongs to the frontend or the backend.

export type Language =
  | 'javascript'
  | 'python'
  | 'go'
  | 'rust'
  | 'jvm'
  | 'dotnet'
  | 'ruby'
  | 'php'
  | 'swift'
  | 'elixir'
  | 'dart'
  | 'c'
  | 'shell'
  | 'other';

const languages: Readonly<Record<Exclude<Language, 'other'>, string>> = {
  javascript: 'js jsx mjs cjs ts tsx mts cts vue svelte astro',
  python: 'py pyi',
  go: 'go',
  rust: 'rs',
  jvm: 'java kt kts groovy scala',
  dotnet: 'cs fs vb',
  ruby: 'rb rake',
  php: 'php',
  swift: 'swift',
  elixir: 'ex exs',
  dart: 'dart',
  c: 'c h cc cpp cxx hpp m mm',
  shell: 'sh bash zsh bats',
};

const languageByExtension = new Map(
  Object.entries(languages).flatMap(([language, extensions]) =>
    extensions.split(' ').map((extension) => [extension, language as Language] as const),
  ),
);

export function languageOf(path: string): Language {
  return languageByExtension.get(extensionOf(path)) ?? 'other';
}

/** In lower case, without the dot; empty if there is none. */
export function extensionOf(path: string): string {
  const name = fileNameOf(path);
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? '' : name.slice(dot + 1).toLowerCase();
}

export function fileNameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function folderOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '' : path.slice(0, slash);
}

/** The names of the folders in the path, in lower case. */
export function foldersOf(path: string): string[] {
  const folder = folderOf(path);
  return folder === '' ? [] : folder.toLowerCase().split('/');
}

const testFolders = new Set(
  (
    'test tests __tests__ testing spec specs e2e end-to-end cypress playwright integration integration-tests ' +
    'integration_tests unit-tests unittests androidtest testfixtures'
  ).split(' '),
);
const testNames = [
  /[.-](?:test|tests|spec|specs|e2e|e2e-spec|cy|pact|bench)\.[a-z]{1,6}$/i,
  /^test_[^/]*\.py$/i,
  /^conftest\.py$/,
  /_(?:test|tests|spec)\.[a-z]{1,4}$/i,
  /(?:Test|Tests|TestCase|Spec|Specs|IT)\.(?:java|kt|groovy|scala|cs|fs|vb|php|swift|m|mm|cpp|cc)$/,
  /^Test[A-Z][^/]*\.(?:java|kt|php|swift)$/,
  /\.bats$/,
];

/** A file of a known language that contains tests or helpers for them. */
export function isTestFile(path: string): boolean {
  if (languageOf(path) === 'other') return false;
  const name = fileNameOf(path);
  return testNames.some((pattern) => pattern.test(name)) || foldersOf(path).some((f) => testFolders.has(f));
}

/** Its name identifies it as a test; a file that is only in a test folder may be a helper. */
export function isNamedTest(path: string): boolean {
  return isTestFile(path) && testNames.some((pattern) => pattern.test(fileNameOf(path)));
}

const documentation = new Set('md mdx markdown rst adoc asciidoc txt org tex pdf'.split(' '));
const documentationFolders = new Set(['docs', 'doc', 'documentation', 'man']);
const documentationAssets = new Set('png jpg jpeg gif svg webp drawio puml mmd'.split(' '));
const documentationNames =
  /^(?:license|licence|notice|authors|codeowners|contributors|changelog|readme|copying)$/i;

function isDocumentation(path: string): boolean {
  const extension = extensionOf(path);
  // These are read by programs.
  if (/^(?:requirements[^/]*|robots|cmakelists|constraints[^/]*)\.txt$/i.test(fileNameOf(path))) return false;
  if (documentation.has(extension) || documentationNames.test(fileNameOf(path))) return true;
  return documentationAssets.has(extension) && foldersOf(path).some((f) => documentationFolders.has(f));
}

const foreignFolders = new Set(
  'node_modules vendor third_party thirdparty dist build out target .yarn generated __generated__'.split(' '),
);
const foreignNames = /\.min\.(?:js|css)$|[._]generated\.|\.pb\.go$|_pb2(?:_grpc)?\.py$|\.g\.dart$|\.d\.ts$/i;

/** Generated, or third-party code. */
export function isForeign(path: string): boolean {
  return foreignNames.test(fileNameOf(path)) || foldersOf(path).some((folder) => foreignFolders.has(folder));
}

/** `cart` for `cart.ts`, `cart.test.ts`, `test_cart.py`, `cart_test.go` and `CartTest.java`. */
export function subjectOf(path: string): string {
  return fileNameOf(path)
    .replace(/\.[a-z0-9]{1,6}$/i, '')
    .replace(/^test_/i, '')
    .replace(
      /[._-](?:test|tests|spec|specs|e2e|e2e-spec|cy|unit|integration|int|pact|api|contract|component|visual|bench|perf)(?:[._-](?:test|tests|spec))?$/i,
      '',
    )
    .replace(/^Test(?=[A-Z])|(?:IntegrationTests?|Tests?|TestCase|Specs?|IT)$/, '')
    .toLowerCase();
}

export const diffScopes = ['backend', 'frontend', 'fullstack', 'docs-only'] as const;
export type DiffScope = (typeof diffScopes)[number];

/**
 * The extension decides if it is unambiguous, else the nearest folder with a known name; other code belongs to the
 * backend.
 */
type Side = 'backend' | 'frontend';

const sideExtensions: Readonly<Record<Side, string>> = {
  frontend: 'tsx jsx vue svelte astro css scss sass less styl html htm hbs storyboard xib',
  backend:
    'py pyi go rs java kt kts groovy scala cs fs vb rb rake php ex exs c h cc cpp cxx hpp sql proto prisma graphql tf',
};
const sideFolders: Readonly<Record<Side, string>> = {
  frontend:
    'frontend front-end client clients web webapp www ui gui components component pages views layouts styles ' +
    'hooks public assets browser dashboard storybook stories android ios mobile',
  backend:
    'backend back-end server servers api apis services service db database migrations migration workers worker ' +
    'jobs queue queues cmd internal controllers models routes handlers lambda lambdas functions cli daemon core',
};
/** Phone apps are written in languages that are used for backends elsewhere. */
const appFolders = new Set(['android', 'ios', 'mobile']);

const sideOf = (table: Readonly<Record<Side, string>>): ReadonlyMap<string, Side> =>
  new Map(
    (['frontend', 'backend'] as const).flatMap((side) =>
      table[side].split(' ').map((word) => [word, side] as const),
    ),
  );
const sideByExtension = sideOf(sideExtensions);
const sideByFolder = sideOf(sideFolders);

/** `scopeOfDiff(['web/cart.tsx', 'server/cart.go'])` is `fullstack`. Nothing changed is `docs-only`. */
export function scopeOfDiff(paths: readonly string[]): DiffScope {
  const others = paths.filter((path) => !isDocumentation(path));
  if (others.length === 0) return 'docs-only';
  const sides = new Set(others.map(voteOf));
  if (sides.has('frontend') && sides.has('backend')) return 'fullstack';
  return sides.has('frontend') ? 'frontend' : 'backend';
}

/** Whether tests can be required for it: code or style, not settings and data. */
export function isSubjectToTests(path: string): boolean {
  return !isDocumentation(path) && !isForeign(path) && voteOf(path) !== undefined;
}

function voteOf(path: string): Side | undefined {
  const onTheWay = foldersOf(path);
  if (onTheWay.some((folder) => appFolders.has(folder)) && languageOf(path) !== 'other') return 'frontend';
  const clear = sideByExtension.get(extensionOf(path));
  if (clear !== undefined) return clear;
  if (languageOf(path) === 'other' || isSettings(path)) return undefined;
  const nearest = onTheWay.findLast((folder) => sideByFolder.has(folder));
  return nearest === undefined ? 'backend' : sideByFolder.get(nearest);
}

/** `vite.config.ts` belongs to neither side. */
function isSettings(path: string): boolean {
  return /\.(?:config|conf|rc)$/.test(fileNameOf(path).replace(/\.[a-z]{2,3}$/, ''));
}
