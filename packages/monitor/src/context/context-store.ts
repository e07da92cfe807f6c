// The workflow-context file of a worktree: `.svc/.workflow-context.json`, changed under a lock, replaced atomically.
import { basename, dirname, join, resolve } from 'node:path';
import { newContext, WorkflowContext } from '@svc/core';
import { ifAllowed } from '@svc/lib/files';
import { isFolder, isThere, readText } from '@svc/lib/paths';
import { readJsonFile } from '../config/read-json.ts';
import { writeFileAtomically } from '../disk/atomic-write.ts';
import type { FileLocks } from '../disk/lock.ts';
import { refuseLeadingOut } from '../disk/private-file.ts';
import { Failure } from '../errors.ts';

export type ContextStore = {
  file: string;
  /** The context, or undefined if the file does not exist. */
  read: () => Promise<WorkflowContext | undefined>;
  /** Changes the context, creating it first if it does not exist. */
  change: (next: (context: WorkflowContext, now: string) => WorkflowContext) => Promise<WorkflowContext>;
};

export function createContextStore(options: {
  root: string;
  locks: FileLocks;
  now: () => Date;
}): ContextStore {
  const { root, locks, now } = options;
  const file = join(root, '.svc', '.workflow-context.json');
  const read = async () => {
    await refuseLeadingOut(root, file);
    return readContext(file);
  };
  return {
    file,
    read,
    change: (next) =>
      locks.withLock(file, async () => {
        const time = now().toISOString();
        const current = (await read()) ?? newContext(time, ticketOfFolder(root));
        const changed = next(current, time);
        await writeFileAtomically(file, `${JSON.stringify(changed, null, 2)}\n`);
        await keepOutOfGit(dirname(file));
        return changed;
      }),
  };
}

/** A worktree is named after its ticket: `…/ABC-123` or `…/ABC-123-some-words`. */
function ticketOfFolder(root: string): string | null {
  return /^([A-Z][A-Z0-9]{1,9}-\d+)(?![0-9A-Za-z])/.exec(basename(root))?.[1] ?? null;
}

/** The file belongs to this worktree only. The .gitignore ignores itself too, so there is nothing to commit. */
async function keepOutOfGit(folder: string): Promise<void> {
  const list = join(folder, '.gitignore');
  if (!(await isThere(list)))
    await writeFileAtomically(list, '.gitignore\n.workflow-context.json\nfindings/\n');
}

async function readContext(file: string): Promise<WorkflowContext | undefined> {
  const read = await readJsonFile(file);
  if (read.state === 'absent') return undefined;
  const parsed = read.state === 'read' ? WorkflowContext.safeParse(read.data) : undefined;
  if (parsed?.success) return parsed.data;
  const reason = read.state === 'broken' ? read.problem.message : placeOf(parsed?.error?.issues[0]);
  throw new Failure(
    'file-unusable',
    `${file} ${reason}`,
    `Fix it, or move it away and run: svc context init`,
  );
}

function placeOf(issue: { path: PropertyKey[]; message: string } | undefined): string {
  return issue === undefined
    ? 'is not a workflow context.'
    : `is not a workflow context: ${issue.path.join('.')}: ${issue.message}`;
}

// The folder that a helper script works on: the git worktree that contains the starting folder, else that folder itself.

export async function worktreeRoot(start: string): Promise<string> {
  for (let folder = resolve(start); dirname(folder) !== folder; folder = dirname(folder)) {
    if (await isThere(join(folder, '.git'))) return folder;
  }
  return resolve(start);
}

// The branch that is checked out in a worktree, read from git's own files: a shell may ask at every prompt, and starting
// git would take longer than everything else.

/** Null if there is no repository, or no branch is checked out. */
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
