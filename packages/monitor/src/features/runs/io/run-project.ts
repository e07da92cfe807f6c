// The project of a run: its configuration, its worktrees, and how its agents are started. Rebuilt when its configuration
// changes.
import { repoNameIn } from '@svc/contract/repo-name';
import { ifAllowed } from '@svc/lib/files';
import { createLimit } from '@svc/lib/limit';
import { realpath } from '@svc/lib/paths';
import { type RunCommand, runCommand } from '@svc/lib/process';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import type { FileLocks } from '../../../kernel/disk/lock.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import { secretVariables } from '../../agents/agent-environment.ts';
import type { AgentCheck, ListedAgent } from '../../agents/api.ts';
import type { WantedChoice } from '../../agents/check.ts';
import {
  type AgentProblem,
  type ChosenAgent,
  choiceFor,
  chooseAgent,
  chooseVerifier,
  lacksGitSettings,
  namedAgent,
} from '../../agents/choice.ts';
import { gitVariables } from '../../agents/io/git-variables.ts';
import { checkProgram } from '../../agents/io/launch.ts';
import { createAgentAsker, createProjectAgents } from '../../agents/io/project-agents.ts';
import type { Config } from '../../config.ts';
import type { Findings } from '../../findings/io/run-end.ts';
import { workerPrompt } from '../../skills/io/skills.ts';
import type { TicketReader } from '../../tracker/io/read-ticket.ts';
import type { TicketContent } from '../../tracker/ticket-text.ts';
import { createVerifier, type Verifier } from '../../verify/io/verifier.ts';
import type { SignalStore } from '../../workers/io/signal-store.ts';
import { createGit } from '../../worktrees/io/git.ts';
import { createWorktrees, type Worktrees } from '../../worktrees/io/worktrees.ts';
import type { ProjectLimits } from '../acts.ts';
import type { RunPlan } from '../plan.ts';

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
    'Register it: run svc check-project-setup, or svc orchestrate start, in that folder.',
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
  /** Names of runs that have left a folder or an archive on this machine. */
  usedNames: () => Promise<string[]>;
  /** `owner/name`, from the configuration or its origin; null if neither has it. */
  repo: string | null;
  /**
   * Everything that is missing before agents of these tickets can work, each with its fix; and what the agents answered.
   * `created` are those that must exist: all of them, unless the ticket of a task is still to be created.
   */
  findMissing: (
    plan: RunPlan,
    tickets: readonly string[],
    created?: readonly string[],
  ) => Promise<{ missing: AgentProblem[]; checks: AgentCheck[] }>;
  /** The text of a ticket as its tracker has it now; null: the project has no tracker. Rejects with the fix. */
  readTicket: (ticket: string) => Promise<TicketContent | null>;
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

declare module '../../../kernel/feature.ts' {
  interface DaemonParts {
    projects: RunProjects;
  }
}

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
  usedNames: (config: Config) => Promise<string[]>;
  tickets: TicketReader;
  append: (draft: EventDraft) => Promise<unknown>;
  now: () => Date;
  run?: RunCommand;
};

const originOf = /[:/]([A-Za-z0-9][A-Za-z0-9_-]*\/[A-Za-z0-9._-]+?)(?:\.git)?\/?\s*$/;

