// Which statuses of a worker belong together.
import type { WorkerStatus } from '@svc/contract/signal-file';
import { workerStatuses } from '@svc/contract/worker-statuses';

const preMerge: ReadonlySet<WorkerStatus> = new Set(
  workerStatuses.slice(0, workerStatuses.indexOf('merged')),
);

/**
 * The answer of the product to "did it ship?": the lifecycle saw the proof that the policy requires, or a person accepted it.
 * Board, signal file, tracker, receipt, why, costs and team read it here, and nothing else decides it.
 */
export function isShipped({ status }: { status: string | null }): boolean {
  return status === 'done';
}

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
  return isShipped({ status }) || status === 'failed' || status === 'canceled';
}

/** It has ended, or its signal file was deleted: its pull request and its process no longer matter. */
export function isOver({ removed, status }: { removed: boolean; status: WorkerStatus }): boolean {
  return removed || isEnded(status);
}
