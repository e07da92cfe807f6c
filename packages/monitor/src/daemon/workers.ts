// The workers of all runs: their signal files, whether their processes live, and the deadlines of their
// deploys. It starts when the state has caught up, so nothing is logged twice.
import { isAgentsWork } from '@svc/contract/worker-statuses';
import { every, type Rounds } from '@svc/lib/rounds';
import { system } from '@svc/lib/system';
import type { Logger } from 'pino';
import { readErrors } from '../features/agents/io/output.ts';
import type { CodehostFeed } from '../features/codehost/io/codehost-feed.ts';
import { type DeadlineWatch, watchDeadlines } from '../features/deploy/io/deadlines.ts';
import { type UnseenClaim, unseenClaims } from '../features/deploy/watched.ts';
import { isUnseenClaim } from '../features/pull-requests/own-pull-request.ts';
import {
  type SignalFigures,
  type SignalWatcher,
  watchSignals,
} from '../features/workers/io/watch-signals.ts';
import { createLiveness, type Liveness } from '../features/workers/liveness.ts';
import { workerKey } from '../features/workers/reduce-worker.ts';
import type { StateFollower } from '../kernel/board/state-follower.ts';
import type { EventLog } from '../kernel/log/event-log.ts';

export type Workers = {
  start: () => void;
  /** Null until the state has caught up. */
  figures: () => SignalFigures | null;
  /** Resolves when the board has the current content of the worker's signal file. */
  sync: SignalWatcher['sync'];
  stop: () => Promise<void>;
};

const LOOK_FOR_CLAIMS_MS = 5_000;

/** Each new claim of a pull request that was not seen makes the next poll of the code host come earlier, once. */
function lookForClaims(options: {
  claims: () => readonly UnseenClaim[];
  roundSoon: () => void;
}): () => Promise<void> {
  let known = new Set<string>();
  return async () => {
    const claims = new Set(options.claims().map(({ worker, statusSeq }) => `${worker} ${statusSeq}`));
    if ([...claims].some((claim) => !known.has(claim))) options.roundSoon();
    known = claims;
  };
}

export function createWorkers(options: {
  runsDir: string;
  state: StateFollower;
  log: EventLog;
  codehost: Pick<CodehostFeed, 'discover' | 'roundNow' | 'roundSoon'>;
  /** Whether a run is about to start the worker's agent again. */
  willRevive: (worker: { orchestrator: string; ticket: string }) => boolean;
  logger: Logger;
  now: () => Date;
}): Workers {
  const { runsDir, state, log, codehost, logger, now } = options;
  let signals: SignalWatcher | undefined;
  let liveness: Liveness | undefined;
  let deadlines: DeadlineWatch | undefined;
  let claims: Rounds | undefined;
  let stopped = false;
  const problem =
    (message: string) =>
    (error: unknown): void =>
      logger.error({ err: error }, message);

  async function begin(): Promise<void> {
    await state.ready;
    if (stopped) return;
    signals = watchSignals({
      runsDir,
      known: (orchestrator, ticket) => state.board().workers.get(workerKey(orchestrator, ticket)) ?? null,
      knownWorkers: () => state.board().workers.values(),
      append: log.append,
      onRepo: codehost.discover,
      onProblem: problem('signal files'),
      now,
    });
    liveness = createLiveness({
      workers: () => state.board().workers.values(),
      // Reviews and deploys go on without the agent, but only it can open a pull request that it only claims.
      matters: (worker) => isAgentsWork(worker.status) || isUnseenClaim(state.board(), worker),
      append: log.append,
      processStarts: system.processStarts,
      willRevive: options.willRevive,
      lastErrors: (worker) => readErrors({ runsDir, ...worker }),
      now,
      onProblem: problem('the processes of agents cannot be checked'),
    });
    deadlines = watchDeadlines({
      workers: () => state.board().workers.values(),
      now: () => now().getTime(),
      async askAgain({ repo }) {
        // Its signal file may not have been read yet.
        if (repo !== null) codehost.discover(repo);
        await codehost.roundNow();
        await state.reached(log.lastSeq());
      },
      append: log.appendOnce,
      onFailure: problem('deadlines'),
    });
    claims = every(
      LOOK_FOR_CLAIMS_MS,
      lookForClaims({ claims: () => unseenClaims(state.board()), roundSoon: codehost.roundSoon }),
      problem('claimed pull requests'),
    );
    // Deadlines that passed while the daemon was down are checked now: it may not live until the first tick.
    void deadlines.checkNow();
  }

  return {
    start() {
      begin().catch((error: unknown) => {
        if (!stopped) problem('the status files cannot be watched')(error);
      });
    },
    figures: () => signals?.figures() ?? null,
    async sync(worker) {
      await signals?.sync(worker);
      await state.reached(log.lastSeq());
    },
    async stop() {
      stopped = true;
      await Promise.all([signals?.stop(), liveness?.stop(), deadlines?.stop(), claims?.stop()]);
    },
  };
}
