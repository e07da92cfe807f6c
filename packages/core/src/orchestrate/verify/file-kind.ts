// What a file is, by its path alone: its language, and whether it is a test, documentation, part of the build
// pipeline, or nobody's own work.

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

/** In lower case, without the dot; empty when there is none. */
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

/** The names of the folders on the way, in lower case. */
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

/** A file of a known language that holds tests or helps them. */
export function isTestFile(path: string): boolean {
  if (languageOf(path) === 'other') return false;
  const name = fileNameOf(path);
  return testNames.some((pattern) => pattern.test(name)) || foldersOf(path).some((f) => testFolders.has(f));
}

/** Its name says that it holds tests; a file that only lies among tests may help them. */
export function isNamedTest(path: string): boolean {
  return isTestFile(path) && testNames.some((pattern) => pattern.test(fileNameOf(path)));
}

const documentation = new Set('md mdx markdown rst adoc asciidoc txt org tex pdf'.split(' '));
const documentationFolders = new Set(['docs', 'doc', 'documentation', 'man']);
const documentationAssets = new Set('png jpg jpeg gif svg webp drawio puml mmd'.split(' '));
const documentationNames =
  /^(?:license|licence|notice|authors|codeowners|contributors|changelog|readme|copying)$/i;

export function isDocumentation(path: string): boolean {
  const extension = extensionOf(path);
  // These are read by programs.
  if (/^(?:requirements[^/]*|robots|cmakelists|constraints[^/]*)\.txt$/i.test(fileNameOf(path))) return false;
  if (documentation.has(extension) || documentationNames.test(fileNameOf(path))) return true;
  return documentationAssets.has(extension) && foldersOf(path).some((f) => documentationFolders.has(f));
}

const pipelineNames =
  /^(?:\.gitlab-ci\.ya?ml|jenkinsfile|makefile|gnumakefile|justfile|taskfile\.ya?ml|azure-pipelines\.ya?ml|bitbucket-pipelines\.ya?ml|\.travis\.ya?ml|package\.json|tox\.ini|noxfile\.py|pom\.xml|build\.gradle(?:\.kts)?|composer\.json|deno\.jsonc?)$/i;
const pipelineFolders = /^(?:\.github\/workflows|\.github\/actions|\.circleci|\.buildkite|\.ci|ci)\//;

/** Where it is written how the tests are run. */
export function isPipeline(path: string): boolean {
  return (
    pipelineNames.test(fileNameOf(path)) ||
    pipelineFolders.test(path) ||
    (languageOf(path) === 'shell' && !path.endsWith('.bats'))
  );
}

const foreignFolders = new Set(
  'node_modules vendor third_party thirdparty dist build out target .yarn generated __generated__'.split(' '),
);
const foreignNames = /\.min\.(?:js|css)$|[._]generated\.|\.pb\.go$|_pb2(?:_grpc)?\.py$|\.g\.dart$|\.d\.ts$/i;

/** Made by a program or by others. */
export function isForeign(path: string): boolean {
  return foreignNames.test(fileNameOf(path)) || foldersOf(path).some((folder) => foreignFolders.has(folder));
}

const pretendFolders = new Set(
  (
    'mocks mock __mocks__ fakes fake fixtures fixture __fixtures__ stubs testdata test-data testkit testutil ' +
    'testutils test-utils examples example samples stories storybook .storybook demo demos'
  ).split(' '),
);

/** Code that is shipped: no test, no help for tests, no example. */
export function isProduction(path: string): boolean {
  if (languageOf(path) === 'other' || isTestFile(path) || isForeign(path)) return false;
  if (/\.(?:mock|mocks|fake|fixture|fixtures|stories|story)\.[a-z]{1,6}$/i.test(fileNameOf(path)))
    return false;
  return !foldersOf(path).some((folder) => pretendFolders.has(folder));
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
