import type { WorkerStatus } from '@svc/contract/signal-file';
import type { DeployPolicy, DeployProgress, DeployWorker } from '../workers/deploy-fields.ts';
import {
  DEPLOY_BUDGET,
  isInLifecycle,
  isTimedOut,
  isWaitingForDeploy,
  mergesOf,
  waitsForPolicy,
} from '../workers/deploy-stage.ts';
import { isShipped } from '../workers/status-groups.ts';
import {
  type DeployEffect,
  type DeployFact,
  type DeployStep,
  type FailedDeployment,
  openReasons,
} from './deploy-worker.ts';
import { isSameEnvironment } from './policy.ts';

/**
 * How a worker's merge becomes done: the only implementation. A worker is in one of these modes:
 *
 * before the merge: `dispatched` up to `merging`, and `failed` or `stalled` as reported by the worker itself
 *   entered by: its signal file, which is accepted here
 *   left by:    a merged pull request, to `merged`, or to `done` if the policy skips the verification;
 *               a person who accepts its unproven claim to be done, to `done`
 * `canceled`: a person's decision
 *   entered by: the signal file, before the merge
 *   left by:    the signal file, back before the merge; a merge is only noted
 * `merged` without a deploy: the policy is unknown, because the configuration cannot be read
 *   entered by: the merge, while the policy is unknown
 *   left by:    the merge reported again under a known policy: `merged` with a deploy, or `done`; a person's accept, to `done`
 * `merged`: waiting for a deployment to start
 *   entered by: the merge, or a person's retry
 *   left by:    a start, to `deploying`; a success, through `deploying` to `done`; a failure, to
 *               `deploy-failed`; the deadline, to `stalled`; a person's accept, to `done`
 * `deploying`: waiting for a deployment to succeed
 *   entered by: the start of a deployment newer than all seen before
 *   left by:    a success of any deployment, to `done`; a failure of the newest one, or the third failure, to
 *               `deploy-failed`; the deadline, to `stalled`; a person's accept, to `done`
 * `deploy-failed` within the budget: waiting for another deployment
 *   entered by: a failure, as long as fewer than three deployments have failed
 *   left by:    a newer start, to `deploying`; a success, to `done`; the third failure, to the mode below; the
 *               deadline, to `stalled`; a person's retry, to `merged`, or accept, to `done`
 * `deploy-failed`, budget exhausted
 *   entered by: the third failed deployment
 *   left by:    a person alone: retry, to `merged`; accept, to `done`
 * `stalled` after a merge: the deadline passed
 *   entered by: time, from every mode that waits
 *   left by:    a success, to `done`, because it did ship; a person's retry, to `merged`, or accept, to `done`
 * `done`
 *   entered by: a success, a person's accept, or a merge that needs no proof
 *   left by:    nothing
 *
 * A state of a deployment counts when it is of the policy's production environment, the deployer's task is to deploy (a
 * rollback or a migration is something else), and the commit is the merge, or git proved that it contains the merge. A
 * pull request that was stacked on another one is merged with that one. An attempt is a failed deployment, however often
 * that is reported.
 * After the merge the signal file changes nothing; a different status in it is kept as `claim`.
 *
 * A fact that changes nothing returns the same worker object and no effects, with one exception: a deployment of an
 * unknown commit requests its proof each time it is reported.
 *
 *     deployStep(merged, { kind: 'deployment', state: 'success', … }).worker.status // 'done'
 */
export function deployStep<W extends DeployWorker>(worker: W, fact: DeployFact): DeployStep<W> {
  // Every step returns the given worker, or a copy with other values for fields of DeployWorker.
  return answer(worker, fact) as DeployStep<W>;
}

function answer(worker: DeployWorker, fact: DeployFact): DeployStep {
  switch (fact.kind) {
    case 'merged':
      return onMerged(worker, fact);
    case 'deployment':
      return onDeployment(worker, fact);
    case 'contains':
      return onContains(worker, fact);
    case 'carried':
      return onCarried(worker, fact);
    case 'configured':
      return onConfigured(worker);
    case 'time':
      return onTime(worker, fact);
    case 'person':
      return onPerson(worker, fact);
    case 'claimed':
      return onClaimed(worker, fact);
  }
}

// The pull request was merged: the lifecycle starts, or ends at once if no verification is needed.

/** The last time with a four-digit year. */
const END_OF_TIME = Date.parse('9999-12-31T23:59:59.999Z');

