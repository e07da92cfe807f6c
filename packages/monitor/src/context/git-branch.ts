// The branch that is checked out in a worktree, read from git's own files: a shell may ask at every prompt, and starting
// git would take longer than everything else.

import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ifPresentSync } from '@svc/lib/files';

/** Null if there is no repository, or no branch is checked out. */
export function gitBranch(root: string): string | null {
  const folder = gitFolder(root);
  const head = folder && readIfPresent(join(folder, 'HEAD'));
  return /^ref: refs\/heads\/(.+)$/.exec(head?.trim() ?? '')?.[1] ?? null;
}

/** In a linked worktree `.git` is a file that names the folder. */
function gitFolder(root: string): string | undefined {
  const dotGit = join(root, '.git');
  if (statSync(dotGit, { throwIfNoEntry: false })?.isDirectory()) return dotGit;
  const named = /^gitdir: (.+)$/.exec(readIfPresent(dotGit)?.trim() ?? '')?.[1];
  return named === undefined ? undefined : resolve(root, named);
}

function readIfPresent(file: string): string | undefined {
  return ifPresentSync(() => readFileSync(file, 'utf8'));
}
