// Conducts runs: looks at the board and the disk, decides by the one pure rule what is to be done, does it, and looks
// again when something changed, or after a while. It keeps nothing that a restart would miss: plans stand in the
// log, agents are found again by their pid files.
import { type Act, type EventDraft, nextActs, type Patience, usualPatience, workerKey } from '@svc/core';
import type { Logger } from 'pino';
import type { ReadProcessStarts } from '../../runs/process-start.ts';
import type { SignalStore } from '../../runs/signal-store.ts';
import type { StateFollower } from '../../state/state-follower.ts';
import { createCarryOut } from './carry-out.ts';
import { keepCosts } from './keep-costs.ts';
import { createLeftovers } from './leftovers.ts';
import { createLook, emptyMemory, type Look } from './look.ts';
import { type AskModel, createRunEnds } from './run-ends.ts';
import type { RunProjects } from './run-project.ts';
import type { StartAgent } from './start-agent.ts';
import { createTidyUp, tidyUpAfterRestart } from './tidy-up.ts';

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
  patience?: Patience;
  everyMs?: number;
}): Orchestrator {
  const { state, append, projects, signals, logger, patience = usualPatience } = options;
  const memory = emptyMemory();
  const stopping = new AbortController();
  const look = createLook(options);
  const costs = keepCosts({ runsDir: options.runsDir, signals, onProblem: failed });
  const tidyUp = createTidyUp({ projects, stopping: stopping.signal, logger });
  const leftovers = createLeftovers({ logger });
  let last: { look: Look; acts: Act[] } | null = null;
  let problem: string | null = null;
  let looking: Promise<void> | null = null;
  let again = false;
  let timer: NodeJS.Timeout | null = null;
  let unsubscribe: (() => void) | null = null;

  const carryOut = createCarryOut({
    ...options,
    memory,
    tidyUp,
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
    problem = error instanceof Error ? error.message : String(error);
    logger.error({ err: error }, 'runs cannot be conducted');
  }

  async function lookOnce(): Promise<void> {
    const seen = await look(state.board(), memory);
    const acts = nextActs(seen.world, patience);
    last = { look: seen, acts };
    costs.follow(seen.agents);
    leftovers.end(seen.agents);
    problem = seen.unreadable[0]?.problem ?? null;
    for (const act of acts) {
      if (stopping.signal.aborted) return;
      await carryOut(act, seen);
    }
    ends.follow(seen);
  }

  /** One at a time: two looks at once could both see a free slot. */
  async function lookUntilQuiet(): Promise<void> {
    do {
      again = false;
      await lookOnce().catch(failed);
    } while (again && !stopping.signal.aborted);
    looking = null;
  }

  function wake(): void {
    if (stopping.signal.aborted || timer === null) return;
    again = true;
    looking ??= lookUntilQuiet();
  }

  async function begin(): Promise<void> {
    await state.ready;
    if (stopping.signal.aborted) return;
    timer = setInterval(wake, options.everyMs ?? LOOK_EVERY_MS);
    unsubscribe = state.onChange(({ lines }) => {
      if (lines.some(({ event }) => !event.startsWith('monitor.'))) wake();
      if (lines.some(({ event, source }) => event === 'feedback.drained' && source === 'cli'))
        ends.findingsFiled();
    });
    wake();
    await tidyUpAfterRestart(state.board(), tidyUp);
  }

  return {
    start() {
      begin().catch((error: unknown) => {
        if (!stopping.signal.aborted) failed(error);
      });
    },
    async lookNow() {
      wake();
      await looking;
    },
    holds: (orchestrator) =>
      (last?.acts ?? []).filter(
        (act): act is Hold => act.kind === 'hold' && act.orchestrator === orchestrator,
      ),
    willRevive({ orchestrator, ticket }) {
      const run = state.board().runs.get(orchestrator);
      if (run?.plan === undefined || run.plan === null) return false;
      if (run.state !== 'running' && run.state !== 'paused') return false;
      const launched = last?.look.world.revivals.get(workerKey(orchestrator, ticket));
      // Not launched since a person said retry: it waits for its turn.
      if (launched === undefined) return true;
      return launched.lastEnd !== 'unstartable' && launched.count < patience.revivalDelaysSec.length;
    },
    running: () => last?.look.world.processes.size ?? 0,
    problem: () => problem,
    async stop() {
      stopping.abort();
      if (timer !== null) clearInterval(timer);
      unsubscribe?.();
      await looking;
      await Promise.all(memory.jobs);
      await ends.stop();
      await costs.stop();
    },
  };
}
