// Where the worktrees of a project are: which repository, which base folder. Everything that is made for a
// worktree lies in the base folder: `<name>/`, and beside them `.records/`, `.logs/` and `.kept/`.

import { lstat, mkdir, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { Config } from '@svc/core';
import { ifPresent } from '@svc/lib/files';
import { Failure } from '../../errors.ts';
import { type Git, gitWorktrees } from './git.ts';

export type Place = {
  /** The folder of the main worktree; git is asked there. */
  main: string;
  /** The project's folder in the repository, and so in each worktree; empty when it is the root. */
  inside: string;
  /** Its real path. Made when it was not there. */
  base: string;
};

export async function findPlace(options: {
  git: Git;
  projectFolder: string;
  config: Config;
  home: string;
  dataDir: string;
}): Promise<Place> {
  const { git, projectFolder } = options;
  const top = await git.ask(projectFolder, ['rev-parse', '--show-toplevel']);
  const [main] = top.exitCode === 0 ? await gitWorktrees(git, projectFolder) : [];
  if (main === undefined || main.bare) {
    throw new Failure(
      'not-configured',
      `${projectFolder} is not in a git repository with a working tree, so that it has no worktrees.`,
      'Run it in a checkout of the project.',
    );
  }
  // Asked from a worktree, the place is still that of the main one.
  const inside = relative(top.stdout.replace(/\n$/, ''), await realpath(projectFolder));
  const wanted = baseFolder({ ...options, projectFolder: join(main.path, inside) });
  await mkdir(wanted, { recursive: true, mode: 0o755 });
  return { main: main.path, inside, base: await realpath(wanted) };
}

/** `svc.orchestration.worktreeDir`, else `wt/<projectKey>` in the data root. */
function baseFolder(options: {
  projectFolder: string;
  config: Config;
  home: string;
  dataDir: string;
}): string {
  const { svc } = options.config;
  const configured = svc.orchestration.worktreeDir;
  if (configured !== null) {
    if (configured === '~') return options.home;
    if (configured.startsWith('~/')) return join(options.home, configured.slice(2));
    return isAbsolute(configured) ? resolve(configured) : resolve(options.projectFolder, configured);
  }
  if (svc.projectKey !== undefined) return join(options.dataDir, 'wt', svc.projectKey);
  throw new Failure(
    'not-configured',
    'The folder for worktrees is not known: neither svc.orchestration.worktreeDir nor svc.projectKey is set.',
    'Set one: svc config set svc.projectKey <key>',
  );
}

/** The folder of a worktree, which is always directly in the base. */
export function folderIn(base: string, folder: string): string {
  const path = join(base, folder);
  if (dirname(path) !== base || basename(path) !== folder || folder.startsWith('.'))
    throw new Error(`${JSON.stringify(folder)} is not the name of a folder`);
  return path;
}

/** Whether something is at the path, a link that leads nowhere included. */
export async function isThere(path: string): Promise<boolean> {
  return (await ifPresent(lstat(path))) !== undefined;
}

export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way));
}
