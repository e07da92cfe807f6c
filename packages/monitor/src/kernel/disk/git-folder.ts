// What is read from git's own files: a shell may ask at every prompt, and starting git would take longer than everything
// else.
import { dirname, join, resolve } from 'node:path';
import { ifAllowed } from '@svc/lib/files';
import { isFolder, isThere, readText } from '@svc/lib/paths';

/** The git worktree that contains the folder, else the folder itself. */
export async function worktreeRoot(start: string): Promise<string> {
  for (let folder = resolve(start); dirname(folder) !== folder; folder = dirname(folder)) {
    if (await isThere(join(folder, '.git'))) return folder;
  }
  return resolve(start);
}

/** The branch that is checked out. Null if there is no repository, or no branch is checked out. */
export async function gitBranch(root: string): Promise<string | null> {
  const folder = await gitFolder(root);
  const head = folder && (await readSmall(join(folder, 'HEAD')));
  return /^ref: refs\/heads\/(.+)$/.exec(head?.trim() ?? '')?.[1] ?? null;
}

/** In a linked worktree `.git` is a file that names the folder. */
async function gitFolder(root: string): Promise<string | undefined> {
  const dotGit = join(root, '.git');
  if (await isFolder(dotGit)) return dotGit;
  const named = /^gitdir: (.+)$/.exec((await readSmall(dotGit))?.trim() ?? '')?.[1];
  return named === undefined ? undefined : resolve(root, named);
}

const LARGEST_GIT_FILE = 64 * 1024;

/** Undefined if it cannot be read, whatever the reason. */
function readSmall(file: string): Promise<string | undefined> {
  return ifAllowed(readText(file, { most: LARGEST_GIT_FILE }));
}
