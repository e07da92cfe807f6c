// The worktrees of one project, with real git. The command line uses it directly, the orchestrator in the daemon;
// both at once is safe: a name is changed by one of them at a time.
//   const worktrees = createWorktrees({ projectFolder, config, home, dataDir, locksDir, locks, findings, environment, now });
//   const { path } = await worktrees.create('ABC-12', { base: 'main' });
//   await worktrees.remove('ABC-12');
import { basename, dirname, join } from 'node:path';
import { type Config, type Environment, secretVariables, type WorktreeRecord } from '@svc/core';
import { type RunCommand, runCommand } from '@svc/lib/process';
import type { FileLocks } from '../../disk/lock.ts';
import { processStartsOf } from '../../runs/processes.ts';
import {
  createRecords,
  type FiledFindings,
  type Findings,
  findPlace,
  folderIn,
  isHeld,
  projectIn,
  type WorktreeContext,
} from './context.ts';
import { type CreateOptions, createWorktree, type MadeWorktree } from './create.ts';
import { createGit, type GitWorktree, gitWorktrees } from './git.ts';
import { inspectWorktree, type Losses } from './inspect.ts';

import { type RemovedWorktree, type RemoveOptions, removeWorktree } from './remove.ts';
import { createTrust } from './trust.ts';

const STEP_TIMEOUT_MS = 30 * 60_000;

type FileOptions = Omit<Parameters<Findings['file']>[0], 'project'>;

export type Worktrees = {
  create: (ticketOrBranch: string, options?: CreateOptions) => Promise<MadeWorktree>;
  list: () => Promise<ListedWorktree[]>;
  /** The folder that they lie in. */
  base: () => Promise<string>;
  /** What would be lost with it. */
  inspect: (name: string) => Promise<{ name: string; losses: Losses }>;
  /** Files the findings that wait in it, where the project has consent; one that is gone has none. */
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

  async function context(): Promise<WorktreeContext> {
    const place = await findPlace({ ...options, git });
    return {
      git,
      place,
      records: createRecords(place.base),
      trust: createTrust({ home, config, locks }),
      config,
      locks,
      locksDir,
      thoughtsRoot: join(options.dataDir, 'thoughts'),
      findings,
      environment,
      stepTimeoutMs: options.stepTimeoutMs ?? STEP_TIMEOUT_MS,
      processStarts: processStartsOf(process.platform),
      now,
    };
  }

  return {
    create: async (text, given = {}) => createWorktree(await context(), text, given),
    list: async () => listWorktrees(await context()),
    base: async () => (await context()).place.base,
    inspect: async (name) => inspectWorktree(await context(), name),
    async fileFindings(name, given) {
      const opened = await context();
      const project = projectIn(opened, folderIn(opened.place.base, name));
      return findings.file({ ...given, project });
    },
    remove: async (name, given = {}) => removeWorktree(await context(), name, given),
  };
}

// The worktrees of a project that lie in its base folder, made here or by hand, whole or half made.

export type ListedWorktree = {
  name: string;
  path: string;
  branch: string | null;
  head: string | null;
  state:
    | 'ready'
    | 'being made'
    | 'half made'
    | 'being removed'
    | 'half removed'
    | 'folder missing'
    | 'unknown to git';
  locked: boolean;
  /** Made by svc, and from which branch and when. */
  made: { base: string; at: string; madeBranch: boolean } | null;
};

async function listWorktrees(context: WorktreeContext): Promise<ListedWorktree[]> {
  const { git, place, records } = context;
  const [, ...entries] = await gitWorktrees(git, place.main);
  const here = new Map(
    entries
      .filter((entry) => dirname(entry.path) === place.base)
      .map((entry) => [basename(entry.path), entry]),
  );
  const names = [...new Set([...here.keys(), ...(await records.names())])].toSorted();
  const listed: ListedWorktree[] = [];
  for (const name of names) {
    const record = await records.read(name);
    const entry = here.get(name);
    // Removed while the list was being made.
    if (record === undefined && entry === undefined) continue;
    listed.push({
      name,
      path: entry?.path ?? folderIn(place.base, name),
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
  if (record?.state === 'making') return isHeld(context, name) ? 'being made' : 'half made';
  if (record?.state === 'removing') return isHeld(context, name) ? 'being removed' : 'half removed';
  if (entry === undefined) return 'unknown to git';
  return entry.missing ? 'folder missing' : 'ready';
}
