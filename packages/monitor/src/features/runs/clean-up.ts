// Removes the worktrees of tickets whose wave is over, unless something in them would be lost. What a killed daemon left
// undone, the next one does.
import { messageOf } from '@svc/lib/errors';
import { createLimit } from '@svc/lib/limit';
import type { Logger } from 'pino';
import type { Board } from '../../kernel/board/board.ts';
import { workerKey } from '../workers/reduce-worker.ts';
import type { ListedWorktree } from '../worktrees/io/worktrees.ts';
import type { RunProjects } from './io/run-project.ts';
import type { RunPlan } from './plan.ts';
import type { Run } from './run.ts';

type Tickets = { orchestrator: string; plan: Pick<RunPlan, 'project'>; tickets: readonly string[] };

type IsWanted = (worktree: ListedWorktree) => boolean;

/** `kept`: why it was not removed. */
type CleanedUp = { name: string; kept: string | null };

export type CleanUp = {
  /** `isWanted` is asked right before each removal. */
  run: (wanted: Tickets, isWanted?: IsWanted) => Promise<CleanedUp[]>;
  /** Resolves when the ticket's worktree is no longer about to be removed. */
  settled: (project: string, ticket: string) => Promise<void>;
};

export function createCleanUp({
  projects,
  stopping,
  logger,
}: {
  projects: RunProjects;
  stopping: AbortSignal;
  logger: Logger;
}): CleanUp {
  const oneAtATime = createLimit(1);
  const underWay = new Map<string, Promise<unknown>>();

  async function cleanUp({ orchestrator, plan, tickets }: Tickets, isWanted: IsWanted): Promise<CleanedUp[]> {
    const done: CleanedUp[] = [];
    if (stopping.aborted) return done;
    const { worktrees } = await projects.of(plan.project);
    for (const worktree of await worktrees.list()) {
      const { name } = worktree;
      if (!tickets.includes(name) || !isWanted(worktree)) continue;
      if (stopping.aborted) break;
      try {
        await worktrees.remove(name, { signal: stopping, scope: { orchestrator, ticket: name } });
        done.push({ name, kept: null });
      } catch (error) {
        const kept = messageOf(error);
        done.push({ name, kept });
        logger.info({ worker: workerKey(orchestrator, name), why: kept }, 'a worktree was kept');
      }
    }
    return done;
  }

  return {
    // One after the other: the end of the last wave is also the end of its run.
    run(wanted, isWanted = () => true) {
      const next = oneAtATime(() => cleanUp(wanted, isWanted));
      const done = next.catch(() => undefined);
      for (const ticket of wanted.tickets) underWay.set(keyOf(wanted.plan.project, ticket), done);
      void done.finally(() => {
        for (const [key, last] of underWay) if (last === done) underWay.delete(key);
      });
      return next;
    },
    async settled(project, ticket) {
      await underWay.get(keyOf(project, ticket));
    },
  };
}

function keyOf(project: string, ticket: string): string {
  return JSON.stringify([project, ticket]);
}

/** Once, when the daemon has started. A worktree that was created since does not belong to the run. */
export async function cleanUpAfterRestart(board: Board, cleanUp: CleanUp): Promise<void> {
  const runs = [...board.runs.values()].filter(isPlanned);
  for (const { orchestrator, plan, waves } of runs) {
    const over = new Set(waves.filter(({ state }) => state === 'completed').map(({ wave }) => wave));
    const tickets = plan.waves
      .filter((_, index) => over.has(index + 1))
      .flat()
      .filter((ticket) => !isElsewhere(runs, orchestrator, plan, ticket));
    if (tickets.length === 0) continue;
    await cleanUp.run({ orchestrator, plan, tickets }, ({ name, path, made }) => {
      const worker = board.workers.get(workerKey(orchestrator, name));
      if (worker === undefined || made === null || worker.signal?.worktreePath !== path) return false;
      return Date.parse(made.at) <= Date.parse(worker.lastAt);
    });
  }
}

type Planned = Run & { plan: RunPlan };

function isPlanned(run: Run): run is Planned {
  return run.plan !== null;
}

/** A ticket that another run is working on has its worktree from that run. */
function isElsewhere(runs: readonly Planned[], orchestrator: string, plan: RunPlan, ticket: string): boolean {
  return runs.some(
    (run) =>
      run.orchestrator !== orchestrator &&
      run.plan.project === plan.project &&
      (run.state === 'running' || run.state === 'paused') &&
      run.plan.waves.flat().includes(ticket),
  );
}
