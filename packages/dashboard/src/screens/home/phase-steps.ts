// The progress of a worker as seven steps, from research to deploy. Steps confirmed by the code host are marked apart
// from those that only the worker reported.
import { isAgentsWork } from '@svc/contract/worker-statuses';
import type { WorkerView } from 'svc-monitor/src/features/workers/entity.ts';
import { isShipped } from 'svc-monitor/src/features/workers/status-groups.ts';

const stepNames = ['Research', 'Plan', 'Implement', 'Validate', 'Pull request', 'Merge', 'Deploy'] as const;
type StepName = (typeof stepNames)[number];
/** `skipped`: not proven, or canceled. */
export type StepState = 'done' | 'current' | 'failed' | 'ahead' | 'skipped';
export type Step = { name: StepName; state: StepState; seen: boolean };

export type SteppedWorker = Pick<
  WorkerView,
  'status' | 'phase' | 'pr' | 'pullRequestKey' | 'merge' | 'deploy' | 'process'
>;

/** Statuses that are not listed keep the step at which they stopped. */
const stepOfStatus: Partial<Record<string, StepName>> = {
  researching: 'Research',
  planning: 'Plan',
  implementing: 'Implement',
  validating: 'Validate',
  shipping: 'Pull request',
  'pr-created': 'Pull request',
  merging: 'Merge',
  merged: 'Deploy',
  deploying: 'Deploy',
  'deploy-failed': 'Deploy',
};

/** A phase is free text; these are the names that the workflow uses. Some workers write statuses. */
const stepOfPhase: Partial<Record<string, StepName>> = {
  ...stepOfStatus,
  research: 'Research',
  inProgress: 'Implement',
  inReview: 'Pull request',
};

export function stepsOf(worker: SteppedWorker): Step[] {
  const step = reachedStep(worker);
  const reached = step === null ? -1 : stepNames.indexOf(step);
  return stepNames.map((name, index) => ({
    name,
    state: stateOf(worker, name, index - reached),
    seen: wasSeen(worker, name),
  }));
}

/** `ahead` is how many steps it comes after the reached one; negative for earlier steps. */
function stateOf(worker: SteppedWorker, name: StepName, ahead: number): StepState {
  if (isShipped(worker)) return name === 'Deploy' && !wasSeen(worker, name) ? 'skipped' : 'done';
  if (ahead !== 0) return ahead < 0 ? 'done' : 'ahead';
  if (worker.status === 'canceled') return 'skipped';
  return hasFailed(worker) ? 'failed' : 'current';
}

/** The current step, or where it stopped; null if not started or unknown. */
function reachedStep({ status, phase, merge, pr }: SteppedWorker): StepName | null {
  const step = stepOfStatus[status];
  if (step !== undefined) return step;
  if (merge !== null) return 'Deploy';
  return stepOfPhase[String(phase)] ?? (pr === null ? null : 'Pull request');
}

function wasSeen({ pullRequestKey, merge, deploy }: SteppedWorker, name: StepName): boolean {
  if (name === 'Pull request') return pullRequestKey !== null;
  if (name === 'Merge') return merge !== null;
  return name === 'Deploy' && deploy !== null && (deploy.provenBy !== null || deploy.deploymentId !== null);
}

function hasFailed({ status, process }: SteppedWorker): boolean {
  if (status === 'failed' || status === 'stalled' || status === 'deploy-failed') return true;
  return isAgentsWork(status) && process.state === 'dead' && process.reviving !== true;
}

export const stateNames: Record<StepState, string> = {
  done: 'done',
  current: 'in progress',
  failed: 'failed',
  ahead: 'to do',
  skipped: 'not proven',
};

/** For screen readers: `Research done, Plan in progress, Implement to do, …`. */
export function stepWords(steps: readonly Step[]): string {
  return steps.map(({ name, state }) => `${name} ${stateNames[state]}`).join(', ');
}
