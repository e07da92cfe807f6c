// The command that tests a project, if none is configured: by the files at its root, in the order of this table.
import { makefileNames } from '../worktrees/detect-setup.ts';

export type RootFiles = {
  names: readonly string[];
  /** The text of a file at the root; undefined if it is missing or too large. */
  text: (name: string) => string | undefined;
};

export type TestCommand = { command: string; from: string };

type Row = (files: RootFiles, has: (name: string) => boolean) => TestCommand | undefined;

const rows: readonly Row[] = [
  ({ text }, has) => {
    const script = testScriptIn(text('package.json'));
    if (script === undefined || isNothing(script)) return undefined;
    return { command: `${packageManager(has)} test`, from: 'package.json' };
  },
  ({ text }, has) => {
    const name = makefileNames.find(has);
    return name !== undefined && hasTestTarget(text(name) ?? '')
      ? { command: 'make test', from: name }
      : undefined;
  },
  ({ text }, has) => {
    const from = pytestFile(text, has);
    return from === undefined ? undefined : { command: `${pythonRunner(has)} pytest`, from };
  },
  fixed('Cargo.toml', 'cargo test'),
  fixed('go.mod', 'go test ./...'),
  fixed('mix.exs', 'mix test'),
  fixed('.rspec', 'bundle exec rspec'),
  fixed('gradlew', './gradlew test'),
  fixed('mvnw', './mvnw -B test'),
  fixed('pom.xml', 'mvn -B test'),
  fixed('phpunit.xml', 'vendor/bin/phpunit'),
  fixed('phpunit.xml.dist', 'vendor/bin/phpunit'),
  fixed('Package.swift', 'swift test'),
  ({ names }) => {
    const from = names.find((name) => /\.(?:sln|slnx)$/.test(name));
    return from === undefined ? undefined : { command: 'dotnet test', from };
  },
  fixed('deno.json', 'deno test'),
  fixed('deno.jsonc', 'deno test'),
];

/** Undefined if no file shows how the project is tested. */
export function detectTestCommand(files: RootFiles): TestCommand | undefined {
  const present = new Set(files.names);
  for (const row of rows) {
    const found = row(files, (name) => present.has(name));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The files whose text may be read. */
export const testCommandFiles: readonly string[] = [
  'package.json',
  ...makefileNames,
  'pyproject.toml',
  'setup.cfg',
  'tox.ini',
];

function fixed(from: string, command: string): Row {
  return (_files, has) => (has(from) ? { command, from } : undefined);
}

function testScriptIn(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    // A broken file gives no command; programs that need it fail anyway.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const scripts = isObject(data) && Object.hasOwn(data, 'scripts') ? data['scripts'] : undefined;
  const script = isObject(scripts) && Object.hasOwn(scripts, 'test') ? scripts['test'] : undefined;
  return typeof script === 'string' ? script : undefined;
}

/** What `npm init` writes, or a command that can only succeed. */
function isNothing(script: string): boolean {
  const plain = script.trim();
  return (
    plain === '' ||
    /no test specified/i.test(plain) ||
    /^(?:true|:|exit 0)$/.test(plain) ||
    /^echo\b[^&|;]*(?:&& ?(?:true|exit 0))?$/.test(plain.slice(0, 500))
  );
}

function packageManager(has: (name: string) => boolean): string {
  if (has('pnpm-lock.yaml')) return 'pnpm';
  if (has('yarn.lock')) return 'yarn';
  return has('bun.lock') || has('bun.lockb') ? 'bun run' : 'npm';
}

/** A rule `test:`, also among several targets; a variable does not count. */
function hasTestTarget(text: string): boolean {
  return text.split('\n').some((line) => {
    const colon = line.indexOf(':');
    if (colon < 0 || line.startsWith('\t') || /^:{0,3}=/.test(line.slice(colon + 1))) return false;
    const targets = line.slice(0, colon).split(' ');
    return targets.includes('test') && !targets.includes('=');
  });
}

function pytestFile(text: RootFiles['text'], has: (name: string) => boolean): string | undefined {
  const plain = ['pytest.ini', '.pytest.ini', 'conftest.py'].find(has);
  if (plain !== undefined) return plain;
  if (/^\[tool\.pytest\b/m.test(text('pyproject.toml') ?? '')) return 'pyproject.toml';
  if (/^\[tool:pytest\]/m.test(text('setup.cfg') ?? '')) return 'setup.cfg';
  if (/^\[pytest\]/m.test(text('tox.ini') ?? '')) return 'tox.ini';
  const isPython = ['pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt'].some(has);
  return isPython && (has('tests') || has('test')) ? 'tests' : undefined;
}

function pythonRunner(has: (name: string) => boolean): string {
  if (has('uv.lock')) return 'uv run';
  if (has('poetry.lock')) return 'poetry run';
  if (has('pdm.lock')) return 'pdm run';
  return has('Pipfile.lock') ? 'pipenv run' : 'python3 -m';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
