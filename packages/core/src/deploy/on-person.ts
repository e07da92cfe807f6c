// A person said that a deploy gets another chance, or that the work is done.
import type { DeployFact, DeployProgress, DeployStep, DeployWorker } from './deploy-worker.ts';
import { moved, unmoved } from './moved.ts';
import { deadlineAfter, newProgress } from './on-merged.ts';
import { isTimedOut, waitsForPolicy } from './standing.ts';

export function onPerson(worker: DeployWorker, fact: Extract<DeployFact, { kind: 'person' }>): DeployStep {
  return fact.word === 'retry' ? retry(worker, fact.at) : accept(worker, fact.at);
}

/** The environment is read anew: a wrong name in the configuration may be what was mended. */
function retry(worker: DeployWorker, at: string): DeployStep {
  const { deploy, policy, status } = worker;
  if (deploy === null || !(status === 'deploy-failed' || isTimedOut(worker))) return unmoved(worker);
  const again: DeployProgress = {
    ...deploy,
    environment: policy.productionEnvironment,
    attempts: [],
    retried: { times: (deploy.retried?.times ?? 0) + 1, failedUpTo: newestFailed(deploy) },
    startedAt: null,
    deadline: deadlineAfter(at, policy),
    result: null,
  };
  return moved(worker, { ...worker, status: 'merged', deploy: again }, [{ kind: 'write-signal' }]);
}

function accept(worker: DeployWorker, at: string): DeployStep {
  const mayBeAccepted = worker.deploy !== null || waitsForPolicy(worker) || worker.claim?.status === 'done';
  if (worker.status === 'done' || !mayBeAccepted) return unmoved(worker);
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
