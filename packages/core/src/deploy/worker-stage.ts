// Which stage a worker is in: before its merge, in its deploy, or ended; and which reasons for attention are open.

import type { DeployWorker } from '../api/deploy.ts';
import { type WorkerStatus } from '../runs/signal-file.ts';
import { workerStatuses } from '../runs/worker-statuses.ts';
import { DEPLOY_BUDGET, type DeployReason } from './deploy-worker.ts';

type Stage = Pick<DeployWorker, 'status' | 'deploy'>;

const preMerge: ReadonlySet<WorkerStatus> = new Set(
  workerStatuses.slice(0, workerStatuses.indexOf('merged')),
);

/** Not merged yet: dispatched up to merging. */
export function isPreMerge(status: WorkerStatus): boolean {
  return preMerge.has(status);
}

/** A person may cancel or restart it: it has not been merged. */
export function isUnmerged(status: WorkerStatus): boolean {
  return isPreMerge(status) || status === 'failed' || status === 'stalled' || status === 'canceled';
}

/** Nothing more is expected of it. `stalled` and `deploy-failed` are not ends: they wait for a person. */
export function isEnded(status: WorkerStatus): boolean {
  return status === 'done' || status === 'failed' || status === 'canceled';
}

/** It was merged while the policy was unknown. */
export function waitsForPolicy<W extends DeployWorker>(
  worker: W,
): worker is W & { merge: NonNullable<DeployWorker['merge']> } {
  return worker.status === 'merged' && worker.deploy === null && worker.merge !== null;
}

/** From here on deployments decide, no longer the signal file. A merge alone is not enough. */
export function isInLifecycle({ status, deploy }: Stage): boolean {
  return deploy !== null || status === 'done' || status === 'merged';
}

/** So many deployments failed that only a person can move it. */
export function isBudgetExhausted({ status, deploy }: Stage): boolean {
  return status === 'deploy-failed' && deploy !== null && deploy.attempts.length >= DEPLOY_BUDGET;
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
  if (status === 'done') return [];
  const reasons: DeployReason[] = [];
  if (isTimedOut(worker)) reasons.push('deploy-timeout');
  else if (isBudgetExhausted(worker)) reasons.push('deploy-budget-exhausted');
  else if (status === 'deploy-failed' && isInLifecycle(worker)) reasons.push('deploy-failed');
  // A claim after the merge is only early, and the deploy has its own deadline.
  const early = isInLifecycle(worker) && merge !== null && claim !== null && claim.seq >= merge.seq;
  if (claim?.status === 'done' && claim.old !== true && !early) reasons.push('done-unproven');
  return reasons;
}
