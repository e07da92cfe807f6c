// Conducts runs: looks at the board and the disk, decides by the one pure rule what is to be done, does it, and looks
// again when something changed, or after a while. It keeps nothing that a restart would miss: plans stand in the
// log, agents are found again by their pid files.

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
import { endLeftovers, type FoundAgent } from '../agents/find-agents.ts';
import { agentFiles } from '../agents/launch.ts';
import { type OutputWatch, watchOutput } from '../agents/output.ts';
import { createCarryOut } from './carry-out.ts';
import { cleanUpAfterRestart, createCleanUp } from './clean-up.ts';
import { createObserver, emptyMemory, isLive, type Observation } from './observe.ts';
import { type AskModel, createRunEnds } from './run-ends.ts';
import type { RunProjects } from './run-project.ts';
import type { StartAgent } from './start-agent.ts';

// Ends what agents left running when nobody saw their end: each that is found gone is looked after once.

type Leftovers = { end: (agents: readonly FoundAgent[]) => void };

function createLeftovers({ logger }: { logger: Logger }): Leftovers {
  const looked = new Set<string>();
  let before: Promise<void> = Promise.resolve();

  async function endOf({ orchestrator, ticket, attempt }: FoundAgent, pid: number): Promise<void> {
    const worker = workerKey(orchestrator, ticket);
    try {
      const left = await endLeftovers({ pid, orchestrator, ticket });
      if (left !== 'none') logger.warn({ worker, attempt, pid, left }, 'an agent left processes behind');
    } catch (error) {
      logger.error({ err: error, worker, attempt, pid }, 'what an agent left behind cannot be ended');
    }
  }

  return {
    end(agents) {
      for (const agent of agents) {
        const name = `${workerKey(agent.orchestrator, agent.ticket)} ${agent.attempt}`;
        if (agent.state !== 'gone' || agent.pid === null || looked.has(name)) continue;
        const { pid } = agent;
        looked.add(name);
        before = before.then(() => endOf(agent, pid));
      }
    },
  };
}

// Writes what the agents' streams tell of cost and tokens into their signal files, at most every few seconds.

const WRITE_EVERY_MS = 10_000;

type Costs = {
  /** Live agents are followed; of those that ended, the last word is written. */
  follow: (agents: readonly FoundAgent[]) => void;
  /** Resolves when what is known of agents that have ended is written. */
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
    await one.watch.look();
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

const LOOK_EVERY_MS = 2_000;

export type Hold = Extract<Act, { kind: 'hold' }>;

export type Orchestrator = {
  start: () => void;
  /** Looks now, or joins the look that is under way; resolves when its acts are begun. */
  lookNow: () => Promise<void>;
  /** Why what does not go on does not, as of the last look. */
  holds: (orchestrator: string) => Hold[];
  /** Whether the agent of a worker that is gone will be started again, by the last look. */
  willRevive: (worker: { orchestrator: string; ticket: string }) => boolean;
  /** Live agents by the last look. */
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
  /** A text about a run that is over, for its summary. */
  askModel: AskModel;
  logger: Logger;
  now: () => Date;
  timings?: RunTimings;
  everyMs?: number;
}): Orchestrator {
  const { state, append, projects, signals, logger, timings = defaultTimings } = options;
  const memory = emptyMemory();
  const stopping = new AbortController();
  const observe = createObserver(options);
  const costs = keepCosts({ runsDir: options.runsDir, signals, onProblem: failed });
  const cleanUp = createCleanUp({ projects, stopping: stopping.signal, logger });
  const leftovers = createLeftovers({ logger });
  let last: { observed: Observation; acts: Act[] } | null = null;
  let problem: string | null = null;
  /** One at a time: two looks at once could both see a free slot. */
  let looks: Rounds | null = null;
  let unsubscribe: (() => void) | null = null;

  const carryOut = createCarryOut({
    ...options,
    memory,
    cleanUp,
    say,
    wake,
    stopping: stopping.signal,
  });
  const ends = createRunEnds({
    ...options,
    board: state.board,
    costsWritten: costs.written,
    say,
    stopping: stopping.signal,
  });

  async function say(draft: EventDraft): Promise<void> {
    const { seq } = await append(draft);
    await state.reached(seq);
  }

  function failed(error: unknown): void {
    problem = messageOf(error);
    logger.error({ err: error }, 'runs cannot be conducted');
  }

  async function lookOnce(): Promise<void> {
    const seen = await observe(state.board(), memory);
    const acts = nextActs(seen.world, timings);
    last = { observed: seen, acts };
    costs.follow(seen.agents);
    leftovers.end(seen.agents);
    problem = seen.unreadable[0]?.problem ?? null;
    for (const act of acts) {
      if (stopping.signal.aborted) return;
      await carryOut(act, seen);
    }
    ends.follow(seen);
  }

  function wake(): void {
    if (!stopping.signal.aborted) void looks?.runAfresh();
  }

  async function begin(): Promise<void> {
    await state.ready;
    if (stopping.signal.aborted) return;
    looks = every(options.everyMs ?? LOOK_EVERY_MS, lookOnce, failed);
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
    async lookNow() {
      if (!stopping.signal.aborted) await looks?.runAfresh();
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
      // Not launched since a person said retry: it waits for its turn.
      if (launched === undefined) return true;
      return launched.lastEnd !== 'unstartable' && launched.count < timings.revivalDelaysSec.length;
    },
    running: () => last?.observed.world.processes.size ?? 0,
    problem: () => problem,
    async stop() {
      stopping.abort();
      unsubscribe?.();
      await looks?.stop();
      await Promise.all(memory.jobs);
      await ends.stop();
      await costs.stop();
    },
  };
}
