import { expect, test } from 'vitest';
import { checksLabel, reviewLabel } from './pull-request-label.ts';
import { ALL_CHECKS } from './pull-request-verdict.ts';

const check = (conclusion: string | null) => ({ name: 'build', suiteId: 1, conclusion, at: null, seq: 1 });
const review = (state: string) => ({ reviewer: 'kim', state, at: null, seq: 1 });

test.each([
  [[], 'unknown', 'checks unknown'],
  [['success', 'neutral', 'skipped'], 'proven', '3 passed'],
  [[null, 'success'], 'motion', '1 running, 1 passed'],
  [['timed_out', null, 'success', 'failure'], 'broken', '2 failed, 1 running, 1 passed'],
])('checks %j are %s: %s', (conclusions, meaning, words) =>
  expect(checksLabel({ checks: conclusions.map(check) })).toEqual({ meaning, words }),
);

test.each([
  [null, [], false, null],
  [null, [], true, 'draft'],
  [null, ['commented'], false, null],
  [null, ['approved'], false, 'approved'],
  [null, ['approved', 'changes_requested'], false, 'changes requested'],
  ['approved', ['changes_requested'], false, 'approved'],
  ['changes_requested', [], false, 'changes requested'],
] as const)('decision %s with reviews %j, draft %s: %s', (reviewDecision, states, draft, words) => {
  expect(reviewLabel({ reviewDecision, draft, reviews: states.map(review) })?.words ?? null).toBe(words);
});

test.each([
  ['failure', 10, 'success', 'proven', 'checks passed'],
  ['success', 10, 'failure', 'broken', 'checks failed'],
  ['failure', 30, 'success', 'broken', '1 failed, others passed'],
  [null, 30, 'success', 'motion', '1 running, others passed'],
  ['success', 30, 'failure', 'broken', 'checks failed, 1 passed'],
])('a suite that is %s at %i, with a poll at 20 that found %s', (suite, seq, whole, meaning, words) => {
  const checks = [
    { ...check(suite), seq },
    { ...check(whole), name: ALL_CHECKS, suiteId: null, seq: 20 },
  ];
  expect(checksLabel({ checks })).toEqual({ meaning, words });
});
