// Which status may overwrite which in a signal file. The outbox may run late, and the worker writes the file too: a write
// must never undo a later one.
import type { WorkerStatus } from '../runs/signal-file.ts';

/** A signal file, or what will be written into it; `retried` is from DeployProgress. */
export type SignalState = {
  status: WorkerStatus;
  deploy?: { result?: unknown; retried?: unknown } | null | undefined;
};

/**
 * A person's decision (`canceled`) and the end (`done`) stay. Otherwise, between two retries by a person, a write may
 * only go forward: from the worker's own status to merged, to deploying and deploy-failed (which alternate), to timed
 * out or exhausted, to done. A retry starts this order again, and writes from before it are late.
 *
 *     writableOver({ status: 'deploying' }, { status: 'merged' }) // false
 */
export function writableOver(file: SignalState, wanted: SignalState): boolean {
  if (file.status === 'canceled') return false;
  if (file.status === 'done' || wanted.status === 'done') return wanted.status === 'done';
  const retries = timesRetried(wanted) - timesRetried(file);
  return retries === 0 ? progress(wanted) >= progress(file) : retries > 0;
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
