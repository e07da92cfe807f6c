// It is later now: a worker that waits beyond its deadline is given up as stalled.
import type { DeployFact, DeployStep, DeployWorker } from './deploy-worker.ts';
import { moved, unmoved } from './moved.ts';
import { isWaitingForDeploy } from './standing.ts';

export function onTime(worker: DeployWorker, { at }: Extract<DeployFact, { kind: 'time' }>): DeployStep {
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
