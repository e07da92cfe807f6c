// Which status may be written over which in a signal file. Rows of the outbox may be carried out late, and the
// worker writes the file too: a write must never take back what came after it.
import type { WorkerStatus } from '../runs/signal-file.ts';

/** A signal file, or what is to be written into it; `retried` is DeployProgress's. */
export type SignalStanding = {
  status: WorkerStatus;
  deploy?: { result?: unknown; retried?: unknown } | null | undefined;
};

/**
 * A person's word (`canceled`) and the end (`done`) stay. Otherwise, between two of a person's retries, a write
 * may only go forward: from the worker's own words to merged, to deploying and deploy-failed (which alternate),
 * to timed out or exhausted, to done. After a retry it begins again, and writes of before are late.
 *
 *     writableOver({ status: 'deploying' }, { status: 'merged' }) // false
 */
export function writableOver(file: SignalStanding, wanted: SignalStanding): boolean {
  if (file.status === 'canceled') return false;
  if (file.status === 'done' || wanted.status === 'done') return wanted.status === 'done';
  const retries = timesRetried(wanted) - timesRetried(file);
  return retries === 0 ? progress(wanted) >= progress(file) : retries > 0;
}

function progress({ status, deploy }: SignalStanding): number {
  if (status === 'merged') return 1;
  if (status === 'deploying') return 2;
  if (status === 'deploy-failed') return deploy?.result === 'budget-exhausted' ? 3 : 2;
  return status === 'stalled' && deploy?.result === 'timeout' ? 3 : 0;
}

/** Read with care: the file is everybody's. */
function timesRetried({ deploy }: SignalStanding): number {
  const retried = deploy?.retried;
  if (typeof retried !== 'object' || retried === null || !('times' in retried)) return 0;
  return typeof retried.times === 'number' ? retried.times : 0;
}
