// The workflow-context file of a worktree: `.svc/.workflow-context.json`, changed under a lock, replaced atomically.
import { basename, dirname, join } from 'node:path';
import { isThere } from '@svc/lib/paths';
import { readJsonFile } from '../../../kernel/config/read-json.ts';
import { writeFileAtomically } from '../../../kernel/disk/atomic-write.ts';
import type { FileLocks } from '../../../kernel/disk/lock.ts';
import { refuseLeadingOut } from '../../../kernel/disk/private-file.ts';
import { Failure } from '../../../kernel/failure.ts';
import { newContext, WorkflowContext } from '../workflow-context.ts';

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
