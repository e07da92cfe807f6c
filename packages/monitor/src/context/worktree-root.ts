// The folder that a helper script works on: the git worktree that contains the starting folder, else that folder itself.
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export function worktreeRoot(start: string): string {
  for (let folder = resolve(start); dirname(folder) !== folder; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder;
  }
  return resolve(start);
}
