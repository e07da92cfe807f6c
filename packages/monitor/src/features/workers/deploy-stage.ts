// Which stage a worker is in: before its merge, in its deploy, or ended.
import type { DeployWorker } from './deploy-fields.ts';
import { isShipped } from './status-groups.ts';

/** Failed deployments that exhaust the budget. */
export const DEPLOY_BUDGET = 3;

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
