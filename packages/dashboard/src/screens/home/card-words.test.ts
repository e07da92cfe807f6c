import type { BoardCard } from '@svc/core';
import { describe, expect, test } from 'vitest';
import { checksOf, deployOf, errorsOf, reviewOf, statusOf } from './card-words.ts';

const check = (conclusion: string | null) => ({ name: 'build', suiteId: 1, conclusion, at: null, seq: 1 });
const review = (state: string) => ({ reviewer: 'kim', state, at: null, seq: 1 });
const process = { state: 'alive', since: '2026-01-02T09:00:00.000Z', seq: 1 } as const;
const deploy = {
  environment: 'production',
  deploymentId: null,
  attempts: [],
  startedAt: null,
  deadline: '2026-01-02T11:30:00.000Z',
  completedAt: null,
  result: null,
  containedIn: [],
  provenBy: null,
};

test.each([
  [[], 'unknown', 'checks unknown'],
  [['success', 'neutral', 'skipped'], 'proven', '3 passed'],
  [[null, 'success'], 'motion', '1 running, 1 passed'],
  [['timed_out', null, 'success', 'failure'], 'broken', '2 failed, 1 running, 1 passed'],
])('checks %j are %s: %s', (conclusions, meaning, words) =>
  expect(checksOf({ checks: conclusions.map(check) })).toEqual({ meaning, words }),
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
  expect(reviewOf({ reviewDecision, draft, reviews: states.map(review) })?.words ?? null).toBe(words);
});

describe('the deploy', () => {
  const of = (given: object, attempts = 0, status: 'merged' | 'deploying' | 'deploy-failed' = 'merged') =>
    deployOf({ deploy: { ...deploy, ...given }, attempts, budget: 3, status });
  test('there is no deploy before the merge', () =>
    expect(deployOf({ deploy: null, attempts: 0, budget: 3, status: 'merging' })).toBeNull());
  test.each([
    [of({}), 'unknown', 'production: not started'],
    [of({ deploymentId: 4 }, 0, 'deploying'), 'motion', 'production: in progress'],
    [of({ deploymentId: 4 }, 1, 'deploying'), 'motion', 'production: in progress, 1 of 3 attempts failed'],
    [of({ deploymentId: 4 }, 1, 'deploy-failed'), 'broken', 'production: 1 of 3 attempts failed'],
    [of({ result: 'budget-exhausted' }, 3), 'broken', 'production: 3 of 3 attempts failed'],
    [of({ result: 'timeout' }), 'broken', 'production: timed out'],
    [of({ result: 'success' }), 'proven', 'live in production'],
    [of({ result: 'accepted' }), 'unknown', 'production: accepted by a person'],
  ])('%j', (found, meaning, words) => expect(found).toEqual({ meaning, words }));
});

test('the status of a card', () => {
  const worker = { status: 'pr-created', deploy: null, merge: null, process, attempts: 0, budget: 3 };
  const card = (given: object): BoardCard => ({ worker, pullRequest: { state: 'open' }, ...given }) as never;
  expect(statusOf(card({}), false)).toEqual({ meaning: 'review', words: 'In review' });
  expect(statusOf(card({ pullRequest: { state: 'closed' } }), false).words).toBe('Closed without merging');
  expect(statusOf(card({}), true).meaning).toBe('you');
  expect(statusOf(card({ worker: null }), false)).toEqual({
    meaning: 'review',
    words: 'Open, no agent',
  });
});

test.each([
  ['dispatched', 'exec: claude: not found', [], 'exec: claude: not found'],
  ['failed', 'exec: claude: not found', ['pr-closed'], 'exec: claude: not found'],
  ['failed', 'exec: claude: not found', ['worker-dead'], null],
  ['dispatched', undefined, [], null],
  ['canceled', 'exec: claude: not found', [], null],
  ['done', 'exec: claude: not found', [], null],
] as const)(
  'a worker that is %s and wrote %s, with the items %j, shows %s',
  (status, stderr, reasons, expected) => {
    const worker = { status, process: { ...process, state: 'dead', ...(stderr && { stderr }) } };
    const attention = reasons.map((reason) => ({ reason }));
    expect(errorsOf({ worker, attention } as unknown as BoardCard)).toBe(expected);
  },
);
