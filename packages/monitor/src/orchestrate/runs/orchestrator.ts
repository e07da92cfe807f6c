// Advances runs: reads the board and the disk, decides with one pure rule what to do, does it, and repeats when something
// has changed or after a while. It stores nothing that a restart would miss: plans are in the log, agents are found by
// their pid files.

import {
  type Act,
  type AgentStream,
  defaultTimings,
  type EventDraft,
  nextActs,
  type RunTimings,
  workerKey,
} from '@svc/core';
import { messageOf } from '@svc/lib/errors';
import { every, type Rounds } from '@svc/lib/rounds';
import type { Logger } from 'pino';
import type { ReadProcessStarts } from '../../runs/processes.ts';
import type { SignalStore } from '../../runs/signal-store.ts';
import type { StateFollower } from '../../state/state-follower.ts';
import type { Agents } from '../agents/agents.ts';
import { endLeftovers, type FoundAgent } from '../agents/find-agents.ts';
import { agentFiles } from '../agents/launch.ts';
import { type OutputWatch, watchOutput } from '../agents/output.ts';
import { cleanUpAfterRestart, createCleanUp } from './clean-up.ts';
import { createExecutor } from './execute-act.ts';
import { createObserver, emptyMemory, isLive, type Observation } from './observe.ts';
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

// Writes the cost and tokens from the agents' streams into their signal files, at most every few seconds.

const WRITE_EVERY_MS = 10_000;

type Costs = {
  /** Follows live agents; when an agent ends, its latest cost is written. */
  follow: (agents: readonly FoundAgent[]) => void;
  /** Resolves when the costs of agents that have ended are written. */
  written: () => Promise<void>;
  stop: () => Promise<void>;
};

type Followed = { watch: OutputWatch; orchestrator: string; ticket: string; written: string; at: number };

function keepCosts({
  runsDir,
  signals,
  onProblem,
}: {
  runsDir: string;
  signals: Pick<SignalStore, 'update'>;
  onProblem: (error: unknown) => void;
}): Costs {
  const followed = new Map<string, Followed>();
  const writing = new Set<Promise<void>>();
  const lettingGo = new Set<Promise<void>>();

  function write(one: Followed): void {
    const { cost } = one.watch.stream();
    const text = JSON.stringify(cost);
    if (text === one.written || isNothing(cost)) return;
    one.written = text;
    one.at = performance.now();
    const job = signals
      .update(one.orchestrator, one.ticket, (signal) => ({ ...signal, cost: { ...signal.cost, ...cost } }))
      .then(() => undefined, onProblem)
      .finally(() => writing.delete(job));
    writing.add(job);
  }

  async function letGo(key: string, one: Followed): Promise<void> {
    followed.delete(key);
    await one.watch.read();
    write(one);
    await one.watch.stop();
  }

  return {
    follow(agents) {
      const live = new Set<string>();
      for (const { orchestrator, ticket, attempt } of agents.filter(isLive)) {
        const key = workerKey(orchestrator, ticket);
        live.add(key);
        const path = agentFiles(runsDir, { orchestrator, ticket, attempt }).output;
        const one = followed.get(key) ?? {
          watch: watchOutput({ path, onProblem }),
          orchestrator,
          ticket,
          written: '',
          at: Number.NEGATIVE_INFINITY,
        };
        followed.set(key, one);
        if (performance.now() - one.at >= WRITE_EVERY_MS) write(one);
      }
      for (const [key, one] of followed) {
        if (live.has(key)) continue;
        const job = letGo(key, one)
          .catch(onProblem)
          .finally(() => lettingGo.delete(job));
        lettingGo.add(job);
      }
    },
    async written() {
      await Promise.all(lettingGo);
      await Promise.all(writing);
    },
    async stop() {
      for (const { watch } of followed.values()) await watch.stop();
      await Promise.all(writing);
    },
  };
}

function isNothing({ usd, inputTokens, outputTokens }: AgentStream['cost']): boolean {
  return usd === null && inputTokens === 0 && outputTokens === 0;
}

const ROUND_EVERY_MS = 2_000;

export type Hold = Extract<Act, { kind: 'hold' }>;

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
  const { state, append, projects, signals, agents, logger, timings = defaultTimings } = options;
  const memory = emptyMemory();
  const stopping = new AbortController();
  const observe = createObserver(options);
  const costs = keepCosts({ runsDir: options.runsDir, signals, onProblem: failed });
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
  const ends = createRunEnds({
    ...options,
    board: state.board,
    async costsWritten() {
      await costs.written();
      await agents.settled();
    },
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
    costs.follow(observed.agents);
    agents.follow(observed.agents);
    leftovers.end(observed.agents);
    problem = observed.unreadable[0]?.problem ?? null;
    for (const act of acts) {
      if (stopping.signal.aborted) return;
      await execute(act, observed);
    }
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
    async stop() {
      stopping.abort();
      unsubscribe?.();
      await rounds?.stop();
      await Promise.all(memory.jobs);
      await ends.stop();
      await costs.stop();
      await agents.stop();
    },
  };
}
