// Starts the agent of a ticket: its worktree, its signal file, its process. Each step finds what an earlier attempt
// that was cut off has left, so that doing it again comes to the same.
import {
  agentEnvironment,
  agentPrompt,
  type Environment,
  fillAgentTemplate,
  type RunPlan,
  type SignalFile,
} from '@svc/core';
import { Failure } from '../../errors.ts';
import type { ReadProcessStarts } from '../../runs/processes.ts';
import { signalPath } from '../../runs/signal-folder.ts';
import type { SignalStore } from '../../runs/signal-store.ts';
import { agentFiles, type LaunchedAgent, launchAgent } from '../agents/launch.ts';
import { hasMessages, inboxPath } from '../reactions/inbox.ts';
import type { Worktrees } from '../worktrees/worktrees.ts';
import { type RunProject, variableSources } from './run-project.ts';

export type StartWish = {
  orchestrator: string;
  ticket: string;
  wave: number;
  /** Counts every launch of the ticket in this run, from 1. */
  attempt: number;
  plan: RunPlan;
  project: RunProject;
  signal: AbortSignal;
};

export type StartAgent = (wish: StartWish) => Promise<LaunchedAgent | 'already-started'>;

type StartAgentOptions = {
  runsDir: string;
  signals: SignalStore;
  environment: () => Environment;
  /** Variables that say where the daemon's files lie. */
  locations: Readonly<Record<string, string>>;
  hostname: string;
  processStarts: ReadProcessStarts;
  now: () => Date;
};

export function createStartAgent(options: StartAgentOptions): StartAgent {
  const { runsDir, signals, environment, processStarts, now } = options;

  async function tellSignal(wish: StartWish, worktree: { path: string; branch: string }): Promise<void> {
    const { orchestrator, ticket, wave, project } = wish;
    const at = now().toISOString();
    const place = {
      ...(project.repo !== null && { repo: project.repo }),
      branch: worktree.branch,
      wave,
      worktreePath: worktree.path,
    };
    const made = await signals.create({
      ticket,
      orchestrator,
      workerName: ticket,
      status: 'dispatched',
      phase: 'dispatched',
      startedAt: at,
      updatedAt: at,
      ...place,
    });
    if (!made.ok) await signals.update(orchestrator, ticket, (before) => ({ ...before, ...place }));
  }

  return async (wish) => {
    const { orchestrator, ticket, attempt, plan, project } = wish;
    const worktree = await worktreeFor(project.worktrees, wish);
    await tellSignal(wish, worktree);
    const inbox = inboxPath(runsDir, wish);
    const filled = fillAgentTemplate(project.config.svc.orchestration.agent, {
      PROMPT: agentPrompt(plan.workerCommand, ticket, (await hasMessages(inbox)) ? inbox : undefined),
      MODEL: plan.workerModel,
      TICKET_ID: ticket,
      BRANCH_NAME: worktree.branch,
      WORKTREE_PATH: worktree.path,
    });
    if (!filled.ok) throw new Failure('config-invalid', filled.problems.join(' '));
    const launch = await launchAgent({
      argv: filled.argv,
      cwd: worktree.path,
      environment: environmentOf(options, wish, environment(), worktree.branch).environment,
      files: agentFiles(runsDir, { orchestrator, ticket, attempt }),
      processStarts,
    });
    if (launch.state === 'failed') throw new Failure('start-failed', launch.problem);
    if (launch.state === 'already-started') return 'already-started';
    const { pid, startedAt } = launch.agent;
    await signals.update(orchestrator, ticket, (before) => withProcess(before, pid, startedAt));
    return launch.agent;
  };
}

/** The one that is there, or a new one in its place when it was never finished. */
async function worktreeFor(
  worktrees: Worktrees,
  { orchestrator, ticket, plan, signal }: StartWish,
): Promise<{ path: string; branch: string }> {
  const known = (await worktrees.list()).find(({ name }) => name === ticket);
  if (known?.state === 'ready') return { path: known.path, branch: known.branch ?? ticket };
  if (known !== undefined && known.state !== 'being made') await worktrees.remove(ticket, { signal });
  const made = await worktrees.create(ticket, {
    base: plan.base,
    ticket,
    orchestration: orchestrator,
    signal,
  });
  return { path: made.path, branch: made.branch };
}

function environmentOf(
  { runsDir, hostname, locations }: Pick<StartAgentOptions, 'runsDir' | 'hostname' | 'locations'>,
  { orchestrator, ticket, project }: StartWish,
  inherited: Environment,
  branch: string,
) {
  const { svc } = project.config;
  return agentEnvironment({
    ...variableSources(project.config, inherited, locations),
    orchestrator,
    ticket,
    signalFile: signalPath(runsDir, orchestrator, ticket),
    inboxFile: inboxPath(runsDir, { orchestrator, ticket }),
    telemetry: {
      project: svc.project.name ?? svc.projectKey ?? '',
      hostname,
      branch,
      ticket,
      ticketPrefixes: [svc.project.ticketPrefix ?? svc.tracker.teamKey ?? []].flat(),
      orchestration: orchestrator,
    },
  });
}

function withProcess(before: SignalFile, pid: number, startedAt: string | null): SignalFile {
  return { ...before, pid, pidStartedAt: startedAt, error: null };
}
