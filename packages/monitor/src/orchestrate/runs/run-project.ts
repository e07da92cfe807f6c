// The project of a run: its configuration, its worktrees, and how its agents are started. Rebuilt when its configuration
// changes.
import { realpath } from 'node:fs/promises';
import {
  type AgentCheck,
  type AgentVariableSources,
  agentVariables,
  type ChosenAgent,
  type Config,
  chooseAgent,
  chooseVerifier,
  type Environment,
  type EventDraft,
  feedSecretVariables,
  judgeAgent,
  knownAgents,
  type ListedAgent,
  namedAgent,
  type ProjectLimits,
  type RunPlan,
  repoNameIn,
  secretVariables,
  unknownAgent,
} from '@svc/core';
import { ifAllowed } from '@svc/lib/files';
import { createLimit } from '@svc/lib/limit';
import { type RunCommand, runCommand } from '@svc/lib/process';
import type { FileLocks } from '../../disk/lock.ts';
import { Failure } from '../../errors.ts';
import type { SignalStore } from '../../runs/signal-store.ts';
import { askAgent, locateAgent } from '../agents/check-agent.ts';
import { checkProgram } from '../agents/launch.ts';
import { workerPrompt } from '../agents/skills.ts';
import { createVerifier, type Verifier } from '../verify/verifier.ts';
import type { Findings } from '../worktrees/context.ts';
import { createGit } from '../worktrees/git.ts';
import { createWorktrees, type Worktrees } from '../worktrees/worktrees.ts';

// A run may be started only in the folder of a project that the daemon serves: the caller who names the folder chooses the
// program that is started there, and the port does not authenticate callers.

/** The folders of the served projects, according to the files now. */
export type ServedFolders = () => Promise<readonly string[]>;

/** The real folder of the project. A path that is not served is never looked up on the disk. */
export async function servedProject(asked: string, served: ServedFolders): Promise<string> {
  for (const folder of await served()) {
    const real = await ifAllowed(realpath(folder));
    if (real !== undefined && (asked === folder || asked === real)) return real;
  }
  throw new Failure(
    'unknown-project',
    `The daemon serves no project in the folder ${JSON.stringify(asked.slice(0, 200))}.`,
    'Register it: run check-project-setup.sh, or svc orchestrate start, in that folder.',
  );
}

export type RunProject = {
  folder: string;
  config: Config;
  /** What is wrong with its files; a running run uses the last valid configuration, and no run is started. */
  problems: readonly string[];
  worktrees: Worktrees;
  verifier: Verifier;
  findings: Findings;
  /** `owner/name`, from the configuration or its origin; null if neither has it. */
  repo: string | null;
  /** Rejects with the fix when an agent of these tickets cannot be started. */
  checkAgents: (plan: RunPlan, tickets: readonly string[]) => Promise<void>;
  /** The agents that can be chosen, and where their programs are. */
  listAgents: () => Promise<ListedAgent[]>;
  /** Starts the agent and asks what it can do. */
  checkAgent: (name: string) => Promise<AgentCheck>;
  /**
   * The agent of a ticket and its prompt. Rejects with the fix when the agent that was chosen is not installed, or does
   * not know what the worker command means. Starts nothing.
   */
  agentFor: (plan: RunPlan, ticket: string) => Promise<ChosenAgent & { prompt: string }>;
};

export type RunProjects = {
  /** Rejects with the problem in the project's configuration. */
  of: (folder: string) => Promise<RunProject>;
};

export type RunProjectOptions = {
  /** The configuration in effect. */
  loadConfig: (folder: string) => Promise<{ config: Config; problems: readonly string[] }>;
  home: string;
  dataDir: string;
  locksDir: string;
  runsDir: string;
  locks: FileLocks;
  environment: () => Environment;
  /** Variables with the locations of the daemon's files. */
  locations: Readonly<Record<string, string>>;
  /** How long an agent may take for an answer when it is checked. */
  answerMs: number;
  signals: SignalStore;
  /** Files the findings of a project with this configuration. */
  findingsOf: (config: Config) => Findings;
  /** What a ticket asks for, from the tracker of a project with this configuration. Rejects with the fix. */
  ticketText: (config: Config, ticket: string) => Promise<string>;
  append: (draft: EventDraft) => Promise<unknown>;
  now: () => Date;
  run?: RunCommand;
};

const originOf = /[:/]([A-Za-z0-9][A-Za-z0-9_-]*\/[A-Za-z0-9._-]+?)(?:\.git)?\/?\s*$/;

