// Where a worker stands: before its merge, in its deploy, or at its end; and what is open for a person then.

import type { DeployWorker } from '../api/deploy.ts';
import { type WorkerStatus } from '../runs/signal-file.ts';
import { workerStatuses } from '../runs/worker-statuses.ts';
import { DEPLOY_BUDGET, type DeployReason } from './deploy-worker.ts';

type Standing = Pick<DeployWorker, 'status' | 'deploy'>;

const preMerge: ReadonlySet<WorkerStatus> = new Set(
  workerStatuses.slice(0, workerStatuses.indexOf('merged')),
);

/** It is on its way to a merge: dispatched up to merging. */
export function isPreMerge(status: WorkerStatus): boolean {
  return preMerge.has(status);
}

/** A person may cancel it or start it again: it has not been merged. */
export function isInPersonsHands(status: WorkerStatus): boolean {
  return isPreMerge(status) || status === 'failed' || status === 'stalled' || status === 'canceled';
}

/** Nothing more is expected of it. `stalled` and `deploy-failed` are no end: they wait for somebody. */
export function isEnded(status: WorkerStatus): boolean {
  return status === 'done' || status === 'failed' || status === 'canceled';
}

/** It was merged while nobody knew whether that has to be proven. */
export function waitsForPolicy<W extends DeployWorker>(
  worker: W,
): worker is W & { merge: NonNullable<DeployWorker['merge']> } {
  return worker.status === 'merged' && worker.deploy === null && worker.merge !== null;
}

/** From here on what shipped decides, and no longer the signal file. A merge alone does not say so. */
export function isInLifecycle({ status, deploy }: Standing): boolean {
  return deploy !== null || status === 'done' || status === 'merged';
}

/** So many deployments failed that only a person moves it. */
export function isBudgetExhausted({ status, deploy }: Standing): boolean {
  return status === 'deploy-failed' && deploy !== null && deploy.attempts.length >= DEPLOY_BUDGET;
}

/** It waits for a deployment to start or to succeed: the states in which its deadline counts. */
export function isWaitingForDeploy(worker: Standing): boolean {
  if (worker.deploy === null || isBudgetExhausted(worker)) return false;
  return worker.status === 'merged' || worker.status === 'deploying' || worker.status === 'deploy-failed';
}

/** Its deadline passed; a worker that says by itself that it stalled has no deploy. */
export function isTimedOut({ status, deploy }: Standing): boolean {
  return status === 'stalled' && deploy !== null;
}

/** The reasons that are open for a person while the worker stands so. */
export function openReasons(worker: DeployWorker): DeployReason[] {
  const { status, claim, merge } = worker;
  if (status === 'done') return [];
  const reasons: DeployReason[] = [];
  if (isTimedOut(worker)) reasons.push('deploy-timeout');
  else if (isBudgetExhausted(worker)) reasons.push('deploy-budget-exhausted');
  else if (status === 'deploy-failed' && isInLifecycle(worker)) reasons.push('deploy-failed');
  // A claim made after the merge is only early, and the deploy has a deadline of its own.
  const early = isInLifecycle(worker) && merge !== null && claim !== null && claim.seq >= merge.seq;
  if (claim?.status === 'done' && claim.old !== true && !early) reasons.push('done-unproven');
  return reasons;
}
