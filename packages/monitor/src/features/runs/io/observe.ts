// What the run loop decides on: the board and the disk, read again each time. It only remembers when a process was first
// found gone.
import { messageOf } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { stat } from '@svc/lib/paths';
import type { ReadProcessStarts } from '@svc/lib/system';
import type { Board } from '../../../kernel/board/board.ts';
import { spendersOf } from '../../agents/budget.ts';
import { endMarks, type FoundAgent, findAgents, type MarkedEnd } from '../../agents/io/find-agents.ts';
import { agentFiles } from '../../agents/io/launch.ts';
import { pullRequestOfWorker } from '../../pull-requests/own-pull-request.ts';
import { awaitingReview } from '../../pull-requests/pull-request-verdict.ts';
import { workerKey } from '../../workers/reduce-worker.ts';
import type { Worker } from '../../workers/worker.ts';
import type { LiveAgent, PlannedRun, ProjectLimits, Revivals, Verification, World } from '../acts.ts';
import { endsWithItsRun } from '../next-acts.ts';
import type { RunPlan } from '../plan.ts';
import type { Run } from '../run.ts';
import { limitsOf, type RunProjects } from './run-project.ts';

export type RunMemory = {
  /** Dispatches and revivals in progress, by worker key, and since when. */
  starting: Map<string, string>;
  verifying: Set<string>;
  /** When the last process of a worker was first found gone, by worker key and attempt. */
  goneAt: Map<string, string>;
  /** The last activity of each agent, and since when it is the last one. */
  activity: Map<string, { last: string; since: number }>;
  /** Jobs that run in the background. */
  jobs: Set<Promise<void>>;
};

export function emptyMemory(): RunMemory {
  return {
    starting: new Map(),
    verifying: new Set(),
    goneAt: new Map(),
    activity: new Map(),
    jobs: new Set(),
  };
}

export type Observation = {
  world: World;
  /** Every attempt of the runs, newest last per ticket. */
  agents: readonly FoundAgent[];
  /** Runs whose project cannot be read, with the reason. */
  unreadable: { orchestrator: string; problem: string }[];
};

type Planned = Run & { plan: RunPlan };

/** A finished run starts nothing; its agents take slots of the project until they have ended. */
const limitsOfOver: ProjectLimits = {
  maxParallel: Number.POSITIVE_INFINITY,
  maxAwaitingReview: null,
  verifyBeforeMerge: false,
  allowSelfReportedCompletion: true,
  stallAfterSec: 0,
  budget: { ticketUsd: null, runUsd: null, dayUsd: null },
};

export function createObserver({
  runsDir,
  projects,
  processStarts,
  now,
  elapsedMs = () => performance.now(),
}: {
  runsDir: string;
  projects: RunProjects;
  processStarts: ReadProcessStarts;
  now: () => Date;
  /** Time that no change of the clock and no suspend adds to. */
  elapsedMs?: () => number;
}): (board: Board, memory: RunMemory) => Promise<Observation> {
  return async (board, memory) => {
    // Before the disk is read: a start that finishes meanwhile has a pid file that may not be found yet.
    const starting = new Map(memory.starting);
    const planned = [...board.runs.values()].filter((run): run is Planned => run.plan !== null);
    const agents: FoundAgent[] = [];
    const runs: PlannedRun[] = [];
    const unreadable: Observation['unreadable'] = [];
    const ends = new Map<string, ReadonlyMap<string, MarkedEnd>>();
    const unended = new Set(
      [...board.workers.values()].filter(endsWithItsRun).map(({ orchestrator }) => orchestrator),
    );
    for (const run of planned) {
      const { plan } = run;
      const isOpen = run.state === 'running' || run.state === 'paused';
      const found = await findAgents({ runsDir, orchestrator: run.orchestrator, processStarts, now });
      if (!isOpen && !found.some(isLive) && !unended.has(run.orchestrator)) continue;
      agents.push(...found);
      ends.set(run.orchestrator, await endMarks(runsDir, run.orchestrator));
      try {
        // A finished run can end even when its project can no longer be read.
        const limits = isOpen ? limitsOf(await projects.of(plan.project), plan) : limitsOfOver;
        runs.push({
          run,
          plan,
          limits,
          awaitingReview: reviewLoad(board, planned, plan.project),
          spenders: spendersOf(board, plan.project),
        });
      } catch (error) {
        const problem = messageOf(error);
        unreadable.push({ orchestrator: run.orchestrator, problem });
      }
    }
    const at = now().toISOString();
    const world: World = {
      now: at,
      runs,
      workers: board.workers,
      processes: await processesOf(agents, board, memory, starting),
      revivals: revivalsOf(agents, ends, board, memory, at),
      verifications: verificationsOf(board, memory),
    };
    return { world, agents, unreadable };
  };

  async function processesOf(
    agents: readonly FoundAgent[],
    board: Board,
    memory: RunMemory,
    starting: ReadonlyMap<string, string>,
  ): Promise<Map<string, LiveAgent>> {
    const processes = new Map<string, LiveAgent>();
    const watched = new Map(memory.activity);
    memory.activity.clear();
    for (const agent of agents.filter(isLive)) {
      const key = workerKey(agent.orchestrator, agent.ticket);
      const { output, journal } = agentFiles(runsDir, agent);
      const known = board.workers.get(key)?.agent;
      const reported = known?.attempt === agent.attempt ? known.state : null;
      const reportedAt = board.workers.get(key)?.signal?.updatedAt ?? '';
      const last = [agent.launchedAt, await changedAt(output), await changedAt(journal), reportedAt].join(
        ' ',
      );
      const before = watched.get(key);
      const since = before?.last === last ? before.since : elapsedMs();
      memory.activity.set(key, { last, since });
      const processState = agent.state === 'starting' ? 'starting' : 'running';
      processes.set(key, { state: processState, silentSec: (elapsedMs() - since) / 1_000, reported });
    }
    for (const key of starting.keys()) {
      if (!processes.has(key)) processes.set(key, { state: 'starting', silentSec: 0, reported: null });
    }
    return processes;
  }
}

