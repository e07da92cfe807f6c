// Whether a run has come to its end, so that the sweep takes it without being told to.
import { isEnded } from '../deploy/standing.ts';
import type { WorkerStatus } from '../runs/signal-file.ts';
import type { ArchivedRunState } from './manifest.ts';

/** So long nothing may have changed in a run that nobody said has ended. */
export const QUIET_MS = 60 * 60_000;

export type RunStanding = {
  state: ArchivedRunState;
  /** Of each signal file; null where it cannot be read. */
  statuses: readonly (WorkerStatus | null)[];
  /** The newest change of a file or line of the run. */
  changedAt: number;
};

/** Why the run is not swept yet; undefined when it has ended. */
export function whyNotEnded({ state, statuses, changedAt }: RunStanding, now: number): string | undefined {
  if (state === 'completed' || state === 'canceled') return undefined;
  if (statuses.length === 0) return 'nobody said that it ended, and it has no workers';
  if (statuses.includes(null)) return 'a signal file cannot be read';
  const open = statuses.filter((status) => status !== null && !isEnded(status)).length;
  if (open > 0) return `${open} of ${statuses.length} workers have not ended`;
  if (now - changedAt < QUIET_MS) return 'it changed within the last hour';
  return undefined;
}
