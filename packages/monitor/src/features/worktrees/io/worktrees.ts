// The worktrees of one project, with real git. The CLI uses it directly, the daemon through the orchestrator; both at once
// is safe: only one process at a time changes a name.
//   const worktrees = createWorktrees({ projectFolder, config, home, dataDir, locksDir, locks, findings, environment, now });
//   const { path } = await worktrees.create('ABC-12', { base: 'main' });
//   await worktrees.remove('ABC-12');
import { basename, dirname, join } from 'node:path';
import { type RunCommand, runCommand } from '@svc/lib/process';
import { system } from '@svc/lib/system';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import type { FileLocks } from '../../../kernel/disk/lock.ts';
import { secretVariables } from '../../agents/agent-environment.ts';
import type { Config } from '../../config.ts';
import { type FiledFindings, type Findings } from '../../findings/io/run-end.ts';
import type { WorktreeRecord } from '../worktree-record.ts';
import { type Changes, worktreeChanges, worktreeFiles } from './changes.ts';
import {
  createRecords,
  findLayout,
  folderIn,
  hasNoWorktrees,
  isHeld,
  projectIn,
  type WorktreeContext,
} from './context.ts';
import { type CreateOptions, createWorktree, type MadeWorktree } from './create.ts';
import { createGit, findBase, type GitWorktree } from './git.ts';
import { inspectWorktree, type Losses } from './inspect.ts';
import { type RemovedWorktree, type RemoveOptions, removeWorktree } from './remove.ts';
import { type RemovedBase, removeBase } from './remove-base.ts';
import { createTrust } from './trust.ts';

const STEP_TIMEOUT_MS = 30 * 60_000;

type FileOptions = Omit<Parameters<Findings['file']>[0], 'project'>;

export type Worktrees = {
  create: (ticketOrBranch: string, options?: CreateOptions) => Promise<MadeWorktree>;
  list: () => Promise<ListedWorktree[]>;
  /** The folder that contains them. */
  base: () => Promise<string>;
  /** Removes what svc keeps beside the worktrees, when none is left: logs, records, throw-away worktrees, refs. */
  removeBase: (to: { keepIn: string }) => Promise<RemovedBase>;
  /** Rejects with the fix if there is no such branch to start from. */
  checkBase: (branch: string) => Promise<void>;
  inspect: (name: string) => Promise<{ name: string; losses: Losses }>;
  /** Its changes since it left the base branch, committed or not. */
  changes: (name: string, base: string) => Promise<Changes>;
  /** Its files whose path contains the query: those that git knows, and new ones that it does not ignore. */
  files: (name: string, query: string) => Promise<{ files: string[]; cut: boolean }>;
  /** Files the findings that wait in it, if the project has consent; a removed worktree has none. */
  fileFindings: (name: string, options: FileOptions) => Promise<FiledFindings>;
  remove: (name: string, options?: RemoveOptions) => Promise<RemovedWorktree>;
};

export function createWorktrees(options: {
  projectFolder: string;
  config: Config;
  home: string;
  dataDir: string;
  locksDir: string;
  locks: FileLocks;
  findings: Findings;
  environment: Environment;
  now: () => Date;
  run?: RunCommand;
  /** For one command of setup or of a hook. */
  stepTimeoutMs?: number;
}): Worktrees {
  const { config, home, locks, locksDir, findings, environment, now, run = runCommand } = options;
  const git = createGit({ run, environment, secretNames: secretVariables(config) });

  async function context(makeBase = false): Promise<WorktreeContext> {
    const layout = await findLayout({ ...options, git, makeBase });
    return {
      git,
      layout,
      records: createRecords(layout.base),
      trust: createTrust({ home, config, locks }),
      config,
      locks,
      locksDir,
      thoughtsRoot: join(options.dataDir, 'thoughts'),
      findings,
      environment,
      stepTimeoutMs: options.stepTimeoutMs ?? STEP_TIMEOUT_MS,
      processStarts: system.processStarts,
      now,
    };
  }

  return {
    create: async (text, given = {}) => createWorktree(() => context(true), text, given),
    list: async () => ((await hasNoWorktrees(options)) ? [] : listWorktrees(await context())),
    base: async () => (await context()).layout.base,
    async checkBase(branch) {
      const { layout } = await context();
      await findBase(git, layout.main, branch);
    },
    inspect: async (name) => inspectWorktree(await context(), name),
    changes: async (name, base) => worktreeChanges(await context(), name, base),
    files: async (name, query) => worktreeFiles(await context(), name, query),
    async fileFindings(name, given) {
      const opened = await context();
      const project = projectIn(opened, folderIn(opened.layout.base, name));
      return findings.file({ ...given, project });
    },
    removeBase: async (to) => removeBase(await context(), to),
    remove: async (name, given = {}) => removeWorktree(await context(), name, given),
  };
}

// The worktrees of a project in its base folder, created by svc or by hand, complete or not.

export type ListedWorktree = {
  name: string;
  path: string;
  branch: string | null;
  head: string | null;
  state:
    | 'ready'
    | 'being created'
    | 'partly created'
    | 'being removed'
    | 'partly removed'
    | 'folder missing'
    | 'unknown to git';
  locked: boolean;
  /** Created by svc, with its base branch and time. */
  made: { base: string; at: string; madeBranch: boolean } | null;
};

async function listWorktrees(context: WorktreeContext): Promise<ListedWorktree[]> {
  const { layout, records } = context;
  const here = new Map(
    layout.worktrees
      .filter((entry) => dirname(entry.path) === layout.base)
      .map((entry) => [basename(entry.path), entry]),
  );
  const names = [...new Set([...here.keys(), ...(await records.names())])].toSorted();
  const listed: ListedWorktree[] = [];
  for (const name of names) {
    const record = await records.read(name);
    const entry = here.get(name);
    // Removed while the list was being built.
    if (record === undefined && entry === undefined) continue;
    listed.push({
      name,
      path: entry?.path ?? folderIn(layout.base, name),
      branch: entry === undefined ? (record?.branch ?? null) : entry.branch,
      head: entry?.head ?? null,
      state: stateOf(context, name, record, entry),
      locked: entry?.locked !== undefined && entry.locked !== null,
      made: record ? { base: record.base, at: record.createdAt, madeBranch: record.madeBranch } : null,
    });
  }
  return listed;
}

function stateOf(
  context: WorktreeContext,
  name: string,
  record: WorktreeRecord | undefined,
  entry: GitWorktree | undefined,
): ListedWorktree['state'] {
  if (record?.state === 'making') return isHeld(context, name) ? 'being created' : 'partly created';
  if (record?.state === 'removing') return isHeld(context, name) ? 'being removed' : 'partly removed';
  if (entry === undefined) return 'unknown to git';
  return entry.missing ? 'folder missing' : 'ready';
}