function onMerged(worker: DeployWorker, fact: Extract<DeployFact, { kind: 'merged' }>): DeployStep {
  const { sha, at, seq } = fact;
  if (waitsForPolicy(worker))
    return startLifecycle(worker, { ...worker.merge, sha: worker.merge.sha ?? sha });
  if (!isInLifecycle(worker) && worker.status !== 'canceled') return startLifecycle(worker, { sha, at, seq });
  if (worker.merge === null) return moved(worker, { ...worker, merge: { sha, at, seq } }, []);
  if (worker.merge.sha !== null || sha === null) return unmoved(worker);
  const known = { ...worker, merge: { ...worker.merge, sha } };
  const isFileOutdated = worker.deploy !== null && !isShipped(worker);
  return moved(worker, known, isFileOutdated ? [{ kind: 'write-signal' }] : []);
}

function startLifecycle(
  worker: DeployWorker,
  merge: NonNullable<DeployWorker['merge']>,
  claim = worker.claim,
): DeployStep {
  const { policy } = worker;
  if (policy.skipDeployVerification === null)
    return moved(worker, { ...worker, status: 'merged', merge, claim }, [{ kind: 'write-signal' }]);
  if (policy.skipDeployVerification)
    return moved(worker, { ...worker, status: 'done', merge, claim }, [
      { kind: 'write-signal' },
      { kind: 'move-ticket', phase: 'done' },
    ]);
  const deploy = newProgress(policy, deadlineAfter(merge.at, policy));
  return moved(worker, { ...worker, status: 'merged', merge, claim, deploy }, [
    { kind: 'write-signal' },
    ...(merge.sha === null ? [{ kind: 'refresh-pull-request' } as const] : []),
  ]);
}

export function newProgress(policy: DeployPolicy, deadline: string): DeployProgress {
  return {
    environment: policy.productionEnvironment,
    deploymentId: null,
    attempts: [],
    startedAt: null,
    deadline,
    completedAt: null,
    result: null,
    containedIn: [],
    provenBy: null,
  };
}

function deadlineAfter(at: string, { timeoutSec }: DeployPolicy): string {
  return new Date(Math.min(Date.parse(at) + timeoutSec * 1000, END_OF_TIME)).toISOString();
}

// The configuration changed while it waits: the environment may have been misspelt until now. A policy that no longer
// requires proof holds for later merges only.

function onConfigured(worker: DeployWorker): DeployStep {
  const { deploy, policy } = worker;
  if (deploy === null || isShipped(worker) || policy.skipDeployVerification !== false) return unmoved(worker);
  if (isSameEnvironment(deploy.environment, policy.productionEnvironment)) return unmoved(worker);
  const environment = policy.productionEnvironment;
  return moved(worker, { ...worker, deploy: { ...deploy, environment } }, [{ kind: 'write-signal' }]);
}

// A deployment was created or changed its state, or git proved that a deployed commit contains the merge.

type DeploymentFact = Extract<DeployFact, { kind: 'deployment' }>;

/** A worker that timed out collects commits without end; an old proof can be made again. */
const CONTAINING_COMMITS_KEPT = 100;

function onDeployment(worker: DeployWorker, fact: DeploymentFact): DeployStep {
  const { deploy, merge, policy } = worker;
  if (deploy === null || !(isWaitingForDeploy(worker) || isTimedOut(worker))) return unmoved(worker);
  if (!isSameEnvironment(fact.environment, deploy.environment) || fact.state === 'inactive')
    return unmoved(worker);
  if (!isDeployTask(fact.task)) return unmoved(worker);
  // Without the merge commit nothing can be compared.
  if (merge === null || merge.sha === null) return unmoved(worker);
  if (fact.sha !== merge.sha) {
    if (!policy.acceptDescendants) return unmoved(worker);
    const merges = mergesOf(worker);
    if (!merges.includes(fact.sha) && !deploy.containedIn.includes(fact.sha))
      return { worker, effects: merges.map((base) => ({ kind: 'prove', base, sha: fact.sha })) };
  }
  if (fact.state === 'success') return succeeded(worker, deploy, fact);
  if (fact.state === 'failure' || fact.state === 'error')
    return afterFailure(worker, deploy, fact, fact.state);
  return started(worker, deploy, fact);
}

/** The code host's default task is `deploy`; deployers name others `rollback` or `deploy:migrations`. */
export function isDeployTask(task: string | null): boolean {
  return task === null || task.toLowerCase() === 'deploy';
}

function onContains(worker: DeployWorker, { sha }: Extract<DeployFact, { kind: 'contains' }>): DeployStep {
  const { deploy, merge } = worker;
  if (deploy === null || isShipped(worker) || sha === merge?.sha || deploy.containedIn.includes(sha))
    return unmoved(worker);
  const containedIn = [...deploy.containedIn, sha].slice(-CONTAINING_COMMITS_KEPT);
  return moved(worker, { ...worker, deploy: { ...deploy, containedIn } }, []);
}

/** More would be no stack. */
const MOST_CARRIERS = 20;

