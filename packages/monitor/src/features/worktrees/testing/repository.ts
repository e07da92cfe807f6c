// A real repository with a remote beside it, and its worktrees, all in one folder.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { WAIT_MS } from '@svc/testkit';
import { createFileLocks } from '../../../kernel/disk/lock.ts';
import { Config } from '../../config.ts';
import { createWorktrees, type Worktrees } from '../io/worktrees.ts';
import { noFindings } from './no-findings.ts';

type Options = {
  config?: Partial<Record<'worktree' | 'orchestration' | 'thoughts' | 'project' | 'monitor' | 'ai', object>>;
  now?: () => Date;
  stepTimeoutMs?: number;
  environment?: Record<string, string>;
};

export type TestRepository = {
  folder: string;
  home: string;
  base: string;
  environment: Record<string, string>;
  git: (folder: string, ...args: string[]) => string;
  worktrees: (options?: Options) => Worktrees;
  write: (folder: string, path: string, text: string) => void;
  commit: (folder: string, path: string, text: string) => string;
  read: (folder: string, path: string) => string;
  branches: () => string[];
  /** Every file of the base folder, without the worktrees' `.git` and folders. */
  files: () => string[];
};

function write(at: string, path: string, text: string | Buffer): void {
  mkdirSync(dirname(join(at, path)), { recursive: true });
  writeFileSync(join(at, path), text);
}

const environmentIn = (home: string) => ({
  PATH: process.env['PATH'] ?? '',
  HOME: home,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Kim',
  GIT_AUTHOR_EMAIL: 'kim@acme.example',
  GIT_COMMITTER_NAME: 'Kim',
  GIT_COMMITTER_EMAIL: 'kim@acme.example',
});

function gitWith(environment: Record<string, string>) {
  const git = (at: string, ...args: string[]): string =>
    execFileSync('git', ['-C', at, ...args], {
      env: environment,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  const commit = (at: string, path: string, text: string): string => {
    write(at, path, text);
    git(at, 'add', '--', path);
    git(at, 'commit', '-q', '-m', `change ${path}`);
    return git(at, 'rev-parse', 'HEAD');
  };
  return { git, commit };
}

/** The first repository of this process: the others are copies, because git needs ten processes for one. */
let made: { root: string; files: Map<string, Buffer> } | undefined;

function makeRepository(root: string): void {
  if (made === undefined) {
    askGit(root);
    made = { root, files: readFiles(root, ['web', 'origin.git']) };
    return;
  }
  for (const [path, bytes] of made.files) write(root, path, bytes);
  const config = join(root, 'web', '.git', 'config');
  writeFileSync(config, readFileSync(config, 'utf8').replace(made.root, root));
}

function readFiles(root: string, folders: readonly string[]): Map<string, Buffer> {
  const entries = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true }),
  );
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(paths.map((path) => [relative(root, path), readFileSync(path)]));
}

function askGit(root: string): void {
  const folder = join(root, 'web');
  const { git, commit } = gitWith(environmentIn(root));
  mkdirSync(folder, { recursive: true });
  git(folder, 'init', '-q', '-b', 'main', '--template=');
  commit(folder, 'README.md', 'one\n');
  commit(folder, '.gitignore', 'node_modules/\n');
  git(root, 'init', '-q', '--bare', '-b', 'main', '--template=', 'origin.git');
  git(folder, 'remote', 'add', 'origin', join(root, 'origin.git'));
  git(folder, 'push', '-q', '-u', 'origin', 'main');
}

export function testRepository(root: string, options: Options = {}): TestRepository {
  const folder = join(root, 'web');
  const home = join(root, 'home');
  const dataDir = join(home, 'svc');
  const locksDir = join(dataDir, 'locks');
  const base = join(dataDir, 'wt', 'demo');
  const environment = environmentIn(home);
  const { git, commit } = gitWith(environment);
  mkdirSync(home, { recursive: true });
  makeRepository(root);
  return {
    folder,
    home,
    base,
    environment,
    git,
    write,
    commit,
    read: (at, path) => readFileSync(join(at, path), 'utf8'),
    branches: () => git(folder, 'for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n'),
    files: () =>
      existsSync(base)
        ? readdirSync(base, { recursive: true, withFileTypes: true })
            .filter((entry) => !entry.isDirectory())
            .map((entry) => join(entry.parentPath, entry.name).slice(base.length + 1))
            .toSorted()
        : [],
    worktrees: (given = {}) =>
      createWorktrees({
        projectFolder: folder,
        config: Config.parse({ svc: { projectKey: 'demo', ...options.config, ...given.config } }),
        home,
        dataDir,
        locksDir,
        locks: createFileLocks({ folder: locksDir, timeoutMs: WAIT_MS }),
        findings: noFindings,
        environment: { ...environment, ...options.environment, ...given.environment },
        now: given.now ?? options.now ?? (() => new Date()),
        stepTimeoutMs: given.stepTimeoutMs ?? options.stepTimeoutMs ?? WAIT_MS,
      }),
  };
}
