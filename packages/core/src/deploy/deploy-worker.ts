// What the deploy lifecycle knows of a worker, the facts that move it, and what a move asks for.
import type { DeploymentState, DeployProgress, DeployWorker } from '../api/deploy.ts';
import type { WorkerStatus } from '../runs/signal-file.ts';

/** Failed deployments that exhaust the budget. */
export const DEPLOY_BUDGET = 3;

/** One failed deployment id. It counts once, however often its failure is reported. */
export type FailedDeployment = DeployProgress['attempts'][number];

/** `at` is when it happened upstream where that is known, else when the daemon accepted it. */
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
  /** It is `at` now. */
  | { kind: 'time' }
  | { kind: 'person'; action: 'retry' | 'accept'; by: string }
  /** What the worker's signal file says; `old` when it was written long before it was first seen. */
  | { kind: 'claimed'; status: WorkerStatus; old?: boolean }
);

/** What a person is asked to look at while the worker stands as it does. */
export type DeployReason = 'deploy-timeout' | 'deploy-budget-exhausted' | 'deploy-failed' | 'done-unproven';

/** What a transition asks for; `state/` gives it the worker's names, the outbox carries it out. */
export type DeployEffect =
  | { kind: 'write-signal' }
  | { kind: 'move-ticket'; phase: 'done' }
  | {
      kind: 'raise';
      reason: DeployReason;
      message: string;
      severity: 'low' | 'medium' | 'high';
      /** The verb that mends it, without the ticket: `svc deploy retry`. */
      remedy: string;
    }
  | { kind: 'resolve'; reason: DeployReason }
  | { kind: 'tell'; topic: 'started' | 'succeeded' | 'failed' }
  /** A deployment of another commit in the gating environment: does it contain the merge? */
  | { kind: 'prove'; sha: string }
  /** The merge commit is not known: ask the code host for the pull request. */
  | { kind: 'refresh-pull-request' };

export type DeployStep<W extends DeployWorker = DeployWorker> = { worker: W; effects: DeployEffect[] };
