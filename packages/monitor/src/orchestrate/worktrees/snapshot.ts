// The uncommitted state of a worktree as a commit, in the shape of a stash (`git stash apply` takes it), untracked
// files and the findings that wait included. Made with an index of its own: neither the worktree, its index nor the person's stash changes.
import { copyFile, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Failure, systemErrorCode } from '../../errors.ts';
import { type Git, LONG_MS } from './git.ts';

const identity = { GIT_AUTHOR_NAME: 'svc', GIT_AUTHOR_EMAIL: 'svc@localhost' };
const committer = { GIT_COMMITTER_NAME: 'svc', GIT_COMMITTER_EMAIL: 'svc@localhost' };

export async function snapshotOf(options: {
  git: Git;
  worktree: string;
  head: string;
  /** Folders in it that are kept although git is told to leave them alone. */
  alsoIgnored: readonly string[];
  /** A file that is not there yet; it is gone again afterwards. */
  temporaryIndex: string;
}): Promise<string> {
  const { git, worktree, head, temporaryIndex } = options;
  const environment = { GIT_INDEX_FILE: temporaryIndex, ...identity, ...committer };
  const run = async (...args: string[]): Promise<string> =>
    (await git.run(worktree, args, { environment, timeoutMs: LONG_MS })).trim();
  const commit = (tree: string, parents: string[], words: string): Promise<string> =>
    run('commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-m', words);
  try {
    await copyIndex(git, worktree, temporaryIndex);
    // In the middle of a conflict the index is no tree.
    const index = await git.ask(worktree, ['write-tree'], { environment });
    const indexTree = index.exitCode === 0 ? index.stdout.trim() : await run('rev-parse', `${head}^{tree}`);
    const staged = await commit(indexTree, [head], 'What was staged');
    // Line ends stay as they are in the files.
    const asTheyAre = ['-c', 'core.autocrlf=false', '-c', 'core.safecrlf=false'];
    const add = [...asTheyAre, '-c', 'advice.addEmbeddedRepo=false', 'add', '--all', '--sparse'];
    await run(...add, '--', ':/');
    for (const folder of options.alsoIgnored) await run(...add, '--force', '--', `:(top,literal)${folder}`);
    const snapshot = await commit(await run('write-tree'), [head, staged], 'What was not committed');
    await refuseNested(git, worktree, head, snapshot);
    return snapshot;
  } finally {
    await rm(temporaryIndex, { force: true });
    await rm(`${temporaryIndex}.lock`, { force: true });
  }
}

async function copyIndex(git: Git, worktree: string, to: string): Promise<void> {
  const index = (await git.run(worktree, ['rev-parse', '--git-path', 'index'])).replace(/\n$/, '');
  try {
    await copyFile(resolve(worktree, index), to);
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw error;
  }
}

/** A repository inside the worktree is only named by a commit, its files are not in it. */
async function refuseNested(git: Git, worktree: string, head: string, snapshot: string): Promise<void> {
  const text = await git.run(worktree, ['diff-tree', '-r', '-z', '--raw', '--no-renames', head, snapshot]);
  const records = text.split('\0');
  const nested = records.flatMap((record, at) =>
    /^:\d+ 160000 /.test(record) ? [records[at + 1] ?? ''] : [],
  );
  if (nested.length === 0) return;
  throw new Failure(
    'not-allowed-now',
    `${worktree} has a git repository inside that cannot be kept: ${nested.slice(0, 5).join(', ')}.`,
    'Move it away, or push what is in it and delete it; then remove the worktree.',
  );
}
