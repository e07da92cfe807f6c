// A deployment was created or changed its state, or git proved what a deployed commit contains.
import {
  DEPLOY_BUDGET,
  type DeployEffect,
  type DeployFact,
  type DeployProgress,
  type DeployStep,
  type DeployWorker,
  type FailedDeployment,
} from './deploy-worker.ts';
import { moved, unmoved } from './moved.ts';
import { isSameEnvironment } from './policy.ts';
import { isTimedOut, isWaitingForDeploy } from './standing.ts';

type Told = Extract<DeployFact, { kind: 'deployment' }>;

/** A worker that timed out is asked about for ever; what was proven long ago can be proven again. */
const CONTAINING_COMMITS_KEPT = 100;

export function onDeployment(worker: DeployWorker, fact: Told): DeployStep {
  const { deploy, merge, policy } = worker;
  if (deploy === null || !(isWaitingForDeploy(worker) || isTimedOut(worker))) return unmoved(worker);
  if (!isSameEnvironment(fact.environment, deploy.environment) || fact.state === 'inactive')
    return unmoved(worker);
  // Without the merge commit nothing can be compared.
  if (merge === null || merge.sha === null) return unmoved(worker);
  if (fact.sha !== merge.sha) {
    if (!policy.acceptDescendants) return unmoved(worker);
    if (!deploy.containedIn.includes(fact.sha))
      return { worker, effects: [{ kind: 'prove', sha: fact.sha }] };
  }
  if (fact.state === 'success') return succeeded(worker, deploy, fact);
  if (fact.state === 'failure' || fact.state === 'error') return failed(worker, deploy, fact, fact.state);
  return started(worker, deploy, fact);
}

export function onContains(
  worker: DeployWorker,
  { sha }: Extract<DeployFact, { kind: 'contains' }>,
): DeployStep {
  const { deploy, merge, status } = worker;
  if (deploy === null || status === 'done' || sha === merge?.sha || deploy.containedIn.includes(sha))
    return unmoved(worker);
  const containedIn = [...deploy.containedIn, sha].slice(-CONTAINING_COMMITS_KEPT);
  return moved(worker, { ...worker, deploy: { ...deploy, containedIn } }, []);
}

/** Only a deployment newer than all that were seen is a start: states arrive late and out of order. */
function started(worker: DeployWorker, deploy: DeployProgress, { id, at }: Told): DeployStep {
  if (isTimedOut(worker) || !isNewest(deploy, id)) return unmoved(worker);
  return moved(
    worker,
    { ...worker, status: 'deploying', deploy: { ...deploy, deploymentId: id, startedAt: at } },
    [{ kind: 'tell', topic: 'started' }, { kind: 'write-signal' }],
  );
}

function succeeded(worker: DeployWorker, deploy: DeployProgress, { id, sha, at }: Told): DeployStep {
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
    ...(startWasMissed ? [{ kind: 'tell', topic: 'started' } as const] : []),
    { kind: 'write-signal' },
    { kind: 'move-ticket', phase: 'done' },
    { kind: 'tell', topic: 'succeeded' },
  ]);
}

function failed(
  worker: DeployWorker,
  deploy: DeployProgress,
  fact: Told,
  state: FailedDeployment['state'],
): DeployStep {
  if (!isNewAttempt(deploy, fact.id)) return unmoved(worker);
  const attempts = [...deploy.attempts, failedDeployment(fact, state)];
  const counted = { ...deploy, attempts, deploymentId: newest(deploy, fact.id) };
  const told: DeployEffect[] = [{ kind: 'tell', topic: 'failed' }, { kind: 'write-signal' }];
  const isOvertaken = worker.status === 'deploying' && fact.id < (deploy.deploymentId ?? fact.id);

  if (isTimedOut(worker)) return moved(worker, { ...worker, deploy: counted }, told);
  if (attempts.length >= DEPLOY_BUDGET) {
    const exhausted: DeployProgress = { ...counted, result: 'budget-exhausted' };
    return moved(worker, { ...worker, status: 'deploy-failed', deploy: exhausted }, [
      ...told,
      {
        kind: 'raise',
        reason: 'deploy-budget-exhausted',
        message: `${DEPLOY_BUDGET} deployments to ${deploy.environment} failed, the last one ${fact.id}${because(fact)}`,
        severity: 'high',
        remedy: 'svc deploy retry',
      },
    ]);
  }
  if (isOvertaken) return moved(worker, { ...worker, deploy: counted }, told);
  return moved(worker, { ...worker, status: 'deploy-failed', deploy: counted }, [
    ...told,
    {
      kind: 'raise',
      reason: 'deploy-failed',
      message: `Deployment ${fact.id} to ${deploy.environment} failed, ${attempts.length} of ${DEPLOY_BUDGET}${because(fact)}`,
      severity: 'medium',
      remedy: 'svc deploy retry',
    },
  ]);
}

function isNewAttempt({ attempts, retried }: DeployProgress, id: number): boolean {
  if (attempts.length >= DEPLOY_BUDGET || id <= (retried?.failedUpTo ?? -Infinity)) return false;
  return attempts.every(({ deploymentId }) => deploymentId !== id);
}

function failedDeployment(fact: Told, state: FailedDeployment['state']): FailedDeployment {
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

function because({ description }: Told): string {
  return description ? `: ${description}` : '';
}