function onCarried(worker: DeployWorker, { pr, sha }: Extract<DeployFact, { kind: 'carried' }>): DeployStep {
  const { deploy } = worker;
  if (deploy === null || isShipped(worker) || mergesOf(worker).includes(sha)) return unmoved(worker);
  const { carriedBy = [] } = deploy;
  if (carriedBy.length >= MOST_CARRIERS) return unmoved(worker);
  return moved(worker, { ...worker, deploy: { ...deploy, carriedBy: [...carriedBy, { pr, sha }] } }, []);
}

/** Only a deployment newer than all seen before is a start: states arrive late and out of order. */
function started(worker: DeployWorker, deploy: DeployProgress, { id, at }: DeploymentFact): DeployStep {
  if (isTimedOut(worker) || !isNewest(deploy, id)) return unmoved(worker);
  return moved(
    worker,
    { ...worker, status: 'deploying', deploy: { ...deploy, deploymentId: id, startedAt: at } },
    [{ kind: 'report', topic: 'started' }, { kind: 'write-signal' }],
  );
}

function succeeded(
  worker: DeployWorker,
  deploy: DeployProgress,
  { id, sha, at }: DeploymentFact,
): DeployStep {
  const startWasMissed = worker.status === 'merged' && isNewest(deploy, id);
  const shipped: DeployProgress = {
    ...deploy,
    deploymentId: newest(deploy, id),
    startedAt: startWasMissed ? at : deploy.startedAt,
    completedAt: at,
    result: 'success',
    provenBy: { deploymentId: id, sha },
  };
  return moved(worker, { ...worker, status: 'done', deploy: shipped }, [
    ...(startWasMissed ? [{ kind: 'report', topic: 'started' } as const] : []),
    { kind: 'write-signal' },
    { kind: 'move-ticket', phase: 'done' },
    { kind: 'report', topic: 'succeeded' },
  ]);
}

function afterFailure(
  worker: DeployWorker,
  deploy: DeployProgress,
  fact: DeploymentFact,
  state: FailedDeployment['state'],
): DeployStep {
  if (!isNewAttempt(deploy, fact.id)) return unmoved(worker);
  const attempts = [...deploy.attempts, failedDeployment(fact, state)];
  const counted = { ...deploy, attempts, deploymentId: newest(deploy, fact.id) };
  const effects: DeployEffect[] = [{ kind: 'report', topic: 'failed' }, { kind: 'write-signal' }];
  const isOvertaken = worker.status === 'deploying' && fact.id < (deploy.deploymentId ?? fact.id);

  if (isTimedOut(worker)) return moved(worker, { ...worker, deploy: counted }, effects);
  if (attempts.length >= DEPLOY_BUDGET) {
    const exhausted: DeployProgress = { ...counted, result: 'budget-exhausted' };
    return moved(worker, { ...worker, status: 'deploy-failed', deploy: exhausted }, [
      ...effects,
      {
        kind: 'raise',
        reason: 'deploy-budget-exhausted',
        message: `${DEPLOY_BUDGET} deployments to ${deploy.environment} failed, the last one ${fact.id}${because(fact)}`,
        severity: 'high',
        remedy: 'svc deploy retry',
      },
    ]);
  }
  if (isOvertaken) return moved(worker, { ...worker, deploy: counted }, effects);
  return moved(worker, { ...worker, status: 'deploy-failed', deploy: counted }, [
    ...effects,
    {
      kind: 'raise',
      reason: 'deploy-failed',
      message: `Deployment ${fact.id} to ${deploy.environment} failed (${attempts.length} of ${DEPLOY_BUDGET})${because(fact)}`,
      severity: 'medium',
      remedy: 'svc deploy retry',
    },
  ]);
}

function isNewAttempt({ attempts, retried }: DeployProgress, id: number): boolean {
  if (attempts.length >= DEPLOY_BUDGET || id <= (retried?.failedUpTo ?? -Infinity)) return false;
  return attempts.every(({ deploymentId }) => deploymentId !== id);
}

function failedDeployment(fact: DeploymentFact, state: FailedDeployment['state']): FailedDeployment {
  const { id, at, description, logUrl } = fact;
  return {
    deploymentId: id,
    state,
    failedAt: at,
    ...(description !== undefined && { description }),
    ...(logUrl !== undefined && { logUrl }),
  };
}

function isNewest({ deploymentId }: DeployProgress, id: number): boolean {
  return deploymentId === null || id > deploymentId;
}

function newest(deploy: DeployProgress, id: number): number {
  return isNewest(deploy, id) ? id : (deploy.deploymentId ?? id);
}

function because({ description }: DeploymentFact): string {
  return description ? `: ${description}` : '';
}

// The status in the worker's signal file. Before the merge it is accepted. The merge itself and what shipped need proof:
// there it is kept beside the known state, so the contradiction can be shown.

