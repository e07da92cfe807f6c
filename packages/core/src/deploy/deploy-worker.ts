// What the deploy lifecycle knows of a worker, the facts that move it, and what a move asks for.
import type { WorkerStatus } from '../runs/signal-file.ts';
import type { DeployPolicy } from './policy.ts';

/** Failed deployments that exhaust the budget. */
export const DEPLOY_BUDGET = 3;

/** One failed deployment id. It counts once, however often its failure is reported. */
export type FailedDeployment = {
  deploymentId: number;
  state: 'failure' | 'error';
  failedAt: string;
  description?: string | undefined;
  logUrl?: string | undefined;
};

export type DeployProgress = {
  environment: string;
  /** The newest deployment seen for the merge; null while none has started. */
  deploymentId: number | null;
  /** Failed ids since the merge, or since a person said retry; never more than the budget. */
  attempts: FailedDeployment[];
  /**
   * A person's retries, absent while there was none. A failure of an id up to `failedUpTo` was counted, or
   * overtaken, before the last one: told again, it does not spend the new budget.
   */
  retried?: { times: number; failedUpTo: number | null };
  startedAt: string | null;
  /** When the worker is given up as stalled; counted from the merge, or from a person's retry. */
  deadline: string;
  completedAt: string | null;
  /** How it ended: success, accepted by a person, budget-exhausted, timeout; null while it goes on. */
  result: 'success' | 'accepted' | 'budget-exhausted' | 'timeout' | null;
  /** Commits that were proven to contain the merge, newest last, at most 100. */
  containedIn: string[];
  /** The deployed commit that made it done: the merge itself or one that contains it. */
  provenBy: { deploymentId: number; sha: string } | null;
};

export type DeployWorker = {
  status: WorkerStatus;
  /**
   * What the signal file says, where it is not believed; null when it agrees. An old one was written long
   * before anybody looked: it is shown, and nobody is called.
   */
  claim: { status: WorkerStatus; at: string; seq: number; old?: true } | null;
  policy: DeployPolicy;
  merge: { sha: string | null; at: string; seq: number } | null;
  deploy: DeployProgress | null;
};

export type DeploymentState =
  | 'created'
  | 'pending'
  | 'queued'
  | 'waiting'
  | 'in_progress'
  | 'success'
  | 'failure'
  | 'error'
  | 'inactive';

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
  | { kind: 'person'; word: 'retry' | 'accept'; by: string }
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
