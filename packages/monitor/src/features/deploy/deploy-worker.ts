// The facts that the deploy lifecycle handles, and the effects of its transitions.

import type { WorkerStatus } from '@svc/contract/signal-file';
import type { DeployProgress, DeployWorker } from '../workers/deploy-fields.ts';
import { isBudgetExhausted, isInLifecycle, isTimedOut } from '../workers/deploy-stage.ts';
import { isShipped } from '../workers/status-groups.ts';
import type { DeploymentState } from './api.ts';

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
