import { samplePullRequest, sampleTime } from '@svc/testkit';
import { expect, test } from 'vitest';
import { awaitingReview, waitsForPerson } from '../pull-requests/pull-request-verdict.ts';

const review = (reviewer: string, state: string) => ({ reviewer, state, at: sampleTime('11:00'), seq: 31 });
const check = (conclusion: string | null) => ({ name: 'build', suiteId: 7, conclusion, at: null, seq: 30 });

test.each([
  ['not reviewed yet', {}, true],
  ['checks run', { checks: [check(null)] }, true],
  ['checks and draft state are unknown', { checks: [], draft: null }, true],
  ['a dismissed approval', { reviews: [review('kim', 'dismissed')] }, true],
  ['a draft', { draft: true }, false],
  ['a check failed', { checks: [check('failure')] }, false],
  ['approved', { reviews: [review('kim', 'approved')] }, false],
  ['approved, by a poll', { reviewDecision: 'approved' as const }, false],
  ['changes requested', { reviews: [review('kim', 'approved'), review('lee', 'changes_requested')] }, false],
  ['merged', { state: 'merged' as const }, false],
  ['closed', { state: 'closed' as const }, false],
])('%s', (_name, given, waits) => {
  expect(waitsForPerson(samplePullRequest(given))).toBe(waits);
});

test('only waiting ones are counted', () => {
  const all = [samplePullRequest(), samplePullRequest({ number: 13, draft: true })];
  expect(awaitingReview(all).map(({ number }) => number)).toEqual([12]);
});
