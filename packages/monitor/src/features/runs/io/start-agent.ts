// Starts the agent of a ticket: its worktree, its signal file, its process. Each step finds what an earlier interrupted
// attempt has left, so it can be repeated safely.
import type { SignalFile } from '@svc/contract/signal-file';
import type { ReadProcessStarts } from '@svc/lib/system';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import { writeFileAtomically } from '../../../kernel/disk/atomic-write.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import { agentEnvironment } from '../../agents/agent-environment.ts';
import { fillAgentTemplate, promptWithInbox, promptWithTicket } from '../../agents/agent-template.ts';
import { makeRecord, writeRecord } from '../../agents/io/agent-record.ts';
import { inboxPath, readInbox } from '../../agents/io/inbox.ts';
import { agentFiles, type LaunchedAgent, launchAgent } from '../../agents/io/launch.ts';
import { variableSources } from '../../agents/io/project-agents.ts';
import { ticketGiven } from '../../tracker/io/ticket-given.ts';
import { ticketPrompt } from '../../tracker/ticket-text.ts';
import { ticketPrefixOf } from '../../tracker/tracker-of.ts';
import type { WorkerAgent } from '../../workers/agent-fields.ts';
import { signalPath } from '../../workers/io/signal-folder.ts';
import type { SignalStore } from '../../workers/io/signal-store.ts';
import type { Worktrees } from '../../worktrees/io/worktrees.ts';
import type { RunPlan } from '../plan.ts';
import type { RunProject } from './run-project.ts';

export type StartRequest = {
  orchestrator: string;
  ticket: string;
  wave: number;
  /** Counts every launch of the ticket in this run, from 1. */
  attempt: number;
  plan: RunPlan;
  /** What the board knows of the attempt before this one. */
  previous: WorkerAgent | null;
  project: RunProject;
  signal: AbortSignal;
};

export type StartAgent = (request: StartRequest) => Promise<LaunchedAgent | 'already-started'>;

type StartAgentOptions = {
  runsDir: string;
  signals: SignalStore;
  environment: () => Environment;
  /** Variables with the locations of the daemon's files. */
  locations: Readonly<Record<string, string>>;
  hostname: string;
  processStarts: ReadProcessStarts;
  /** Resolves when the board has the current content of the worker's signal file. */
  syncSignal: (worker: { orchestrator: string; ticket: string }) => Promise<void>;
  /** `log.appendOnce` */
  append: (draft: EventDraft) => Promise<unknown>;
  now: () => Date;
};

export function createStartAgent(options: StartAgentOptions): StartAgent {
  const { runsDir, signals, environment, processStarts, now } = options;

  async function writeSignal(
    request: StartRequest,
    worktree: { path: string; branch: string },
  ): Promise<void> {
    const { orchestrator, ticket, wave, project } = request;
    const at = now().toISOString();
    const location = {
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
      ...location,
    });
    if (!made.ok) await signals.update(orchestrator, ticket, (before) => ({ ...before, ...location }));
  }

  return async (request) => {
    const { orchestrator, ticket, attempt, plan, project } = request;
    const worktree = await worktreeFor(project.worktrees, request);
    await writeSignal(request, worktree);
    const agent = { orchestrator, ticket, attempt };
    const { prompt, ...chosen } = await project.agentFor(plan, ticket);
    const content = await project.readTicket(ticket);
    const text = content === null ? null : ticketPrompt(content);
    const inbox = inboxPath(runsDir, request);
    const record = await makeRecord({
      ...request,
      runsDir,
      agent,
      chosen,
      prompt,
      ticket: text,
      cwd: worktree.path,
      inbox,
    });
    await writeRecord(runsDir, agent, record);
    const files = agentFiles(runsDir, agent);
    const ticketFile = chosen.protocol || text === null ? null : files.ticket;
    if (ticketFile !== null && text !== null)
      await writeFileAtomically(ticketFile, `${text}\n`, { mode: 0o600, folderMode: 0o700 });
    // A continued session has what it was given before, and gets what changed since as a message.
    if (content !== null && (record.setup === null || record.setup.resume === null)) {
      await options.syncSignal(agent);
      await options.append(ticketGiven(agent, content));
    }
    const { environment: variables } = environmentOf(options, request, environment(), worktree.branch);
    const launch = await launchAgent({
      argv: chosen.protocol
        ? chosen.argv
        : await commandLine(request, worktree, prompt, { inbox, ticketFile }),
      cwd: worktree.path,
      environment: chosen.protocol ? { ...variables, ...chosen.env } : variables,
      files,
      isTalkedTo: chosen.protocol,
      processStarts,
    });
    if (launch.state === 'failed') throw new Failure('start-failed', launch.problem);
    if (launch.state === 'already-started') return 'already-started';
    const { pid, startedAt } = launch.agent;
    await signals.update(orchestrator, ticket, (before) => withProcess(before, pid, startedAt));
    return launch.agent;
  };
}

async function commandLine(
  { ticket, plan, project }: StartRequest,
  worktree: { path: string; branch: string },
  work: string,
  { inbox, ticketFile }: { inbox: string; ticketFile: string | null },
): Promise<[program: string, ...args: string[]]> {
  const prompt = ticketFile === null ? work : promptWithTicket(work, ticketFile);
  const hasMessages = (await readInbox(inbox)).length > 0;
  const filled = fillAgentTemplate(project.config.svc.orchestration.agent, {
    PROMPT: hasMessages ? promptWithInbox(prompt, inbox) : prompt,
    MODEL: plan.workerModel,
    TICKET_ID: ticket,
    BRANCH_NAME: worktree.branch,
    WORKTREE_PATH: worktree.path,
  });
  if (!filled.ok) throw new Failure('config-invalid', filled.problems.join(' '));
  return filled.argv;
}

/** The existing worktree, or a new one if the existing one was never finished. */
async function worktreeFor(
  worktrees: Worktrees,
  { orchestrator, ticket, plan, signal }: StartRequest,
): Promise<{ path: string; branch: string }> {
  const known = (await worktrees.list()).find(({ name }) => name === ticket);
  if (known?.state === 'ready') return { path: known.path, branch: known.branch ?? ticket };
  if (known !== undefined && known.state !== 'being created') await worktrees.remove(ticket, { signal });
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
  { orchestrator, ticket, project }: StartRequest,
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
      ticketPrefixes: [ticketPrefixOf(project.config) ?? []].flat(),
      orchestration: orchestrator,
    },
  });
}

function withProcess(before: SignalFile, pid: number, startedAt: string | null): SignalFile {
  return { ...before, pid, pidStartedAt: startedAt, error: null };
}
