// Throw-away worktrees for verification. Each is made at a commit, without a branch, and removed afterwards. What a
// killed process left, folder, git's entry and running tests, is removed by the next one that works in the same base.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readJsonFile } from '../../config/read-json.ts';
import { writeFileAtomically } from '../../disk/atomic-write.ts';
import { type Hold, tryHold } from '../../disk/lock.ts';
import { removeTree } from '../../disk/remove-tree.ts';
import { Failure } from '../../errors.ts';
import type { ReadProcessStarts } from '../../runs/processes.ts';
import { type Git, gitWorktrees } from '../worktrees/git.ts';
import { isInside } from '../worktrees/place.ts';
import { endGroup } from '../worktrees/steps.ts';
import { type AskGit, mustAnswer } from './ask-git.ts';
import type { VerifyPlace } from './place.ts';

const CHECKOUT_MS = 30 * 60_000;
const GRACE_MS = 2_000;
const LOCK = '.lock';
const PROCESS = '.process.json';

const RunningStep = z.object({ pid: z.int().positive(), mark: z.string() });

export type Workspaces = {
  /** Makes the worktree, works in it, and removes it, however the work ends. */
  within: <T>(options: WorkspaceOptions, work: (workspace: Workspace) => Promise<T>) => Promise<T>;
};
type WorkspaceOptions = {
  place: VerifyPlace;
  repoFolder: string;
  sha: string;
  signal?: AbortSignal | undefined;
};
type Workspace = {
  /** Remembers the process group of a step, so that it can be ended when this process was killed before it. */
  remember: (pid: number) => Promise<void>;
};

export function createWorkspaces({
  git,
  worktrees,
  processStarts,
}: {
  git: AskGit;
  worktrees: Git;
  processStarts: ReadProcessStarts;
}): Workspaces {
  /** One lock for each room, shared by all that this process does in it. */
  const holds = new Map<string, { hold: Hold; users: number }>();
  const active = new Set<string>();

  function enter(room: string): void {
    const held = holds.get(room);
    if (held !== undefined) {
      held.users += 1;
      return;
    }
    const hold = tryHold(join(room, LOCK));
    if (hold === undefined)
      throw new Failure('busy', `Another process verifies in ${room}.`, 'Try again when it is done.');
    holds.set(room, { hold, users: 1 });
  }

  function leave(room: string): void {
    const held = holds.get(room);
    if (held === undefined) return;
    held.users -= 1;
    if (held.users > 0) return;
    holds.delete(room);
    held.hold.release();
  }

  async function known(repoFolder: string, room: string): Promise<string[]> {
    return (await gitWorktrees(worktrees, repoFolder))
      .map(({ path }) => path)
      .filter((path) => path !== room && isInside(room, path));
  }

  async function remove(repoFolder: string, room: string, name: string): Promise<void> {
    const processFile = join(room, name + PROCESS);
    await endRemembered(processFile);
    const path = join(room, name);
    // Twice: a process that was killed while git made it left it locked.
    const removal = ['worktree', 'remove', '--force', '--force', '--', path];
    const isKnown = async (): Promise<boolean> => (await known(repoFolder, room)).includes(path);
    if (await isKnown()) await git(repoFolder, removal, { timeoutMs: CHECKOUT_MS });
    await removeTree(path);
    if (await isKnown()) await mustAnswer(git(repoFolder, removal), `The removal of ${path}`);
    await rm(processFile, { force: true });
  }

  async function endRemembered(processFile: string): Promise<void> {
    const read = await readJsonFile(processFile);
    const step = read.state === 'read' ? RunningStep.safeParse(read.data) : undefined;
    if (!step?.success) return;
    const { pid, mark } = step.data;
    const start = (await processStarts([pid])).get(pid);
    // Another process may have its number by now.
    if (start?.state === 'running' && start.mark === mark) await endGroup(pid, GRACE_MS);
  }

  async function removeLeftovers(repoFolder: string, room: string): Promise<void> {
    const there = (await readdir(room)).filter((name) => !name.startsWith('.'));
    const inGit = (await known(repoFolder, room)).map((path) => path.slice(room.length + 1));
    const names = new Set([...there.map((name) => name.replace(PROCESS, '')), ...inGit]);
    for (const name of names) if (!active.has(join(room, name))) await remove(repoFolder, room, name);
  }

  return {
    async within({ place, repoFolder, sha, signal }, work) {
      const { room, name, worktree } = place;
      enter(room);
      try {
        await removeLeftovers(repoFolder, room);
        active.add(worktree);
        try {
          await mustAnswer(
            git(repoFolder, ['worktree', 'add', '--quiet', '--detach', '--', worktree, sha], {
              timeoutMs: CHECKOUT_MS,
              signal,
            }),
            `A worktree at ${sha}`,
          );
          return await work({
            async remember(pid) {
              const start = (await processStarts([pid])).get(pid);
              if (start?.state !== 'running') return;
              const step = JSON.stringify({ pid, mark: start.mark });
              await writeFileAtomically(join(room, name + PROCESS), step, { mode: 0o600 });
            },
          });
        } finally {
          await remove(repoFolder, room, name);
          active.delete(worktree);
        }
      } finally {
        leave(room);
      }
    },
  };
}
