// What the run loop knows, and what it has to do. Every act may be requested again until the board or the disk shows
// its result: executing it twice must have the same effect as once.
import { z } from 'zod';
import type { Budgets, Spender } from '../agents/budget.ts';
import type { AgentState } from '../agents/session.ts';
import type { RecallCause } from '../workers/reaction-causes.ts';
import type { Worker } from '../workers/worker.ts';
import type { HoldReason } from './api.ts';
import type { RunPlan } from './plan.ts';
import type { Run } from './run.ts';

/** Limits of the run's project, as currently configured. */
export type ProjectLimits = {
  /** Over all runs of the project; each run also has its own limit. The lowest counts. */
  maxParallel: number;
  /** Null: dispatch never waits for reviews. */
  maxAwaitingReview: number | null;
  verifyBeforeMerge: boolean;
  allowSelfReportedCompletion: boolean;
  stallAfterSec: number;
  budget: Budgets;
};

export type PlannedRun = {
  run: Run;
  plan: RunPlan;
  limits: ProjectLimits;
  /** The project's pull requests that wait for a person. */
  awaitingReview: number;
  /** The workers of all runs of the project, for its budgets. */
  spenders: readonly Spender[];
};

/** It takes a slot: a live process, or a dispatch in progress (a worktree that is being created). */
export type LiveAgent = {
  state: 'starting' | 'running';
  /** For how long it was watched without new output or a change of its signal file. */
  silentSec: number;
  /** What the agent itself reports; null: unknown. */
  reported: AgentState | null;
};

/** For a worker with a launched agent, since its dispatch or since a person's retry. */
export type Revivals = {
  /** Launches after the first. */
  count: number;
  /** When the process of the last launch was found gone, else null. Never that of an earlier launch. */
  lastDeathAt: string | null;
  /** Hanging: it was stopped because it had become silent. Unstartable: its program is missing or not executable. */
  lastEnd: 'died' | 'hanging' | 'unstartable';
  /** When the last of them was started. */
  lastLaunchAt?: string;
};

export type Verification = {
  state: 'running' | 'passed' | 'failed';
  remediation: 'none' | 'filing' | 'filed';
};

/** The maps are keyed by worker, `<orchestrator>/<ticket>`. */
export type World = {
  now: string;
  /** All open runs, and closed runs that still have agents. */
  runs: readonly PlannedRun[];
  workers: ReadonlyMap<string, Worker>;
  processes: ReadonlyMap<string, LiveAgent>;
  /** A worker without an entry was never launched. */
  revivals: ReadonlyMap<string, Revivals>;
  verifications: ReadonlyMap<string, Verification>;
};

export type RunTimings = {
  /** Before the first, second, … revival. When they are used up, the worker is given up. */
  revivalDelaysSec: readonly number[];
  /** Between the last death and giving up: the worker's last update may not be in the log yet. */
  settleSec: number;
  /** A worker that reports a merge is not dead while the code host is being checked. */
  claimSec: number;
  /** How long a process may continue after its worker has ended. */
  afterEndSec: number;
  /** How long an agent may take for an answer when it is checked. */
  agentAnswerSec: number;
  /** When an agent's journal is longer, the session continues in a new one. */
  journalBytes: number;
};

export const defaultTimings: RunTimings = {
  revivalDelaysSec: [10, 60, 300],
  settleSec: 5,
  claimSec: 900,
  afterEndSec: 120,
  agentAnswerSec: 30,
  journalBytes: 256 * 1024 * 1024,
};

export type Act = { orchestrator: string } & (
  | { kind: 'end'; ticket: string; why: 'run-over' | 'canceled' | 'worker-ended' | 'idle' }
  | { kind: 'end-hanging'; ticket: string }
  /** Writes the status into the signal file and raises the reason. */
  | {
      kind: 'fail';
      ticket: string;
      status: 'failed' | 'stalled';
      reason: 'worker-dead' | 'worker-stalled';
      message: string;
    }
  | { kind: 'start-verification'; ticket: string; mergeSha: string }
  | { kind: 'file-remediation'; ticket: string; mergeSha: string | null }
  | { kind: 'start-wave'; wave: number; tickets: string[] }
  | { kind: 'complete-wave'; wave: number; tickets: string[] }
  /** `tickets` are the blocking ones. */
  | { kind: 'block-wave'; wave: number; tickets: string[]; why: string }
  | { kind: 'complete-run' }
  /** `attempt` counts the revivals from 1; it was allowed from `notBefore` on. */
  | { kind: 'revive'; ticket: string; wave: number; attempt: number; notBefore: string }
  /** It has a message but no process: its agent is started again, which is not a revival. */
  | { kind: 'recall'; ticket: string; wave: number; cause: RecallCause }
  | { kind: 'dispatch'; ticket: string; wave: number }
  /** Nothing to execute: only shows why something is waiting. */
  | { kind: 'hold'; ticket: string | null; why: HoldReason; message: string; until: string | null }
);

// The timings of the run loop as text: tests of runs use shorter ones.

const seconds = z.number().min(0).max(86_400);
const GivenTimings = z.strictObject({
  revivalDelaysSec: z.array(seconds).max(10).optional(),
  settleSec: seconds.optional(),
  claimSec: seconds.optional(),
  afterEndSec: seconds.optional(),
  agentAnswerSec: seconds.optional(),
  journalBytes: z.int().min(1).optional(),
});

/** `readTimings('{"settleSec":1}')`: missing values are the defaults; undefined if the text is invalid. */
export function readTimings(text: string): RunTimings | undefined {
  if (text === '') return defaultTimings;
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    // Text that is not JSON is as invalid as JSON of another shape.
    return undefined;
  }
  const read = GivenTimings.safeParse(given);
  if (!read.success) return undefined;
  const { revivalDelaysSec, settleSec, claimSec, afterEndSec, agentAnswerSec, journalBytes } = read.data;
  return {
    revivalDelaysSec: revivalDelaysSec ?? defaultTimings.revivalDelaysSec,
    settleSec: settleSec ?? defaultTimings.settleSec,
    claimSec: claimSec ?? defaultTimings.claimSec,
    afterEndSec: afterEndSec ?? defaultTimings.afterEndSec,
    agentAnswerSec: agentAnswerSec ?? defaultTimings.agentAnswerSec,
    journalBytes: journalBytes ?? defaultTimings.journalBytes,
  };
}
