// The facts that the deploy lifecycle handles, and the effects of its transitions.
import type { DeploymentState, DeployProgress, DeployWorker } from '../api/deploy.ts';
import type { WorkerStatus } from '../runs/signal-file.ts';

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
      state: DeploymentState;
      description?: string | undefined;
      logUrl?: string | undefined;
    }
  /** Git proved that `sha` contains the merge. */
  | { kind: 'contains'; sha: string }
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
  /** A deployment of another commit to the gating environment: check whether it contains the merge. */
  | { kind: 'prove'; sha: string }
  /** The merge commit is unknown: fetch the pull request from the code host. */
  | { kind: 'refresh-pull-request' };

export type DeployStep<W extends DeployWorker = DeployWorker> = { worker: W; effects: DeployEffect[] };
