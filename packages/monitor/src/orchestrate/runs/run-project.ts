// The project of a run: its configuration, its worktrees, and how its agents are started. Read once per daemon.
import {
  type Config,
  type Environment,
  type EventDraft,
  type ProjectLimits,
  type RunPlan,
  repoNameIn,
  secretVariables,
} from '@svc/core';
import { type RunCommand, runCommand } from '../../codehost/run-command.ts';
import type { FileLocks } from '../../disk/lock.ts';
import type { SignalStore } from '../../runs/signal-store.ts';
import { type Gate, oneAtATime } from '../verify/one-at-a-time.ts';
import { createVerifier, type Verifier } from '../verify/verifier.ts';
import { createGit } from '../worktrees/git.ts';
import { createWorktrees, type Worktrees } from '../worktrees/worktrees.ts';

export type RunProject = {
  folder: string;
  config: Config;
  worktrees: Worktrees;
  verifier: Verifier;
  /** `owner/name`, as configured or as its origin says; null when neither tells. */
  repo: string | null;
};

export type RunProjects = {
  /** Rejects with what is wrong with the project's configuration. */
  of: (folder: string) => Promise<RunProject>;
};

export type RunProjectOptions = {
  loadConfig: (folder: string) => Promise<Config>;
  home: string;
  dataDir: string;
  locksDir: string;
  runsDir: string;
  locks: FileLocks;
  environment: Environment;
  signals: SignalStore;
  append: (draft: EventDraft) => Promise<unknown>;
  now: () => Date;
  run?: RunCommand;
};

const originOf = /[:/]([A-Za-z0-9][A-Za-z0-9_-]*\/[A-Za-z0-9._-]+?)(?:\.git)?\/?\s*$/;

export function createRunProjects(options: RunProjectOptions): RunProjects {
  const { loadConfig, environment, run = runCommand } = options;
  // The tests of two projects at once would slow each other down.
  const gate: Gate = oneAtATime();
  const known = new Map<string, Promise<RunProject>>();

  async function repoOf(folder: string, config: Config): Promise<string | null> {
    const { org, name } = config.svc.repository;
    const configured = `${org ?? ''}/${name ?? ''}`;
    if (repoNameIn(configured) !== undefined) return configured;
    const git = createGit({ run, environment, secretNames: secretVariables(config) });
    const asked = await git.ask(folder, ['remote', 'get-url', 'origin']);
    return asked.exitCode === 0 ? (originOf.exec(asked.stdout)?.[1] ?? null) : null;
  }

  async function load(folder: string): Promise<RunProject> {
    const config = await loadConfig(folder);
    return {
      folder,
      config,
      worktrees: createWorktrees({ ...options, projectFolder: folder, config, run }),
      verifier: createVerifier({ ...options, config, gate, run }),
      repo: await repoOf(folder, config),
    };
  }

  return {
    of(folder) {
      const loading = known.get(folder) ?? load(folder);
      known.set(folder, loading);
      // What cannot be read now may be mended.
      loading.catch(() => known.delete(folder));
      return loading;
    },
  };
}

/** A run may be given more or fewer slots than the project's own setting says. */
export function limitsOf({ config }: Pick<RunProject, 'config'>, plan: RunPlan): ProjectLimits {
  const { orchestration } = config.svc;
  return {
    maxParallel: Math.max(orchestration.maxParallel, plan.maxParallel),
    maxAwaitingReview: orchestration.maxAwaitingReview,
    verifyBeforeMerge: orchestration.verifyBeforeMerge,
    allowSelfReportedCompletion: orchestration.allowSelfReportedCompletion,
    stallAfterSec: orchestration.stallAfterSec,
  };
}
