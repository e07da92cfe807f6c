// The project of a run: its configuration, its worktrees, and how its agents are started. Made again when its
// configuration changes.
import { realpath } from 'node:fs/promises';
import {
  type AgentVariableSources,
  agentVariables,
  type Config,
  type Environment,
  type EventDraft,
  feedSecretVariables,
  type ProjectLimits,
  type RunPlan,
  repoNameIn,
  secretVariables,
} from '@svc/core';
import { systemErrorCode } from '@svc/lib/errors';
import { createLimit } from '@svc/lib/limit';
import { type RunCommand, runCommand } from '@svc/lib/process';
import type { FileLocks } from '../../disk/lock.ts';
import { Failure } from '../../errors.ts';
import type { SignalStore } from '../../runs/signal-store.ts';
import { checkProgram } from '../agents/launch.ts';
import { createVerifier, type Verifier } from '../verify/verifier.ts';
import type { Findings } from '../worktrees/context.ts';
import { createGit } from '../worktrees/git.ts';
import { createWorktrees, type Worktrees } from '../worktrees/worktrees.ts';

// The folder in which a run may be begun: that of a project which the daemon serves, and no other. Whoever names the
// folder chooses the program that is started there, and the port asks nobody who they are.

/** The folders of the projects that are served, as the files say now. */
export type ServedFolders = () => Promise<readonly string[]>;

/** The real folder of the project. A path that is not served is never looked at on the disk. */
export async function servedProject(asked: string, served: ServedFolders): Promise<string> {
  for (const folder of await served()) {
    const real = await realFolder(folder);
    if (real !== undefined && (asked === folder || asked === real)) return real;
  }
  throw new Failure(
    'unknown-project',
    `The daemon serves no project in the folder ${JSON.stringify(asked.slice(0, 200))}.`,
    'Register it: run check-project-setup.sh, or svc orchestrate start, in that folder.',
  );
}

/** Undefined when it has gone since it was registered. */
async function realFolder(folder: string): Promise<string | undefined> {
  try {
    return await realpath(folder);
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return undefined;
  }
}

export type RunProject = {
  folder: string;
  config: Config;
  /** What is wrong with its files; a run that goes on uses what was valid last, and none is begun. */
  problems: readonly string[];
  worktrees: Worktrees;
  verifier: Verifier;
  findings: Findings;
  /** `owner/name`, as configured or as its origin says; null when neither tells. */
  repo: string | null;
  /** Rejects when the program of its agents cannot be started, with the remedy. */
  checkAgent: () => Promise<void>;
};

export type RunProjects = {
  /** Rejects with what is wrong with the project's configuration. */
  of: (folder: string) => Promise<RunProject>;
};

export type RunProjectOptions = {
  /** As it is in effect now. */
  loadConfig: (folder: string) => Promise<{ config: Config; problems: readonly string[] }>;
  home: string;
  dataDir: string;
  locksDir: string;
  runsDir: string;
  locks: FileLocks;
  environment: () => Environment;
  /** Variables that say where the daemon's files lie. */
  locations: Readonly<Record<string, string>>;
  signals: SignalStore;
  /** What files the findings of a project with this configuration. */
  findingsOf: (config: Config) => Findings;
  append: (draft: EventDraft) => Promise<unknown>;
  now: () => Date;
  run?: RunCommand;
};

const originOf = /[:/]([A-Za-z0-9][A-Za-z0-9_-]*\/[A-Za-z0-9._-]+?)(?:\.git)?\/?\s*$/;

export function createRunProjects(options: RunProjectOptions): RunProjects {
  const { loadConfig, run = runCommand } = options;
  // The tests of two projects at once would slow each other down.
  const limit = createLimit(1);
  const known = new Map<string, { settings: string; project: Promise<Omit<RunProject, 'problems'>> }>();

  async function repoOf(folder: string, config: Config, environment: Environment): Promise<string | null> {
    const { org, name } = config.svc.repository;
    const configured = `${org ?? ''}/${name ?? ''}`;
    if (repoNameIn(configured) !== undefined) return configured;
    const git = createGit({ run, environment, secretNames: secretVariables(config) });
    const asked = await git.ask(folder, ['remote', 'get-url', 'origin']);
    return asked.exitCode === 0 ? (originOf.exec(asked.stdout)?.[1] ?? null) : null;
  }

  async function make(folder: string, config: Config): Promise<Omit<RunProject, 'problems'>> {
    const environment = options.environment();
    const findings = options.findingsOf(config);
    return {
      folder,
      config,
      worktrees: createWorktrees({ ...options, environment, projectFolder: folder, config, findings, run }),
      findings,
      verifier: createVerifier({ ...options, environment, config, limit, run }),
      repo: await repoOf(folder, config, environment),
      checkAgent: () =>
        checkProgram({
          template: config.svc.orchestration.agent,
          folder,
          environment: agentVariables(variableSources(config, options.environment(), options.locations))
            .environment,
          run,
        }),
    };
  }

  return {
    async of(folder) {
      const { config, problems } = await loadConfig(folder);
      const settings = JSON.stringify(config);
      let made = known.get(folder);
      if (made?.settings !== settings) {
        made = { settings, project: make(folder, config) };
        known.set(folder, made);
        // What cannot be read now may be there later.
        made.project.catch(() => known.delete(folder));
      }
      return { ...(await made.project), problems };
    },
  };
}

/** What an agent of the project may see of the environment. */
export function variableSources(
  config: Config,
  inherited: Environment,
  locations: Readonly<Record<string, string>>,
): AgentVariableSources {
  const { agentEnv } = config.svc.orchestration;
  return { inherited, agentEnv, secretNames: feedSecretVariables(config), locations };
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