const needProof: ReadonlySet<WorkerStatus> = new Set(['merged', 'deploying', 'deploy-failed', 'done']);

function onClaimed(worker: DeployWorker, fact: Extract<DeployFact, { kind: 'claimed' }>): DeployStep {
  const { status, at, seq, old = false } = fact;
  if (status === worker.status)
    return worker.claim === null ? unmoved(worker) : moved(worker, { ...worker, claim: null }, []);
  if (status === worker.claim?.status) return unmoved(worker);
  const claim = { status, at, seq, ...(old && { old }) };
  if (isInLifecycle(worker)) return moved(worker, { ...worker, claim }, []);
  if (!needProof.has(status)) return moved(worker, { ...worker, status, claim: null }, []);
  // The merge came while the worker was canceled, and the worker was resumed since.
  if (worker.merge !== null && worker.status !== 'canceled')
    return startLifecycle(worker, worker.merge, claim);
  const effects: DeployEffect[] = [{ kind: 'refresh-pull-request' }];
  if (status === 'done' && !old)
    effects.push({
      kind: 'raise',
      reason: 'done-unproven',
      message: 'The agent reports done, but no merged pull request was found',
      severity: 'medium',
      remedy: 'svc deploy accept',
    });
  return moved(worker, { ...worker, claim }, effects);
}

// A person retried the deploy or accepted the work as done.

function onPerson(worker: DeployWorker, fact: Extract<DeployFact, { kind: 'person' }>): DeployStep {
  return fact.action === 'retry' ? retry(worker, fact) : accept(worker, fact.at);
}

/** The environment is read again: the fix may have been its name in the configuration. */
function retry(worker: DeployWorker, { at, seq }: Extract<DeployFact, { kind: 'person' }>): DeployStep {
  const { deploy, policy, status } = worker;
  if (deploy === null || !(status === 'deploy-failed' || isTimedOut(worker))) return unmoved(worker);
  const again: DeployProgress = {
    ...deploy,
    environment: policy.productionEnvironment,
    attempts: [],
    retried: { times: (deploy.retried?.times ?? 0) + 1, failedUpTo: newestFailed(deploy), at, seq },
    startedAt: null,
    deadline: deadlineAfter(at, policy),
    result: null,
  };
  return moved(worker, { ...worker, status: 'merged', deploy: again }, [{ kind: 'write-signal' }]);
}

function accept(worker: DeployWorker, at: string): DeployStep {
  const mayBeAccepted = worker.deploy !== null || waitsForPolicy(worker) || worker.claim?.status === 'done';
  if (isShipped(worker) || !mayBeAccepted) return unmoved(worker);
  const deploy = worker.deploy ?? newProgress(worker.policy, at);
  const accepted: DeployProgress = { ...deploy, completedAt: at, result: 'accepted' };
  return moved(worker, { ...worker, status: 'done', deploy: accepted }, [
    { kind: 'write-signal' },
    { kind: 'move-ticket', phase: 'done' },
  ]);
}

function newestFailed({ attempts, retried }: DeployProgress): number | null {
  const failed = attempts.map(({ deploymentId }) => deploymentId);
  if (retried && retried.failedUpTo !== null) failed.push(retried.failedUpTo);
  return failed.length === 0 ? null : Math.max(...failed);
}

// Time has passed: a worker that waits beyond its deadline becomes stalled.

function onTime(worker: DeployWorker, { at }: Extract<DeployFact, { kind: 'time' }>): DeployStep {
  const { deploy } = worker;
  if (deploy === null || !isWaitingForDeploy(worker)) return unmoved(worker);
  if (Date.parse(at) < Date.parse(deploy.deadline)) return unmoved(worker);
  return moved(worker, { ...worker, status: 'stalled', deploy: { ...deploy, result: 'timeout' } }, [
    { kind: 'write-signal' },
    {
      kind: 'raise',
      reason: 'deploy-timeout',
      message: `No deployment to ${deploy.environment} succeeded by ${deploy.deadline}`,
      severity: 'high',
      remedy: 'svc deploy retry',
    },
  ]);
}

// The two results of a step: nothing happened, or the worker moved.

function unmoved(worker: DeployWorker): DeployStep {
  return { worker, effects: [] };
}

/** Drops a claim that came true, and resolves the reasons for attention that are no longer open. */
function moved(before: DeployWorker, after: DeployWorker, effects: DeployEffect[]): DeployStep {
  const worker = after.claim?.status === after.status ? { ...after, claim: null } : after;
  const open = openReasons(worker);
  const resolved = openReasons(before)
    .filter((reason) => !open.includes(reason))
    .map((reason): DeployEffect => ({ kind: 'resolve', reason }));
  return { worker, effects: [...effects, ...resolved] };
}
