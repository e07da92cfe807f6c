// Advances runs: reads the board and the disk, decides with one pure rule what to do, does it, and repeats when something
// has changed or after a while. It stores nothing that a restart would miss: plans are in the log, agents are found by
// their pid files.
import { messageOf } from '@svc/lib/errors';
import { every, type Rounds } from '@svc/lib/rounds';
import type { ReadProcessStarts } from '@svc/lib/system';
import type { Logger } from 'pino';
import type { StateFollower } from '../../../kernel/board/state-follower.ts';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import type { Agents } from '../../agents/io/agents.ts';
import { endLeftovers, type FoundAgent } from '../../agents/io/find-agents.ts';
import type { SignalStore } from '../../workers/io/signal-store.ts';
import { workerKey } from '../../workers/reduce-worker.ts';
import { type Act, defaultTimings, type RunTimings } from '../acts.ts';
import { createBudgetNotices } from '../budget-notices.ts';
import { type CleanUp, cleanUpAfterRestart, createCleanUp } from '../clean-up.ts';
import { nextActs } from '../next-acts.ts';
import { createExecutor } from './execute-act.ts';
import { createObserver, emptyMemory, type Observation } from './observe.ts';
import { type AskModel, createRunEnds } from './run-ends.ts';
import type { RunProjects } from './run-project.ts';
import type { StartAgent } from './start-agent.ts';

// Ends the processes of agents whose end was not seen: each agent that is found gone is handled once.

type Leftovers = { end: (agents: readonly FoundAgent[]) => void };

function createLeftovers({ logger }: { logger: Logger }): Leftovers {
  const handled = new Set<string>();
  let before: Promise<void> = Promise.resolve();

  async function endOf({ orchestrator, ticket, attempt }: FoundAgent, pid: number): Promise<void> {
    const worker = workerKey(orchestrator, ticket);
    try {
      const left = await endLeftovers({ pid, orchestrator, ticket });
      if (left !== 'none') logger.warn({ worker, attempt, pid, left }, 'an agent left processes running');
    } catch (error) {
      logger.error({ err: error, worker, attempt, pid }, 'leftover processes cannot be ended');
    }
  }

  return {
    end(agents) {
      for (const agent of agents) {
        const name = `${workerKey(agent.orchestrator, agent.ticket)} ${agent.attempt}`;
        if (agent.state !== 'gone' || agent.pid === null || handled.has(name)) continue;
        const { pid } = agent;
        handled.add(name);
        before = before.then(() => endOf(agent, pid));
      }
    },
  };
}

const ROUND_EVERY_MS = 2_000;

export type Hold = Extract<Act, { kind: 'hold' }>;

declare module '../../../kernel/feature.ts' {
  interface DaemonParts {
    /** Removes the worktrees of a run that has ended. */
    cleanUp: Orchestrator['cleanUp'];
  }
}

export type Orchestrator = {
  start: () => void;
  /** Runs a round now; resolves when its acts are started. */
  checkNow: () => Promise<void>;
  /** Why something is on hold, as of the last round. */
  holds: (orchestrator: string) => Hold[];
  /** Whether the agent of a dead worker will be started again, as of the last round. */
  willRevive: (worker: { orchestrator: string; ticket: string }) => boolean;
  /** Live agents, as of the last round. */
  running: () => number;
  problem: () => string | null;
  /** Removes worktrees unless something would be lost; no agent is started in one meanwhile. */
  cleanUp: CleanUp['run'];
  stop: () => Promise<void>;
};

