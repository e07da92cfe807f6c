import { expect, test } from 'vitest';
import type { DeployProgress, DeployWorker } from '../api/deploy.ts';
import { workerStatuses } from '../runs/worker-statuses.ts';
import { newProgress } from './lifecycle.ts';
import { newWorker, verified } from './model/plain-facts.ts';
import {
  isBudgetExhausted,
  isEnded,
  isInLifecycle,
  isPreMerge,
  isTimedOut,
  isWaitingForDeploy,
  openReasons,
} from './worker-stage.ts';

const failedAt = '2026-03-01T12:00:00.000Z';
const progress = (failures: number): DeployProgress => ({
  ...newProgress(verified, failedAt),
  attempts: Array.from({ length: failures }, (_, id) => ({ deploymentId: id, state: 'error', failedAt })),
});
const workerWith = (status: DeployWorker['status'], deploy: DeployProgress | null): DeployWorker => ({
  ...newWorker(verified),
  status,
  deploy,
});

test('statuses before the merge, and ended ones', () => {
  expect(workerStatuses.filter(isPreMerge)).toEqual([
    'dispatched',
    'researching',
    'planning',
    'implementing',
    'validating',
    'shipping',
    'pr-created',
    'merging',
  ]);
  expect(workerStatuses.filter(isEnded)).toEqual(['done', 'failed', 'canceled']);
});

test.each<[string, DeployWorker, string]>([
  ['implementing', workerWith('implementing', null), ''],
  ['merged', workerWith('merged', progress(0)), 'lifecycle waiting'],
  ['deploying', workerWith('deploying', progress(2)), 'lifecycle waiting'],
  ['deploy-failed', workerWith('deploy-failed', progress(2)), 'lifecycle waiting deploy-failed'],
  ['exhausted', workerWith('deploy-failed', progress(3)), 'lifecycle exhausted deploy-budget-exhausted'],
  ['timed out', workerWith('stalled', progress(3)), 'lifecycle timed-out deploy-timeout'],
  ['stalled before a merge', workerWith('stalled', null), ''],
  ['done', workerWith('done', progress(0)), 'lifecycle'],
  ['done without verification', workerWith('done', null), 'lifecycle'],
])('%s', (_, worker, expected) => {
  const found = [
    isInLifecycle(worker) && 'lifecycle',
    isWaitingForDeploy(worker) && 'waiting',
    isBudgetExhausted(worker) && 'exhausted',
    isTimedOut(worker) && 'timed-out',
    ...openReasons(worker),
  ];
  expect(found.filter((name) => name !== false).join(' ')).toBe(expected);
});
