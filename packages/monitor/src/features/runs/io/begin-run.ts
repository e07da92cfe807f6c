// Starts a run: everything that could be wrong with it is found before anything is created.
import { safeSegment } from '@svc/contract/signal-file';
import { systemErrorCode } from '@svc/lib/errors';
import { realpath } from '@svc/lib/paths';
import type { Board } from '../../../kernel/board/board.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import { agentTemplateProblems } from '../../agents/agent-template.ts';
import type { AgentCheck } from '../../agents/api.ts';
import { budgetStop, spendersOf } from '../../agents/budget.ts';
import type { AgentProblem } from '../../agents/choice.ts';
import { checkWorkerCommand } from '../../agents/worker-command.ts';
import type { Config } from '../../config.ts';
import type { Dependencies, OutsideBlocker } from '../../tracker/dependencies.ts';
import { ticketWritten } from '../../tracker/tracker-of.ts';
import { branchNameProblem } from '../../worktrees/branch-name.ts';
import { type PlanProblem, type RunPlan, readPlan } from '../plan.ts';
import { asProblem, type RunProject, type RunProjects } from './run-project.ts';

export type RunRequest = {
  /** Folder of the project. */
  project: string;
  plan: { tickets: readonly string[] } | { waves: readonly (readonly string[])[] } | { file: unknown };
  name?: string | undefined;
  maxParallel?: number | undefined;
  base?: string | undefined;
  /** The agent of every ticket, and by ticket the one that it gets instead. */
  agent?: string | undefined;
  agents?: Record<string, string> | undefined;
  /** For `agent`. */
  model?: string | undefined;
  mode?: string | undefined;
  by: string;
};

const DEFAULT_BASE = 'main';
const runName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$/;

type Given = {
  request: RunRequest;
  board: Board;
  projects: RunProjects;
  now: Date;
  /** Its agents were checked a moment ago. */
  isChecked?: boolean;
  /** For a task whose ticket is still to be created: its name in the plan stands for it. */
  isTask?: boolean;
};

/** The event that starts the run; its `scope.orchestrator` is the run's id. */
export async function beginRun(given: Given) {
  const { started, missing } = await prepareRun(given);
  refuseUnready(missing);
  return started;
}

export type PreparedRun = {
  /** Its real folder. */
  project: string;
  tickets: string[];
  started: EventDraft & { scope: { orchestrator: string } };
  /** Everything that prevents the start, each with its fix. */
  missing: AgentProblem[];
  /** What the agents answered. */
  checks: AgentCheck[];
};

/** Rejects a request that is wrong in itself. What is missing on this machine is listed instead. */
export async function prepareRun({
  request,
  board,
  projects,
  now,
  isChecked = false,
  isTask = false,
}: Given): Promise<PreparedRun> {
  const folder = await realFolder(request.project);
  const served = await projects.of(folder);
  const { config } = served;
  const { orchestration } = config.svc;
  const read = readPlan(request.plan, ticketIn(config));
  if (!read.ok) throw new Failure('usage', problemText(read.problems));
  const { waves, blockedBy } = read.plan;
  const tickets = waves.flat();
  refuseTaken(board, folder, tickets);
  const agents = { ...read.plan.agents, ...request.agents };
  const stranger = Object.keys(agents).find((ticket) => !tickets.includes(ticket));
  if (stranger !== undefined)
    throw new Failure(
      'usage',
      `An agent is chosen for ${JSON.stringify(stranger)}, which is not in this run.`,
    );
  const orchestrator =
    request.name ?? nameAfter(tickets[0] ?? 'run', [...board.runs.keys(), ...(await served.usedNames())]);
  if (!safeSegment(orchestrator) || !runName.test(orchestrator))
    throw new Failure(
      'usage',
      'A run name has at most 120 letters, digits, dots, dashes and underscores, and starts with a letter or digit.',
    );
  if (board.runs.has(orchestrator))
    throw new Failure('already-running', `The run ${orchestrator} exists already.`, 'Choose another name.');
  const base = request.base ?? DEFAULT_BASE;
  const baseProblem = branchNameProblem(base);
  if (baseProblem !== undefined)
    throw new Failure('usage', `The base ${JSON.stringify(base)} ${baseProblem}.`);
  const plan: RunPlan = {
    waves,
    project: folder,
    base,
    workerCommand: orchestration.workerCommand,
    workerModel: request.model ?? orchestration.workerModel,
    maxParallel: request.maxParallel ?? orchestration.maxParallel,
    ...(request.agent !== undefined && { agent: request.agent }),
    ...(request.model !== undefined && { model: request.model }),
    ...(request.mode !== undefined && { mode: request.mode }),
    ...(Object.keys(agents).length > 0 && { agents }),
  };
  const unready = await findUnready(
    { project: served, plan, spender: { orchestrator, ticket: null }, tickets, board, now },
    { isChecked, created: isTask ? [] : tickets },
  );
  const started: PreparedRun['started'] = {
    event: 'orchestrator.run.started',
    source: 'orchestrator',
    via: 'local',
    scope: { orchestrator },
    detail: {
      ...plan,
      plan: waves,
      ...(blockedBy && { blockedBy }),
      waves: waves.length,
      by: request.by,
    },
  };
  return { project: folder, tickets, started, ...unready };
}

