// Which status may overwrite which in a signal file. The outbox may run late, and the worker writes the file too: a write
// must never undo a later one.
import type { SignalFile, WorkerStatus } from '@svc/contract/signal-file';
import { workerStatuses } from '@svc/contract/worker-statuses';
import type { Effect } from '../../kernel/outbox/effect.ts';
import type { DeployProgress } from './deploy-fields.ts';
import { isShipped } from './status-groups.ts';

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
