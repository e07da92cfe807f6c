// What the run loop knows, and what it is to do about it. Every act may be asked for again until the board or the
// disk shows that it was done: carrying it out twice must come to the same.
import type { HoldReason } from '../api/runs.ts';
import type { Run, Worker } from '../state/board-types.ts';
import type { RunPlan } from './plan.ts';
import type { ReactionCause } from './reaction-causes.ts';

/** Of the project that a run belongs to, as configured now. */
export type ProjectLimits = {
  /** Over all runs of the project; each run also keeps to its own. The least of them counts. */
  maxParallel: number;
  /** Null: dispatch is never held for reviews. */
  maxAwaitingReview: number | null;
  verifyBeforeMerge: boolean;
  allowSelfReportedCompletion: boolean;
  stallAfterSec: number;
};

export type PlannedRun = {
  run: Run;
  plan: RunPlan;
  limits: ProjectLimits;
  /** Pull requests of the project that wait for a person. */
  awaitingReview: number;
};

/** It takes a slot: a process that lives, or a dispatch that is under way (a worktree that is being made). */
export type LiveAgent = {
  state: 'starting' | 'running';
  /** The latest of its start, its last output and the last change of its signal file. */
  lastActivityAt: string;
};

/** Of a worker for which an agent was launched, since its dispatch or since a person said retry. */
export type Revivals = {
  /** Launches after the first. */
  count: number;
  /** When the process of the last launch was found gone; null while it was not. Never that of an earlier one. */
  lastDeathAt: string | null;
  /** Hanging: it was ended because it had gone silent. Unstartable: its program is not there, or is none. */
  lastEnd: 'died' | 'hanging' | 'unstartable';
  /** When the last of them was made. */
  lastLaunchAt?: string;
};

export type Verification = {
  state: 'running' | 'passed' | 'failed';
  remediation: 'none' | 'filing' | 'filed';
};

/** The maps are by worker key, `<orchestrator>/<ticket>`. */
export type World = {
  now: string;
  /** All that are not over, and those that are over and still have agents. */
  runs: readonly PlannedRun[];
  workers: ReadonlyMap<string, Worker>;
  processes: ReadonlyMap<string, LiveAgent>;
  /** A worker without an entry was never launched. */
  revivals: ReadonlyMap<string, Revivals>;
  verifications: ReadonlyMap<string, Verification>;
};

export type RunTimings = {
  /** Before the first, second, … revival. When they are used up the worker is given up. */
  revivalDelaysSec: readonly number[];
  /** Between the last death and giving up: the worker's last word may still be on its way into the log. */
  settleSec: number;
  /** A worker that says it has merged is not dead while the code host is asked. */
  claimSec: number;
  /** What a process may still do after its worker has come to its end. */
  afterEndSec: number;
};

export const defaultTimings: RunTimings = {
  revivalDelaysSec: [10, 60, 300],
  settleSec: 5,
  claimSec: 900,
  afterEndSec: 120,
};

export type Act = { orchestrator: string } & (
  | { kind: 'end'; ticket: string; why: 'run-over' | 'canceled' | 'worker-ended' }
  | { kind: 'end-hanging'; ticket: string; silentSince: string }
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
  /** `tickets` are those that stand in the way. */
  | { kind: 'block-wave'; wave: number; tickets: string[]; why: string }
  | { kind: 'complete-run' }
  /** `attempt` counts the revivals from 1; it was allowed from `notBefore` on. */
  | { kind: 'revive'; ticket: string; wave: number; attempt: number; notBefore: string }
  /** Told of its pull request and not there: its agent is started again, which is no revival. */
  | { kind: 'recall'; ticket: string; wave: number; cause: ReactionCause }
  | { kind: 'dispatch'; ticket: string; wave: number }
  /** Nothing to carry out: why something does not go on, for whoever looks. */
  | { kind: 'hold'; ticket: string | null; why: HoldReason; message: string; until: string | null }
);
