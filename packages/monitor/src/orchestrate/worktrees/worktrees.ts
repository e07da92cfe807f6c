// The worktrees of one project, with real git. The command line uses it directly, the orchestrator in the daemon;
// both at once is safe: a name is changed by one of them at a time.
//   const worktrees = createWorktrees({ projectFolder, config, home, dataDir, locksDir, locks, environment, now });
//   const { path } = await worktrees.create('ABC-12', { base: 'main' });
//   await worktrees.remove('ABC-12');
import { type Config, type Environment, secretVariables } from '@svc/core';
import { type RunCommand, runCommand } from '../../codehost/run-command.ts';
import type { FileLocks } from '../../disk/lock.ts';
import { processStartsOf } from '../../runs/process-start.ts';
import { type CreateOptions, createWorktree, type MadeWorktree } from './create.ts';
import { createGit } from './git.ts';
import type { Losses } from './inspect.ts';
import { type ListedWorktree, listWorktrees } from './list.ts';
import { inspectWorktree } from './look.ts';
import { findPlace } from './place.ts';
import { createRecords } from './records.ts';
import { type RemovedWorktree, type RemoveOptions, removeWorktree } from './remove.ts';
import type { Room } from './room.ts';
import { createTrust } from './trust.ts';

const STEP_TIMEOUT_MS = 30 * 60_000;

export type Worktrees = {
  create: (ticketOrBranch: string, options?: CreateOptions) => Promise<MadeWorktree>;
  list: () => Promise<ListedWorktree[]>;
  /** The folder that they lie in. */
  base: () => Promise<string>;
  /** What would be lost with it. */
  inspect: (name: string) => Promise<{ name: string; losses: Losses }>;
  remove: (name: string, options?: RemoveOptions) => Promise<RemovedWorktree>;
};

export function createWorktrees(options: {
  projectFolder: string;
  config: Config;
  home: string;
  dataDir: string;
  locksDir: string;
  locks: FileLocks;
  environment: Environment;
  now: () => Date;
  run?: RunCommand;
  /** For one command of setup or of a hook. */
  stepTimeoutMs?: number;
}): Worktrees {
  const { config, home, locks, locksDir, environment, now, run = runCommand } = options;
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
    remove: async (name, given = {}) => removeWorktree(await room(), name, given),
  };
}
