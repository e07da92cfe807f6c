// The facts that the deploy lifecycle handles, and the effects of its transitions.

import type { SignalFile, WorkerStatus } from '@svc/contract/signal-file';
import { workerStatuses } from '@svc/contract/worker-statuses';
import type { Effect } from '../../kernel/outbox/effect.ts';
import { isShipped } from '../workers/status-groups.ts';
import type { DeploymentState, DeployProgress, DeployWorker } from './api.ts';

/** Failed deployments that exhaust the budget. */
export const DEPLOY_BUDGET = 3;

/** A failed deployment. It counts once, however often its failure is reported. */
export type FailedDeployment = DeployProgress['attempts'][number];

/** `at` is when it happened upstream, if known, else when the daemon accepted it. */
export type DeployFact = { seq: number; at: string } & (
  | { kind: 'merged'; sha: string | null }
  | {
      kind: 'deployment';
      id: number;
      sha: string;
      environment: string;
      task: string | null;
      state: DeploymentState;
      description?: string | undefined;
      logUrl?: string | undefined;
    }
  /** Git proved that `sha` contains the merge. */
  | { kind: 'contains'; sha: string }
  /** It was merged into the branch of this pull request, which was merged as `sha`. */
  | { kind: 'carried'; pr: number; sha: string }
  /** The policy of the worker has changed. */
  | { kind: 'configured' }
  /** The current time is `at`. */
  | { kind: 'time' }
  | { kind: 'person'; action: 'retry' | 'accept'; by: string }
  /** The status in the worker's signal file; `old` if it was written long before it was first seen. */
  | { kind: 'claimed'; status: WorkerStatus; old?: boolean }
);

/** Why a person has to look at the worker. */
export type DeployReason = 'deploy-timeout' | 'deploy-budget-exhausted' | 'deploy-failed' | 'done-unproven';

/** Effects of a transition; `state/` adds the worker's names, the outbox runs them. */
export type DeployEffect =
  | { kind: 'write-signal' }
  | { kind: 'move-ticket'; phase: 'done' }
  | {
      kind: 'raise';
      reason: DeployReason;
      message: string;
      severity: 'low' | 'medium' | 'high';
      /** The command that fixes it, without the ticket: `svc deploy retry`. */
      remedy: string;
    }
  | { kind: 'resolve'; reason: DeployReason }
  | { kind: 'report'; topic: 'started' | 'succeeded' | 'failed' }
  /** A deployment of another commit to the gating environment: check whether it contains the merge, which is in `base`. */
  | { kind: 'prove'; base: string; sha: string }
  /** The merge commit is unknown: fetch the pull request from the code host. */
  | { kind: 'refresh-pull-request' };

export type DeployStep<W extends DeployWorker = DeployWorker> = { worker: W; effects: DeployEffect[] };

// Which stage a worker is in: before its merge, in its deploy, or ended; and which reasons for attention are open.

type Stage = Pick<DeployWorker, 'status' | 'deploy'>;

/** It was merged while the policy was unknown. */
export function waitsForPolicy<W extends DeployWorker>(
  worker: W,
): worker is W & { merge: NonNullable<DeployWorker['merge']> } {
  return worker.status === 'merged' && worker.deploy === null && worker.merge !== null;
}

/** From here on deployments decide, no longer the signal file. A merge alone is not enough. */
export function isInLifecycle({ status, deploy }: Stage): boolean {
  return deploy !== null || isShipped({ status }) || status === 'merged';
}

/** So many deployments failed that only a person can move it. */
export function isBudgetExhausted({ status, deploy }: Stage): boolean {
  return status === 'deploy-failed' && deploy !== null && deploy.attempts.length >= DEPLOY_BUDGET;
}

/** The commits that its change was merged as: its own merge, and those of the pull requests that it was stacked on. */
export function mergesOf({ merge, deploy }: Pick<DeployWorker, 'merge' | 'deploy'>): string[] {
  if (typeof merge?.sha !== 'string') return [];
  return [merge.sha, ...(deploy?.carriedBy ?? []).map(({ sha }) => sha)];
}

/** It waits for a deployment to start or to succeed: in these states its deadline counts. */
export function isWaitingForDeploy(worker: Stage): boolean {
  if (worker.deploy === null || isBudgetExhausted(worker)) return false;
  return worker.status === 'merged' || worker.status === 'deploying' || worker.status === 'deploy-failed';
}