export function createOrchestrator(options: {
  runsDir: string;
  state: Pick<StateFollower, 'board' | 'ready' | 'reached' | 'onChange'>;
  append: (draft: EventDraft) => Promise<{ seq: number }>;
  projects: RunProjects;
  signals: SignalStore;
  startAgent: StartAgent;
  processStarts: ReadProcessStarts;
  agents: Pick<Agents, 'follow' | 'noteEnd' | 'problem' | 'settled' | 'stop'>;
  /** A model's text about a finished run, for its summary. */
  askModel: AskModel;
  logger: Logger;
  now: () => Date;
  timings?: RunTimings;
  everyMs?: number;
}): Orchestrator {
  const { state, append, projects, agents, logger, timings = defaultTimings } = options;
  const memory = emptyMemory();
  const stopping = new AbortController();
  const observe = createObserver(options);
  const cleanUp = createCleanUp({ projects, stopping: stopping.signal, logger });
  const leftovers = createLeftovers({ logger });
  let last: { observed: Observation; acts: Act[] } | null = null;
  let problem: string | null = null;
  /** One at a time: two rounds at once could both find a free slot. */
  let rounds: Rounds | null = null;
  let unsubscribe: (() => void) | null = null;

  const execute = createExecutor({
    ...options,
    memory,
    cleanUp,
    noteEnd: agents.noteEnd,
    append: appendAndWait,
    wake,
    stopping: stopping.signal,
  });
  const noteBudgets = createBudgetNotices({ board: state.board, append: appendAndWait });
  const ends = createRunEnds({
    ...options,
    board: state.board,
    costsKnown: async () => state.reached(await agents.settled()),
    append: appendAndWait,
    stopping: stopping.signal,
  });

  async function appendAndWait(draft: EventDraft): Promise<void> {
    const { seq } = await append(draft);
    await state.reached(seq);
  }

  function failed(error: unknown): void {
    problem = messageOf(error);
    logger.error({ err: error }, 'runs cannot be advanced');
  }

  async function runRound(): Promise<void> {
    const observed = await observe(state.board(), memory);
    const acts = nextActs(observed.world, timings);
    last = { observed, acts };
    agents.follow(observed.agents);
    leftovers.end(observed.agents);
    problem = observed.unreadable[0]?.problem ?? null;
    for (const act of acts) {
      if (stopping.signal.aborted) return;
      await execute(act, observed);
    }
    await noteBudgets(observed);
    ends.follow(observed);
  }

  function wake(): void {
    if (!stopping.signal.aborted) void rounds?.runAfresh();
  }

  async function begin(): Promise<void> {
    await state.ready;
    if (stopping.signal.aborted) return;
    rounds = every(options.everyMs ?? ROUND_EVERY_MS, runRound, failed);
    unsubscribe = state.onChange(({ lines }) => {
      if (lines.some(({ event }) => !event.startsWith('monitor.'))) wake();
      if (lines.some(({ event, source }) => event === 'feedback.drained' && source === 'cli'))
        ends.findingsFiled();
    });
    wake();
    await cleanUpAfterRestart(state.board(), cleanUp);
  }

  return {
    start() {
      begin().catch((error: unknown) => {
        if (!stopping.signal.aborted) failed(error);
      });
    },
    async checkNow() {
      if (!stopping.signal.aborted) await rounds?.runAfresh();
    },
    holds: (orchestrator) =>
      (last?.acts ?? []).filter(
        (act): act is Hold => act.kind === 'hold' && act.orchestrator === orchestrator,
      ),
    willRevive({ orchestrator, ticket }) {
      const run = state.board().runs.get(orchestrator);
      if (run?.plan === undefined || run.plan === null) return false;
      if (run.state !== 'running' && run.state !== 'paused') return false;
      const launched = last?.observed.world.revivals.get(workerKey(orchestrator, ticket));
      // Not launched since a person's retry: it waits for a slot.
      if (launched === undefined) return true;
      return launched.lastEnd !== 'unstartable' && launched.count < timings.revivalDelaysSec.length;
    },
    running: () => last?.observed.world.processes.size ?? 0,
    problem: () => problem ?? agents.problem(),
    cleanUp: cleanUp.run,
    async stop() {
      stopping.abort();
      unsubscribe?.();
      await rounds?.stop();
      await Promise.all(memory.jobs);
      await ends.stop();
      await agents.stop();
    },
  };
}