/** If the owner of a process is unknown, it counts as alive, and no second one is started. */
export function isLive({ state }: FoundAgent): boolean {
  return state !== 'gone';
}

/** Launches since the dispatch, or since a person's retry. */
function revivalsOf(
  agents: readonly FoundAgent[],
  ends: ReadonlyMap<string, ReadonlyMap<string, MarkedEnd>>,
  board: Board,
  memory: RunMemory,
  now: string,
): Map<string, Revivals> {
  const revivals = new Map<string, Revivals>();
  for (const agent of agents) {
    const key = workerKey(agent.orchestrator, agent.ticket);
    const retriedAt = board.workers.get(key)?.retriedAt ?? '';
    if (agent.launchedAt <= retriedAt) continue;
    const attempt = `${key} ${agent.attempt}`;
    if (isLive(agent)) memory.goneAt.delete(attempt);
    else if (!memory.goneAt.has(attempt)) memory.goneAt.set(attempt, now);
    revivals.set(key, {
      count: (revivals.get(key)?.count ?? -1) + 1,
      lastDeathAt: memory.goneAt.get(attempt) ?? null,
      lastEnd: ends.get(agent.orchestrator)?.get(`${agent.ticket}.${agent.attempt}`) ?? 'died',
      lastLaunchAt: agent.launchedAt,
    });
  }
  // A launch to deliver a message about its pull request is not a revival.
  for (const [key, { recalls }] of board.workers) {
    const known = recalls === 0 ? undefined : revivals.get(key);
    if (known !== undefined) revivals.set(key, { ...known, count: Math.max(0, known.count - recalls) });
  }
  return revivals;
}

/** A verification that is running by the log but not here was interrupted: it is started again. */
function verificationsOf(board: Board, { verifying }: RunMemory): Map<string, Verification> {
  const verifications = new Map<string, Verification>();
  for (const [key, { verification }] of board.workers) {
    const isRunning = verifying.has(key);
    if (verification === null || (verification.state === 'running' && !isRunning)) {
      if (isRunning) verifications.set(key, { state: 'running', remediation: 'none' });
      continue;
    }
    // The outbox files what failed.
    const remediation = verification.remediation === null ? 'filing' : 'filed';
    verifications.set(key, { state: verification.state, remediation });
  }
  return verifications;
}

function reviewLoad(board: Board, runs: readonly Planned[], project: string): number {
  const own = new Set(runs.filter(({ plan }) => plan.project === project).map((run) => run.orchestrator));
  const workers: Worker[] = [...board.workers.values()].filter(({ orchestrator }) => own.has(orchestrator));
  return awaitingReview(workers.flatMap((worker) => pullRequestOfWorker(board, worker) ?? [])).length;
}

async function changedAt(path: string): Promise<string> {
  return (await ifPresent(stat(path)))?.mtime.toISOString() ?? '';
}