export function createRunProjects(options: RunProjectOptions): RunProjects {
  const { loadConfig, run = runCommand } = options;
  // Tests of two projects at once would slow each other down.
  const limit = createLimit(1);
  // An agent takes some hundred megabytes.
  const checks = createLimit(2);
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
    const variables = () =>
      agentVariables(variableSources(config, options.environment(), options.locations)).environment;
    async function agentFor(plan: RunPlan, ticket: string): Promise<ChosenAgent & { prompt: string }> {
      const chosen = await chooseAgent(config.svc.orchestration, plan, ticket, (agent) =>
        locateAgent(agent, variables()),
      );
      if ('problem' in chosen) throw new Failure('start-failed', chosen.problem, chosen.remedy);
      const work = await promptFor(chosen, plan.workerCommand, ticket);
      if ('problem' in work) throw new Failure('start-failed', work.problem, work.remedy);
      return { ...chosen, ...work };
    }

    function promptFor(agent: Pick<ChosenAgent, 'name' | 'commands'>, command: string, ticket: string) {
      return workerPrompt({ agent, command, ticket, home: options.home, environment: variables() });
    }

    const chosenVerifier = (name: string) =>
      chooseVerifier(config.svc.orchestration, name, (agent) => locateAgent(agent, variables()));

    async function checkAgents(plan: RunPlan, tickets: readonly string[]): Promise<void> {
      const byAgent = new Map(tickets.map((ticket) => [namedAgent(plan, ticket), ticket]));
      const chosen: ChosenAgent[] = await Promise.all(
        byAgent.values().map((ticket) => agentFor(plan, ticket)),
      );
      const template = config.svc.orchestration.agent;
      if (chosen.some(({ protocol }) => !protocol))
        await checkProgram({ template, folder, environment: variables(), run });
      const { verifier, verifyBeforeMerge } = config.svc.orchestration;
      if (verifier !== null && verifyBeforeMerge) {
        const found = await chosenVerifier(verifier);
        if ('problem' in found) throw new Failure('start-failed', found.problem, found.remedy);
        chosen.push(found);
      }
      for (const name of new Set(chosen.flatMap((one) => (one.protocol ? one.name : [])))) {
        const { problem, remedy } = await check(name, 'initialize');
        if (problem !== null) throw new Failure('start-failed', problem, remedy ?? undefined);
      }
    }

    function check(name: string, last: 'initialize' | 'session/new'): Promise<AgentCheck> {
      return checks(async () => {
        const all = knownAgents(config.svc.orchestration);
        const agent = all.find((one) => one.name === name);
        if (agent === undefined) {
          const { problem, remedy } = unknownAgent(name, all);
          throw new Failure('usage', problem, remedy);
        }
        const program = await locateAgent(agent, variables());
        if (program === null) return judgeAgent(agent, null);
        const question = { agent, program, environment: variables(), last, answerMs: options.answerMs };
        const asked = await askAgent(question);
        // Before a run this was checked for its tickets, and a verifier does not need it.
        if (last === 'initialize') return judgeAgent(agent, program, asked);
        const work = await promptFor(agent, config.svc.orchestration.workerCommand, '');
        return judgeAgent(agent, program, asked, 'problem' in work ? work : undefined);
      });
    }

    return {
      folder,
      config,
      worktrees: createWorktrees({ ...options, environment, projectFolder: folder, config, findings, run }),
      findings,
      verifier: createVerifier({
        ...options,
        environment,
        config,
        agent: {
          choose: chosenVerifier,
          environment: variables,
          ticketText: (ticket) => options.ticketText(config, ticket),
        },
        limit,
        run,
      }),
      repo: await repoOf(folder, config, environment),
      checkAgents,
      agentFor,
      listAgents: () =>
        Promise.all(
          knownAgents(config.svc.orchestration).map(async ({ env, login, ...agent }) => ({
            ...agent,
            args: [...agent.args],
            program: await locateAgent({ ...agent, env }, variables()),
          })),
        ),
      checkAgent: (name) => check(name, 'session/new'),
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
        // What cannot be read now may be readable later.
        made.project.catch(() => known.delete(folder));
      }
      return { ...(await made.project), problems };
    },
  };
}

/** The part of the environment that an agent of the project may see. */
export function variableSources(
  config: Config,
  inherited: Environment,
  locations: Readonly<Record<string, string>>,
): AgentVariableSources {
  const { agentEnv } = config.svc.orchestration;
  return { inherited, agentEnv, secretNames: feedSecretVariables(config), locations };
}

/** A run may have more or fewer slots than the project's setting. */
export function limitsOf({ config }: Pick<RunProject, 'config'>, plan: RunPlan): ProjectLimits {
  const { orchestration } = config.svc;
  return {
    maxParallel: Math.max(orchestration.maxParallel, plan.maxParallel),
    maxAwaitingReview: orchestration.maxAwaitingReview,
    verifyBeforeMerge: orchestration.verifyBeforeMerge,
    allowSelfReportedCompletion: orchestration.allowSelfReportedCompletion,
    stallAfterSec: orchestration.stallAfterSec,
    budget: orchestration.budget,
  };
}