export function createRunProjects(options: RunProjectOptions): RunProjects {
  const { loadConfig, run = runCommand } = options;
  // Tests of two projects at once would slow each other down.
  const limit = createLimit(1);
  const asker = createAgentAsker(options.now);
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
    const agents = createProjectAgents({ ...options, workerPrompt, config, folder, pathOf: 'daemon', asker });
    const { promptFor, variables, locate } = agents;
    const chosenFor = (plan: RunPlan, ticket: string) =>
      chooseAgent(config.svc.orchestration, plan, ticket, locate);

    async function agentFor(plan: RunPlan, ticket: string): Promise<ChosenAgent & { prompt: string }> {
      const chosen = await chosenFor(plan, ticket);
      if ('problem' in chosen) throw new Failure('start-failed', chosen.problem, chosen.remedy);
      const work = await promptFor(chosen, plan.workerCommand, ticket);
      if ('problem' in work) throw new Failure('start-failed', work.problem, work.remedy);
      if (!chosen.protocol || !lacksGitSettings(chosen.name)) return { ...chosen, ...work };
      const git = createGit({ run, environment, secretNames: secretVariables(config) });
      const given = variables();
      const missing = Object.entries(await gitVariables(git, folder)).filter(([name]) => !(name in given));
      return { ...chosen, env: { ...Object.fromEntries(missing), ...chosen.env }, ...work };
    }

    const readTicket = (ticket: string) => options.tickets.read(config, ticket);
    const chosenVerifier = (name: string) => chooseVerifier(config.svc.orchestration, name, locate);

    async function findMissing(plan: RunPlan, tickets: readonly string[], created = tickets) {
      const { agent: template, verifier, verifyBeforeMerge } = config.svc.orchestration;
      const missing = [await asProblem(worktrees.checkBase(plan.base))];
      const talkedTo = new Map<string, WantedChoice>();
      let isByCommandLine = false;
      for (const [name, ticket] of new Map(tickets.map((one) => [namedAgent(plan, one), one]))) {
        const chosen = await chosenFor(plan, ticket);
        // Its prompt is checked even if its program is missing.
        const worker = 'problem' in chosen ? agents.all().find((one) => one.name === name) : chosen;
        missing.push(
          problemIn(chosen),
          worker && problemIn(await promptFor(worker, plan.workerCommand, ticket)),
        );
        if ('problem' in chosen) continue;
        const wanted = choiceFor(plan, ticket);
        if (chosen.protocol) talkedTo.set(chosen.name, wanted);
        else {
          isByCommandLine = true;
          if (wanted.mode !== undefined) missing.push(noModeFor(chosen.name));
        }
      }
      if (isByCommandLine)
        missing.push(await asProblem(checkProgram({ template, folder, environment: variables(), run })));
      if (verifier !== null && verifyBeforeMerge) {
        const found = await chosenVerifier(verifier);
        missing.push(problemIn(found));
        if (!('problem' in found) && !talkedTo.has(found.name)) talkedTo.set(found.name, {});
      }
      const answers: AgentCheck[] = [];
      for (const [name, wanted] of talkedTo) {
        const answer = await agents.ask(name, { wanted, kept: true });
        const { problem, remedy } = answer;
        if (problem !== null) missing.push({ problem, remedy: remedy ?? '' });
        answers.push(answer);
      }
      missing.push(...(await options.tickets.findMissing(config, created)));
      const problems = new Map(missing.flatMap((one) => (one ? [[one.problem, one]] : [])));
      return { missing: [...problems.values()], checks: answers };
    }

    const worktrees = createWorktrees({
      ...options,
      environment,
      projectFolder: folder,
      config,
      findings,
      run,
    });
    return {
      folder,
      config,
      worktrees,
      findings,
      usedNames: () => options.usedNames(config),
      verifier: createVerifier({
        ...options,
        environment,
        config,
        agent: {
          choose: chosenVerifier,
          environment: variables,
          readTicket,
        },
        limit,
        run,
      }),
      repo: await repoOf(folder, config, environment),
      findMissing,
      readTicket,
      agentFor,
      listAgents: agents.list,
      checkAgent: agents.check,
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

function problemIn(found: object): AgentProblem | undefined {
  return 'problem' in found ? (found as AgentProblem) : undefined;
}

function noModeFor(name: string): AgentProblem {
  return {
    problem: `A permission mode was chosen, but ${name} runs as a command line, which svc cannot set one for.`,
    remedy: 'Choose none, or an agent that svc can talk to: svc agents list',
  };
}

/** A check that rejects, as one of the things that are missing. */
export async function asProblem(check: Promise<unknown>): Promise<AgentProblem | undefined> {
  try {
    await check;
    return undefined;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { problem: error.message, remedy: error.remedy ?? '' };
  }
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
