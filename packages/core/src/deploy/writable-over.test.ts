import { expect, test } from 'vitest';
import { workerStatuses } from '../runs/worker-statuses.ts';
import { type SignalStanding, writableOver } from './writable-over.ts';

const retried = (standing: SignalStanding): SignalStanding => ({
  ...standing,
  deploy: { ...standing.deploy, retried: { times: 1, failedUpTo: 3 } },
});
const exhausted: SignalStanding = { status: 'deploy-failed', deploy: { result: 'budget-exhausted' } };
const timedOut: SignalStanding = { status: 'stalled', deploy: { result: 'timeout' } };

// y: may be written; -: the write is late, or would take back a person's word or the end.
const wanted = ['merged', 'deploying', 'deploy-failed', 'stalled', 'done'] as const;
test.each<[file: string, standing: SignalStanding, same: string, afterRetry: string]>([
  //                                                         within one round   after a person's retry
  //                                                         m d f s done       m d f s done
  ['dispatched', { status: 'dispatched' }, /*             */ 'y y y y y', /* */ 'y y y y y'],
  ['merging', { status: 'merging' }, /*                   */ 'y y y y y', /* */ 'y y y y y'],
  ['failed, says the worker', { status: 'failed' }, /*    */ 'y y y y y', /* */ 'y y y y y'],
  ['stalled, says the worker', { status: 'stalled' }, /*  */ 'y y y y y', /* */ 'y y y y y'],
  ['merged', { status: 'merged' }, /*                     */ 'y y y y y', /* */ 'y y y y y'],
  ['deploying', { status: 'deploying' }, /*               */ '- y y y y', /* */ 'y y y y y'],
  ['deploy-failed', { status: 'deploy-failed' }, /*       */ '- y y y y', /* */ 'y y y y y'],
  ['deploy-failed, exhausted', exhausted, /*              */ '- - - y y', /* */ 'y y y y y'],
  ['stalled by timeout', timedOut, /*                     */ '- - - y y', /* */ 'y y y y y'],
  ['done', { status: 'done' }, /*                         */ '- - - - y', /* */ '- - - - y'],
  ['canceled', { status: 'canceled' }, /*                 */ '- - - - -', /* */ '- - - - -'],
  ['merged again by a retry', retried({ status: 'merged' }), '- - - - y', /* */ 'y y y y y'],
  ['deploying after a retry', retried({ status: 'deploying' }), '- - - - y', '- y y y y'],
])('a file that says %s', (_, file, same, afterRetry) => {
  const standing = (status: (typeof wanted)[number]): SignalStanding =>
    status === 'stalled' ? timedOut : { status };
  const row = (of: (standing: SignalStanding) => SignalStanding) =>
    wanted.map((status) => (writableOver(file, of(standing(status))) ? 'y' : '-')).join(' ');
  expect(row((written) => written)).toBe(same);
  expect(row(retried)).toBe(afterRetry);
});

test('every status that a file can have has an answer, whatever else stands in it', () => {
  for (const status of workerStatuses)
    for (const deploy of [null, undefined, {}, { retried: 'often' }, { retried: { times: 'x' } }])
      expect(writableOver({ status, deploy }, { status: 'merged' })).toBeTypeOf('boolean');
});
