// The pull request was merged: the lifecycle begins, or is over at once where nothing has to be proven.
import type { DeployFact, DeployProgress, DeployStep, DeployWorker } from './deploy-worker.ts';
import { moved, unmoved } from './moved.ts';
import type { DeployPolicy } from './policy.ts';
import { isInLifecycle, waitsForPolicy } from './standing.ts';

/** The last moment that is written with four digits of the year. */
const END_OF_TIME = Date.parse('9999-12-31T23:59:59.999Z');

export function onMerged(worker: DeployWorker, fact: Extract<DeployFact, { kind: 'merged' }>): DeployStep {
  const { sha, at, seq } = fact;
  if (waitsForPolicy(worker))
    return beginLifecycle(worker, { ...worker.merge, sha: worker.merge.sha ?? sha });
  if (!isInLifecycle(worker) && worker.status !== 'canceled') return beginLifecycle(worker, { sha, at, seq });
  if (worker.merge === null) return moved(worker, { ...worker, merge: { sha, at, seq } }, []);
  if (worker.merge.sha !== null || sha === null) return unmoved(worker);
  const known = { ...worker, merge: { ...worker.merge, sha } };
  const tellsTheFile = worker.deploy !== null && worker.status !== 'done';
  return moved(worker, known, tellsTheFile ? [{ kind: 'write-signal' }] : []);
}

export function beginLifecycle(
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

export function deadlineAfter(at: string, { timeoutSec }: DeployPolicy): string {
  return new Date(Math.min(Date.parse(at) + timeoutSec * 1000, END_OF_TIME)).toISOString();
}
