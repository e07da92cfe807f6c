import { workerStatuses } from '@svc/contract/worker-statuses';
import { expect, test } from 'vitest';
import type { DeployProgress, DeployWorker } from '../workers/deploy-fields.ts';
import { isBudgetExhausted, isInLifecycle, isTimedOut, isWaitingForDeploy } from '../workers/deploy-stage.ts';
import { type SignalState, writableOver } from '../workers/signal-write.ts';
import { isEnded, isPreMerge } from '../workers/status-groups.ts';
import { openReasons } from './deploy-worker.ts';
import { newProgress } from './lifecycle.ts';
import { newWorker, verified } from './testing/plain-facts.ts';

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

const retried = (state: SignalState): SignalState => ({
  ...state,
  deploy: { ...state.deploy, retried: { times: 1, failedUpTo: 3 } },
});
const exhausted: SignalState = { status: 'deploy-failed', deploy: { result: 'budget-exhausted' } };
const timedOut: SignalState = { status: 'stalled', deploy: { result: 'timeout' } };

// y: may be written; -: the write is late, or would undo a person's decision or the end.
const wanted = ['merged', 'deploying', 'deploy-failed', 'stalled', 'done'] as const;
test('a phase that is written late does not undo what the worker wrote since', () => {
  const [earlier, later] = ['2026-01-02T03:00:00.000Z', '2026-01-02T03:00:01.000Z'];
  const file = { status: 'validating', updatedAt: later } as const;
  expect(writableOver(file, { status: 'implementing', reportedAt: earlier })).toBe(false);
  expect(writableOver({ ...file, status: 'failed' }, { status: 'implementing', reportedAt: earlier })).toBe(
    false,
  );
  // Back on purpose, and forward behind another write.
  expect(writableOver({ ...file, updatedAt: earlier }, { status: 'planning', reportedAt: later })).toBe(true);
  expect(writableOver(file, { status: 'pr-created', reportedAt: earlier })).toBe(true);
});

test.each<[file: string, state: SignalState, same: string, afterRetry: string]>([
  //                                                         within one round   after a person's retry
  //                                                         m d f s done       m d f s done
  ['dispatched', { status: 'dispatched' }, /*             */ 'y y y y y', /* */ 'y y y y y'],
  ['merging', { status: 'merging' }, /*                   */ 'y y y y y', /* */ 'y y y y y'],
  ['failed before a merge', { status: 'failed' }, /*      */ 'y y y y y', /* */ 'y y y y y'],
  ['stalled before a merge', { status: 'stalled' }, /*    */ 'y y y y y', /* */ 'y y y y y'],
  ['merged', { status: 'merged' }, /*                     */ 'y y y y y', /* */ 'y y y y y'],
  ['deploying', { status: 'deploying' }, /*               */ '- y y y y', /* */ 'y y y y y'],
  ['deploy-failed', { status: 'deploy-failed' }, /*       */ '- y y y y', /* */ 'y y y y y'],
  ['deploy-failed, exhausted', exhausted, /*              */ '- - - y y', /* */ 'y y y y y'],
  ['stalled by timeout', timedOut, /*                     */ '- - - y y', /* */ 'y y y y y'],
  ['done', { status: 'done' }, /*                         */ '- - - - y', /* */ '- - - - y'],
  ['canceled', { status: 'canceled' }, /*                 */ '- - - - -', /* */ '- - - - -'],
  ['merged again by a retry', retried({ status: 'merged' }), '- - - - y', /* */ 'y y y y y'],
  ['deploying after a retry', retried({ status: 'deploying' }), '- - - - y', '- y y y y'],
])('a file with %s', (_, file, same, afterRetry) => {
  const stateOf = (status: (typeof wanted)[number]): SignalState =>
    status === 'stalled' ? timedOut : { status };
  const row = (of: (state: SignalState) => SignalState) =>
    wanted.map((status) => (writableOver(file, of(stateOf(status))) ? 'y' : '-')).join(' ');
  expect(row((written) => written)).toBe(same);
  expect(row(retried)).toBe(afterRetry);
});

test('every status of a file has an answer, whatever else is in the file', () => {
  for (const status of workerStatuses)
    for (const deploy of [null, undefined, {}, { retried: 'often' }, { retried: { times: 'x' } }])
      expect(writableOver({ status, deploy }, { status: 'merged' })).toBeTypeOf('boolean');
});
