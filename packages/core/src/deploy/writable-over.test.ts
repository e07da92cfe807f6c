import { expect, test } from 'vitest';
import { workerStatuses } from '../runs/worker-statuses.ts';
import { type SignalState, writableOver } from './writable-over.ts';

const retried = (state: SignalState): SignalState => ({
  ...state,
  deploy: { ...state.deploy, retried: { times: 1, failedUpTo: 3 } },
});
const exhausted: SignalState = { status: 'deploy-failed', deploy: { result: 'budget-exhausted' } };
const timedOut: SignalState = { status: 'stalled', deploy: { result: 'timeout' } };

// y: may be written; -: the write is late, or would undo a person's decision or the end.
const wanted = ['merged', 'deploying', 'deploy-failed', 'stalled', 'done'] as const;
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