/** Its deadline passed. A worker that reports itself as stalled has no deploy. */
export function isTimedOut({ status, deploy }: Stage): boolean {
  return status === 'stalled' && deploy !== null;
}

/** The reasons for attention that are open in the worker's current state. */
export function openReasons(worker: DeployWorker): DeployReason[] {
  const { status, claim, merge } = worker;
  if (isShipped(worker)) return [];
  const reasons: DeployReason[] = [];
  if (isTimedOut(worker)) reasons.push('deploy-timeout');
  else if (isBudgetExhausted(worker)) reasons.push('deploy-budget-exhausted');
  else if (status === 'deploy-failed' && isInLifecycle(worker)) reasons.push('deploy-failed');
  // A claim after the merge is only early, and the deploy has its own deadline.
  const early = isInLifecycle(worker) && merge !== null && claim !== null && claim.seq >= merge.seq;
  if (claim?.status === 'done' && claim.old !== true && !early) reasons.push('done-unproven');
  return reasons;
}

// Which status may overwrite which in a signal file. The outbox may run late, and the worker writes the file too: a write
// must never undo a later one.

/** A signal file, or what will be written into it; `retried` is from DeployProgress. */
export type SignalState = {
  status: WorkerStatus;
  deploy?: { result?: unknown; retried?: unknown } | null | undefined;
  /** When the file was written. */
  updatedAt?: string | undefined;
  /** When the worker reported the phase that is to be written. */
  reportedAt?: string | undefined;
};

/**
 * A person's decision (`canceled`) and the end (`done`) stay. Otherwise, between two retries by a person, a write may
 * only go forward: from the worker's own status to merged, to deploying and deploy-failed (which alternate), to timed
 * out or exhausted, to done. A retry starts this order again, and writes from before it are late. So is a phase that was
 * reported before the worker wrote that it is further.
 *
 *     writableOver({ status: 'deploying' }, { status: 'merged' }) // false
 */
export function writableOver(file: SignalState, wanted: SignalState): boolean {
  if (file.status === 'canceled') return false;
  if (isShipped(file) || isShipped(wanted)) return isShipped(wanted);
  if (isLateReport(file, wanted)) return false;
  const retries = timesRetried(wanted) - timesRetried(file);
  return retries === 0 ? progress(wanted) >= progress(file) : retries > 0;
}

function isLateReport({ status, updatedAt = '' }: SignalState, wanted: SignalState): boolean {
  const { reportedAt } = wanted;
  if (reportedAt === undefined || !(Date.parse(updatedAt) > Date.parse(reportedAt))) return false;
  return workerStatuses.indexOf(status) > workerStatuses.indexOf(wanted.status);
}

function progress({ status, deploy }: SignalState): number {
  if (status === 'merged') return 1;
  if (status === 'deploying') return 2;
  if (status === 'deploy-failed') return deploy?.result === 'budget-exhausted' ? 3 : 2;
  return status === 'stalled' && deploy?.result === 'timeout' ? 3 : 0;
}

/** Unchecked: any program may have written the file. */
function timesRetried({ deploy }: SignalState): number {
  const retried = deploy?.retried;
  if (typeof retried !== 'object' || retried === null || !('times' in retried)) return 0;
  return typeof retried.times === 'number' ? retried.times : 0;
}

type WriteSignalEffect = Extract<Effect, { kind: 'write-signal' }>;

/** The file after the write. Fields that the effect does not name stay, at every depth. */
export function withWrite(signal: SignalFile, { status, pr, deploy }: WriteSignalEffect): SignalFile {
  return {
    ...signal,
    status,
    ...(pr && { pr: { ...signal.pr, ...defined(pr) } }),
    ...(deploy && { deploy: { ...signal.deploy, ...deployFields(deploy, signal) } }),
  };
}

/** The deploy fields of the file; the proofs are in the log. */
function deployFields(deploy: DeployProgress, signal: SignalFile) {
  const { environment, deploymentId, startedAt, deadline, completedAt, result, retried } = deploy;
  const before = new Map(signal.deploy?.attempts?.map((attempt) => [attempt.deploymentId, attempt]));
  const attempts = deploy.attempts.map((attempt) => ({
    ...before.get(attempt.deploymentId),
    ...defined(attempt),
  }));
  return defined({
    environment,
    deploymentId,
    attempts,
    startedAt,
    deadline,
    completedAt,
    result,
    retried,
  });
}

function defined<Known extends object>(values: Known): Known {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Known;
}
