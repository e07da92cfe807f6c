// How a worktree is set up if nothing is configured: by a Makefile with a target `setup`, else by the lockfile of each
// package manager. The first row of a language wins.

export type SetupCommand = {
  program: string;
  args: readonly string[];
  /** The file that requires it. */
  because: string;
  /** What to do if the program is missing. */
  remedy: string;
};

type Row = {
  language: string;
  lockfile: string;
  command: readonly [string, ...string[]];
  /** Only if this file exists too. */
  beside?: string;
  install: string;
};

const corepack = 'Install it: corepack enable';

const rows: readonly Row[] = [
  row('JavaScript', 'pnpm-lock.yaml', 'pnpm install --frozen-lockfile', corepack),
  { ...row('JavaScript', 'yarn.lock', 'yarn install --immutable', corepack), beside: '.yarnrc.yml' },
  row('JavaScript', 'yarn.lock', 'yarn install --frozen-lockfile', corepack),
  row('JavaScript', 'bun.lock', 'bun install --frozen-lockfile', 'Install Bun: https://bun.sh'),
  row('JavaScript', 'bun.lockb', 'bun install --frozen-lockfile', 'Install Bun: https://bun.sh'),
  row('JavaScript', 'package-lock.json', 'npm ci', 'Install Node.js: https://nodejs.org'),
  row('JavaScript', 'npm-shrinkwrap.json', 'npm ci', 'Install Node.js: https://nodejs.org'),
  row('JavaScript', 'deno.lock', 'deno install --frozen', 'Install Deno: https://deno.com'),
  row('Python', 'uv.lock', 'uv sync --locked', 'Install uv: https://docs.astral.sh/uv'),
  row(
    'Python',
    'poetry.lock',
    'poetry install --no-interaction',
    'Install Poetry: https://python-poetry.org',
  ),
  row('Python', 'pdm.lock', 'pdm install --frozen-lockfile', 'Install PDM: https://pdm-project.org'),
  row('Python', 'Pipfile.lock', 'pipenv sync', 'Install Pipenv: https://pipenv.pypa.io'),
  row('Rust', 'Cargo.lock', 'cargo fetch --locked', 'Install Rust: https://rustup.rs'),
  row('Go', 'go.sum', 'go mod download', 'Install Go: https://go.dev'),
  row('Ruby', 'Gemfile.lock', 'bundle install', 'Install Bundler: gem install bundler'),
  row('PHP', 'composer.lock', 'composer install --no-interaction', 'Install it: https://getcomposer.org'),
  row('Elixir', 'mix.lock', 'mix deps.get --check-locked', 'Install Elixir: https://elixir-lang.org'),
  row('Dart', 'pubspec.lock', 'dart pub get --enforce-lockfile', 'Install Dart: https://dart.dev'),
  row('.NET', 'packages.lock.json', 'dotnet restore --locked-mode', 'Install .NET: https://dot.net'),
];

/** The file names that make searches for, in its order. */
export const makefileNames = ['GNUmakefile', 'makefile', 'Makefile'] as const;

/** The setup commands for the files at a worktree's root. `makefile` is the text of the file that make would read. */
export function detectSetup(files: readonly string[], makefile: string | undefined): SetupCommand[] {
  const present = new Set(files);
  if (makefile !== undefined && hasSetupTarget(makefile)) {
    const because = makefileNames.find((name) => present.has(name)) ?? 'Makefile';
    return [{ program: 'make', args: ['setup'], because, remedy: withWayOut('Install make.') }];
  }
  const found = new Map<string, SetupCommand>();
  for (const { language, lockfile, beside, command, install } of rows) {
    if (found.has(language) || !present.has(lockfile)) continue;
    if (beside !== undefined && !present.has(beside)) continue;
    const [program, ...args] = command;
    found.set(language, { program, args, because: lockfile, remedy: withWayOut(install) });
  }
  return [...found.values()];
}

/** A rule `setup:`, also among several targets; a variable (`setup := …`) does not count. */
function hasSetupTarget(text: string): boolean {
  return text.split('\n').some((line) => /^(?:[\w./%-]+ +)*setup(?: +[\w./%-]+)* *::?(?![:=])/.test(line));
}

function row(language: string, lockfile: string, command: string, install: string): Row {
  const [program = '', ...args] = command.split(' ');
  return { language, lockfile, command: [program, ...args], install };
}

function withWayOut(install: string): string {
  return `${install.replace(/\.$/, '')}; or list the setup commands in svc.worktree.setup.`;
}
