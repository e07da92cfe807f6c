// Begins a run: everything that could be wrong with it is found before anything is made.
import { realpath } from 'node:fs/promises';
import {
  agentTemplateProblems,
  type Board,
  branchNameProblem,
  checkWorkerCommand,
  type Dependencies,
  type EventDraft,
  type OutsideBlocker,
  type PlanProblem,
  readPlan,
  safeSegment,
} from '@svc/core';
import { systemErrorCode } from '@svc/lib/errors';
import { Failure } from '../../errors.ts';
import type { RunProjects } from './run-project.ts';

export type RunWish = {
  /** Folder of the project. */
  project: string;
  plan: { tickets: readonly string[] } | { waves: readonly (readonly string[])[] } | { file: unknown };
  name?: string | undefined;
  maxParallel?: number | undefined;
  base?: string | undefined;
  by: string;
};

const DEFAULT_BASE = 'main';
const runName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$/;

/** The line that begins the run; its `scope.orchestrator` is the run's id. */
export async function beginRun({
  wish,
  board,
  projects,
  now,
}: {
  wish: RunWish;
  board: Board;
  projects: RunProjects;
  now: Date;
}): Promise<EventDraft & { scope: { orchestrator: string } }> {
  const folder = await realFolder(wish.project);
  const { config, problems, worktrees, checkAgent } = await projects.of(folder);
  if (problems.length > 0)
    throw new Failure(
      'config-invalid',
      problems.join('\n'),
      'Fix the file, then check it: svc config validate',
    );
  const { orchestration, projectKey } = config.svc;
  const command = checkWorkerCommand(orchestration.workerCommand);
  if (!command.ok) throw new Failure('config-invalid', command.problem);
  const template = agentTemplateProblems(orchestration.agent);
  if (template.length > 0) throw new Failure('config-invalid', template.join(' '));
  const read = readPlan(wish.plan);
  if (!read.ok) throw new Failure('usage', problemWords(read.problems));
  const { waves, blockedBy } = read.plan;
  refuseTaken(board, folder, waves.flat());
  const orchestrator = wish.name ?? idOf(projectKey ?? 'run', now);
  if (!safeSegment(orchestrator) || !runName.test(orchestrator))
    throw new Failure(
      'usage',
      'The name of a run has letters, digits, dots, dashes and underscores only, at most 120, and a letter or digit first.',
    );
  if (board.runs.has(orchestrator))
    throw new Failure('already-running', `There is a run named ${orchestrator}.`, 'Choose another name.');
  const base = wish.base ?? DEFAULT_BASE;
  const baseProblem = branchNameProblem(base);
  if (baseProblem !== undefined)
    throw new Failure('usage', `The base ${JSON.stringify(base)} ${baseProblem}.`);
  // A project without a key or a repository has no place for worktrees.
  await worktrees.base();
  await checkAgent();
  const maxParallel = wish.maxParallel ?? orchestration.maxParallel;
  return {
    event: 'orchestrator.run.started',
    source: 'orchestrator',
    via: 'local',
    scope: { orchestrator },
    detail: {
      plan: waves,
      ...(blockedBy && { blockedBy }),
      waves: waves.length,
      maxParallel,
      project: folder,
      base,
      workerCommand: orchestration.workerCommand,
      workerModel: orchestration.workerModel,
      by: wish.by,
    },
  };
}

function problemWords(problems: readonly PlanProblem[]): string {
  return problems.map(({ place, problem }) => `${place}: ${problem}`).join('\n');
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
        `${taken.slice(0, 5).join(', ')}: in the run ${orchestrator} already.`,
        `See: svc orchestrate status ${orchestrator}`,
      );
  }
}

/** One project has one name, whichever way leads to it: its slots are counted by it. */
async function realFolder(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined && !(error instanceof TypeError)) throw error;
    throw new Failure('usage', `The folder ${JSON.stringify(path)} of the project cannot be read.`);
  }
}

/** `web-20260102-030405` */
function idOf(projectKey: string, now: Date): string {
  const [day = '', time = ''] = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').split('T');
  return `${projectKey}-${day}-${time}`;
}

// Tickets in the order of their dependencies in the tracker: each is given what blocks it, and the waves follow from that.

/** What blocks which of the tickets, by the tracker of the project in the folder. */
export type AskDependencies = (project: string, tickets: readonly string[]) => Promise<Dependencies>;

export async function planByDependencies(
  wish: RunWish,
  ask: AskDependencies,
): Promise<{ wish: RunWish; outside: OutsideBlocker[] }> {
  // What is no plan at all is not worth a question.
  const read = readPlan(wish.plan);
  if (!read.ok) throw new Failure('usage', problemWords(read.problems));
  const { tickets, outside } = await ask(await realFolder(wish.project), read.plan.waves.flat());
  return { wish: { ...wish, plan: { file: { tickets } } }, outside };
}
