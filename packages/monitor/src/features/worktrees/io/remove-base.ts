// Removes what svc keeps beside the worktrees of a project, once no worktree is left: records, logs, what a verification
// left, and the refs of unfinished bundles. Bundles move to a place that stays. Links are removed, never followed.
import { mkdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { linesOf } from '@svc/lib/git';
import { copyFile, lstat, namesIn } from '@svc/lib/paths';
import { removeTree } from '../../../kernel/disk/private-file.ts';
import { keptFolder } from './bundle.ts';
import { isInside, type WorktreeContext } from './context.ts';
import { gitWorktrees, LONG_MS } from './git.ts';

/** `others`: what svc did not create there. */
export type RemovedBase = { others: string[] };

const ownFolders = ['.records', '.logs', '.verify', '.kept'];

export async function removeBase(
  { git, layout }: WorktreeContext,
  { keepIn }: { keepIn: string },
): Promise<RemovedBase> {
  const { main, base } = layout;
  for (const { path } of await gitWorktrees(git, main))
    if (path !== base && isInside(join(base, '.verify'), path))
      await git.ask(main, ['worktree', 'remove', '--force', '--force', '--', path], { timeoutMs: LONG_MS });
  await moveBundles(keptFolder(base), keepIn);
  for (const name of ownFolders) await removeTree(join(base, name));
  // Left by a removal that was killed.
  for (const name of await namesIn(base))
    if (name.startsWith('.index-')) await rm(join(base, name), { force: true });
  for (const ref of linesOf(await git.run(main, ['for-each-ref', '--format=%(refname)', 'refs/svc/kept'])))
    await git.run(main, ['update-ref', '-d', ref]);
  const others = await namesIn(base);
  if (others.length === 0) await ifPresent(rmdir(base));
  return { others };
}

async function moveBundles(from: string, to: string): Promise<void> {
  if ((await ifPresent(lstat(from)))?.isDirectory() !== true) return;
  for (const name of await namesIn(from)) {
    if (!(await lstat(join(from, name))).isFile()) continue;
    await mkdir(to, { recursive: true, mode: 0o700 });
    await moveFile(join(from, name), join(to, name));
  }
}

async function moveFile(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    // Another disk. A copy that was interrupted is made again.
    if (systemErrorCode(error) !== 'EXDEV') throw error;
    await rm(to, { force: true });
    await copyFile(from, to);
    await rm(from);
  }
}
