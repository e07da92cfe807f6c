import { mergedPullRequest, samplePullRequest, sampleTime, sampleWorker } from '@svc/testkit';
import { expect, test } from 'vitest';
import type { PullRequest } from '../pull-requests/pull-request.ts';
import { waitHours } from './run-view.ts';

const now = sampleTime('14:00');
const review = (state: string, time: string, reviewer = 'kim') => ({
  reviewer,
  state,
  at: sampleTime(time),
  seq: 31,
});
const hoursOf = (pullRequest: PullRequest | undefined) =>
  waitHours({ workers: [sampleWorker()], pullRequestOf: () => pullRequest, now });

// Each was opened at 10:00.
test.each([
  ['it still waits', samplePullRequest(), 4, 1],
  ['approved', samplePullRequest({ reviews: [review('approved', '11:30')] }), 1.5, 0],
  ['changes requested', samplePullRequest({ reviews: [review('changes_requested', '10:30')] }), 0.5, 0],
  [
    'the first of two verdicts',
    samplePullRequest({ reviews: [review('approved', '13:00'), review('approved', '12:00', 'lee')] }),
    2,
    0,
  ],
  ['merged without a review', mergedPullRequest(), 1, 0],
  ['approved, then merged', mergedPullRequest({ reviews: [review('approved', '10:15')] }), 0.25, 0],
  ['closed', samplePullRequest({ state: 'closed', closedAt: sampleTime('13:00') }), 3, 0],
  [
    'decided, as a poll found',
    samplePullRequest({ reviewDecision: 'approved', judgedAt: sampleTime('12:00') }),
    2,
    0,
  ],
  ['a dismissal does not end it', samplePullRequest({ reviews: [review('dismissed', '11:00')] }), 4, 1],
  ['a draft', samplePullRequest({ draft: true }), 0, 0],
  ['the time of opening is unknown', samplePullRequest({ openedAt: null }), 0, 0],
  ['a clock that goes backwards', samplePullRequest({ openedAt: sampleTime('15:00') }), 0, 1],
  ['no pull request', undefined, 0, 0],
])('%s', (_name, pullRequest, hours, waiting) => {
  expect(hoursOf(pullRequest)).toMatchObject({ hours, waiting });
});

test('the workers of a run add up', () => {
  const workers = [sampleWorker(), sampleWorker({ ticket: 'ENG-2' }), sampleWorker({ ticket: 'ENG-3' })];
  const found = new Map([
    ['ENG-1', samplePullRequest()],
    ['ENG-2', mergedPullRequest({ number: 13 })],
  ]);
  expect(waitHours({ workers, pullRequestOf: ({ ticket }) => found.get(ticket), now })).toEqual({
    hours: 5,
    waiting: 1,
  });
});