/** Everything on this machine that prevents agents of these tickets from working, each with its fix. */
export async function findUnready(
  given: {
    project: RunProject;
    plan: RunPlan;
    /** What is about to cost something. */
    spender: { orchestrator: string; ticket: string | null };
    tickets: readonly string[];
    board: Board;
    now: Date;
  },
  { isChecked = false, created = given.tickets }: { isChecked?: boolean; created?: readonly string[] } = {},
): Promise<Pick<PreparedRun, 'missing' | 'checks'>> {
  const { project, plan, spender, tickets, board, now } = given;
  const { config, problems, worktrees, findMissing } = project;
  const missing = configProblems(config, problems);
  // A project without a key or a repository has no folder for worktrees.
  missing.push(...[(await asProblem(worktrees.base())) ?? []].flat());
  // What is configured wrong cannot be checked further.
  const asked =
    isChecked || missing.length > 0 ? { missing: [], checks: [] } : await findMissing(plan, tickets, created);
  const { budget } = config.svc.orchestration;
  const stop = budgetStop(spendersOf(board, plan.project), spender, budget, now.toISOString());
  if (stop !== null) missing.push({ problem: `${stop.message}.`, remedy: `Raise it: ${stop.remedy}` });
  return { missing: [...missing, ...asked.missing], checks: asked.checks };
}

function configProblems({ svc: { orchestration } }: Config, problems: readonly string[]): AgentProblem[] {
  const remedy = 'Fix the file, then check it: svc config validate';
  const command = checkWorkerCommand(orchestration.workerCommand);
  return [
    ...problems,
    ...(command.ok ? [] : [command.problem]),
    ...agentTemplateProblems(orchestration.agent),
  ].map((problem) => ({ problem, remedy }));
}

/** A person may also name a ticket by the number or the address of its issue. */
function ticketIn(config: Config): (written: string) => string {
  return (written) =>
    /^(?:#|https?:)/.test(written) ? (ticketWritten(written, [config]) ?? written) : written;
}

function problemText(problems: readonly PlanProblem[]): string {
  return problems.map(({ place, problem }) => `${place}: ${problem}`).join('\n');
}

/** Everything that is missing is reported at once. */
export function refuseUnready(missing: readonly AgentProblem[]): void {
  const [first, ...others] = missing;
  if (first === undefined) return;
  if (others.length === 0) throw new Failure('not-ready', first.problem, first.remedy || undefined);
  const lines = missing.map(({ problem, remedy }, index) => `${index + 1}. ${problem} ${remedy}`.trim());
  throw new Failure(
    'not-ready',
    `${missing.length} things are missing:\n${lines.join('\n')}`,
    'Fix them, then start it again.',
  );
}

/** A ticket has one worktree in its project, and belongs to one run at a time. */
export function refuseTaken(board: Board, project: string, tickets: readonly string[]): void {
  const wanted = new Set(tickets.map((ticket) => ticket.toLowerCase()));
  for (const { orchestrator, plan, state } of board.runs.values()) {
    if (plan?.project !== project || state === 'completed' || state === 'canceled') continue;
    const taken = plan.waves.flat().filter((ticket) => wanted.has(ticket.toLowerCase()));
    if (taken.length > 0)
      throw new Failure(
        'already-running',
        `Already in the run ${orchestrator}: ${taken.slice(0, 5).join(', ')}.`,
        `Show the run: svc orchestrate status ${orchestrator}`,
      );
  }
}

/** One canonical path per project, however it was reached: its slots are counted by it. */
async function realFolder(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined && !(error instanceof TypeError)) throw error;
    throw new Failure('usage', `The project folder ${JSON.stringify(path)} cannot be read.`);
  }
}

/** A run is named by its first ticket: `ABC-1`, the next one `ABC-1-2`. Folders have its name, whatever the case. */
function nameAfter(ticket: string, taken: Iterable<string>): string {
  const names = new Set([...taken].map((name) => name.toLowerCase()));
  const name = ticket.slice(0, 100);
  for (let number = 1; ; number += 1) {
    const next = number === 1 ? name : `${name}-${number}`;
    if (!names.has(next.toLowerCase())) return next;
  }
}

// Orders tickets by their dependencies in the tracker: each ticket gets its blockers, and the waves follow from them.

/** Which tickets block which, according to the tracker of the project in this folder. */
export type AskDependencies = (project: string, tickets: readonly string[]) => Promise<Dependencies>;

export async function planByDependencies(
  request: RunRequest,
  projects: Pick<RunProjects, 'of'>,
  ask: AskDependencies,
): Promise<{ request: RunRequest; outside: OutsideBlocker[] }> {
  const folder = await realFolder(request.project);
  const { config } = await projects.of(folder);
  const read = readPlan(request.plan, ticketIn(config));
  // An invalid plan is not worth a request.
  if (!read.ok) throw new Failure('usage', problemText(read.problems));
  const { tickets, outside } = await ask(folder, read.plan.waves.flat());
  return { request: { ...request, plan: { file: { tickets } } }, outside };
}
