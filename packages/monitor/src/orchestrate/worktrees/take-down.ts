// Takes a worktree down, whatever is left of it: git's entry, the folder, the branch, its trust, its record.
// Nothing is asked here: what had to be kept is kept, or there was nothing yet.
import { removeTree } from '../../disk/remove-tree.ts';
import { LONG_MS } from './git.ts';
import { gitWorktrees } from './git-worktrees.ts';
import { isThere } from './place.ts';
import type { Room } from './room.ts';

export async function takeDown(
  room: Room,
  worktree: {
    name: string;
    path: string;
    /** The branch goes only while it is still at this commit. */
    branch?: { name: string; at: string } | undefined;
  },
): Promise<{ branchRemoved: boolean; warnings: string[] }> {
  const { git, place, records, trust } = room;
  const { name, path, branch } = worktree;
  const isKnown = async (): Promise<boolean> =>
    (await gitWorktrees(git, place.main)).some((entry) => entry.path === path);
  // Twice: a create that was killed left it locked.
  const remove = ['worktree', 'remove', '--force', '--force', '--', path];
  if (await isKnown()) await git.ask(place.main, remove, { timeoutMs: LONG_MS });
  if (await isThere(path)) await removeTree(path);
  if (await isKnown()) await git.run(place.main, remove);
  const branchRemoved = branch !== undefined && (await removeBranch(room, branch));
  const warning = await trust.remove(path);
  await records.forget(name);
  return { branchRemoved, warnings: warning === undefined ? [] : [warning] };
}

/** Not when it moved meanwhile, nor when another worktree has it. */
async function removeBranch({ git, place }: Room, branch: { name: string; at: string }): Promise<boolean> {
  const inUse = (await gitWorktrees(git, place.main)).some((entry) => entry.branch === branch.name);
  if (inUse) return false;
  const gone = await git.ask(place.main, ['update-ref', '-d', `refs/heads/${branch.name}`, branch.at]);
  if (gone.exitCode !== 0) return false;
  // Its settings, where it has some.
  await git.ask(place.main, ['config', '--local', '--remove-section', `branch.${branch.name}`]);
  return true;
}
