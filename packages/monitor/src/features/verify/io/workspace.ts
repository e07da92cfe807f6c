// The files of a verification: a throw-away worktree `<base>/.verify/<ticket>-<sha12>`, and
// `<runs folder>/<orchestrator>/verification/<ticket>-<sha12>.log` and `.json`. The worktree is created at a commit, without
// a branch, and removed afterwards. What a killed process left (folder, git's entry, running tests) is removed by the next
// process that works in the same base.
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { safeSegment } from '@svc/contract/signal-file';
import { endGroup } from '@svc/lib/end-group';
import { readdir, realpath } from '@svc/lib/paths';
import type { ReadProcessStarts } from '@svc/lib/system';
import { z } from 'zod';
import { readJsonFile } from '../../../kernel/config/read-json.ts';
import { writeFileAtomically } from '../../../kernel/disk/atomic-write.ts';
import { type Hold, tryHold } from '../../../kernel/disk/lock.ts';
import { removeTree } from '../../../kernel/disk/private-file.ts';
import { Failure } from '../../../kernel/failure.ts';
import { isInside } from '../../worktrees/io/context.ts';
import { checkOut, type Git, gitWorktrees, LONG_MS } from '../../worktrees/io/git.ts';
import { type AskGit, mustAnswer } from './ask-git.ts';

const commit = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const ticketName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$/;
const SHORT_SHA = 12;

export type VerifyPaths = {
  name: string;
  /** The folder of all throw-away worktrees of the project, with links resolved. */
  folder: string;
  worktree: string;
  log: string;
  result: string;
};

export function checkNames({
  orchestrator,
  ticket,
  shas,
}: {
  orchestrator: string;
  ticket: string;
  shas: readonly string[];
}): void {
  if (!safeSegment(orchestrator) || !ticketName.test(ticket) || ticket.includes('..'))
    throw new Failure(
      'usage',
      `${JSON.stringify(`${orchestrator}/${ticket}`)} is not the name of a run and a ticket.`,
    );
  const wrong = shas.find((sha) => !commit.test(sha));
  if (wrong !== undefined)
    throw new Failure('usage', `${JSON.stringify(wrong.slice(0, 80))} is not a full commit id.`);
}

/** Creates the folder and resolves links, so nothing is created outside the base folder. */
export async function prepareVerifyPaths(options: {
  worktreeBase: string;
  runsDir: string;
  orchestrator: string;
  ticket: string;
  sha: string;
}): Promise<VerifyPaths> {
  const { runsDir, orchestrator, ticket, sha } = options;
  await mkdir(options.worktreeBase, { recursive: true });
  const base = await realpath(options.worktreeBase);
  const folder = join(base, '.verify');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await realpath(folder)) !== folder)
    throw new Failure('file-unusable', `${folder} is a link to another folder.`, 'Remove the link.');
  const name = `${ticket}-${sha.slice(0, SHORT_SHA)}`;
  const kept = join(runsDir, orchestrator, 'verification');
  return {
    name,
    folder,
    worktree: join(folder, name),
    log: join(kept, `${name}.log`),
    result: join(kept, `${name}.json`),
  };
}

const GRACE_MS = 2_000;
const LOCK = '.lock';
const PROCESS = '.process.json';

const RunningStep = z.object({ pid: z.int().positive(), mark: z.string() });

export type Workspaces = {
  /** Creates the worktree, runs the work in it, and removes it, however the work ends. */
  within: <T>(options: WorkspaceOptions, work: (workspace: Workspace) => Promise<T>) => Promise<T>;
};
type WorkspaceOptions = {
  paths: VerifyPaths;
  repoFolder: string;
  sha: string;
  signal?: AbortSignal | undefined;
};
type Workspace = {
  /** Records the process group of a step, so it can be ended if this process is killed first. */
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
  /** One lock per folder, shared by everything that this process does in it. */
  const holds = new Map<string, { hold: Hold; users: number }>();
  const active = new Set<string>();

  function enter(folder: string): void {
    const held = holds.get(folder);
    if (held !== undefined) {
      held.users += 1;
      return;
    }
    const hold = tryHold(join(folder, LOCK));
    if (hold === undefined)
      throw new Failure(
        'busy',
        `Another process is verifying in ${folder}.`,
        'Try again when it has finished.',
      );
    holds.set(folder, { hold, users: 1 });
  }

  function leave(folder: string): void {
    const held = holds.get(folder);
    if (held === undefined) return;
    held.users -= 1;
    if (held.users > 0) return;
    holds.delete(folder);
    held.hold.release();
  }

  async function known(repoFolder: string, folder: string): Promise<string[]> {
    return (await gitWorktrees(worktrees, repoFolder))
      .map(({ path }) => path)
      .filter((path) => path !== folder && isInside(folder, path));
  }

  async function remove(repoFolder: string, folder: string, name: string): Promise<void> {
    const processFile = join(folder, name + PROCESS);
    await endRemembered(processFile);
    const path = join(folder, name);
    // Twice: a process that was killed while git created it left it locked.
    const removal = ['worktree', 'remove', '--force', '--force', '--', path];
    const isKnown = async (): Promise<boolean> => (await known(repoFolder, folder)).includes(path);
    if (await isKnown()) await git(repoFolder, removal, { timeoutMs: LONG_MS });
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
    // Another process may have its pid by now.
    if (start?.state === 'running' && start.mark === mark) await endGroup(pid, GRACE_MS);
  }

  async function removeLeftovers(repoFolder: string, folder: string): Promise<void> {
    const there = (await readdir(folder)).filter((name) => !name.startsWith('.'));
    const inGit = (await known(repoFolder, folder)).map((path) => path.slice(folder.length + 1));
    const names = new Set([...there.map((name) => name.replace(PROCESS, '')), ...inGit]);
    for (const name of names) if (!active.has(join(folder, name))) await remove(repoFolder, folder, name);
  }

  return {
    async within({ paths, repoFolder, sha, signal }, work) {
      const { folder, name, worktree } = paths;
      enter(folder);
      try {
        await removeLeftovers(repoFolder, folder);
        active.add(worktree);
        try {
          const environment = { GIT_NO_REPLACE_OBJECTS: '1' };
          await checkOut(worktrees, repoFolder, { path: worktree, at: { commit: sha }, environment, signal });
          return await work({
            async remember(pid) {
              const start = (await processStarts([pid])).get(pid);
              if (start?.state !== 'running') return;
              const step = JSON.stringify({ pid, mark: start.mark });
              await writeFileAtomically(join(folder, name + PROCESS), step, { mode: 0o600 });
            },
          });
        } finally {
          await remove(repoFolder, folder, name);
          active.delete(worktree);
        }
      } finally {
        leave(folder);
      }
    },
  };
}
