// The worktrees of one project, with real git. The command line uses it directly, the orchestrator in the daemon;
// both at once is safe: a name is changed by one of them at a time.
//   const worktrees = createWorktrees({ projectFolder, config, home, dataDir, locksDir, locks, findings, environment, now });
//   const { path } = await worktrees.create('ABC-12', { base: 'main' });
//   await worktrees.remove('ABC-12');
import { join } from 'node:path';
import { type Config, type Environment, secretVariables } from '@svc/core';
import { type RunCommand, runCommand } from '@svc/lib/process';
import type { FileLocks } from '../../disk/lock.ts';
import { processStartsOf } from '../../runs/processes.ts';
import { type CreateOptions, createWorktree, type MadeWorktree } from './create.ts';
import type { FiledFindings, Findings } from './findings.ts';
import { createGit } from './git.ts';
import { type Losses } from './inspect.ts';
import { type ListedWorktree, listWorktrees } from './list.ts';
import { inspectWorktree } from './look.ts';
import { findPlace, folderIn } from './place.ts';
import { createRecords } from './records.ts';
import { type RemovedWorktree, type RemoveOptions, removeWorktree } from './remove.ts';
import { projectIn, type Room } from './room.ts';
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

  async function room(): Promise<Room> {
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
    create: async (text, given = {}) => createWorktree(await room(), text, given),
    list: async () => listWorktrees(await room()),
    base: async () => (await room()).place.base,
    inspect: async (name) => inspectWorktree(await room(), name),
    async fileFindings(name, given) {
      const opened = await room();
      const project = projectIn(opened, folderIn(opened.place.base, name));
      return findings.file({ ...given, project });
    },
    remove: async (name, given = {}) => removeWorktree(await room(), name, given),
  };
}
