import { expect, test } from 'vitest';
import { mergeReadiness } from './fold-pull-request.ts';

const ready = {
  state: 'open',
  draft: false,
  mergeable: true,
  mergeableState: 'clean',
  base: 'main',
  checks: [],
  reviews: [],
  reviewDecision: null,
  unresolvedThreads: [],
} as const satisfies Partial<Parameters<typeof mergeReadiness>[0]>;
const check = (conclusion: string | null, name = 'ci', seq = 1) => ({
  name,
  suiteId: seq,
  conclusion,
  at: null,
  seq,
});
const unreported = ['the code host has not reported whether it can be merged'];

test.each<[string, Partial<Parameters<typeof mergeReadiness>[0]>, boolean | null, string[]]>([
  ['clean', {}, true, []],
  ['merged', { state: 'merged' }, false, ['it is already merged']],
  ['closed', { state: 'closed' }, false, ['it is closed']],
  ['a draft', { draft: true }, false, ['it is a draft']],
  ['conflicts', { mergeable: false }, false, ['it conflicts with main']],
  ['behind', { mergeableState: 'behind' }, false, ['it is behind main']],
  ['not reported', { mergeableState: null }, null, unreported],
  ['unknown', { mergeableState: 'unknown', mergeable: null }, null, unreported],
  ['running', { mergeableState: null, checks: [check(null)] }, null, ['checks running: ci', ...unreported]],
  ['failed', { mergeableState: null, checks: [check('failure')] }, false, ['checks failed: ci']],
  [
    'failed, not required',
    { mergeableState: 'unstable', checks: [check('failure')] },
    true,
    ['checks failed: ci'],
  ],
  [
    'a poll replaces the suites before it',
    { mergeableState: null, checks: [check('failure'), check('success', 'all checks', 2)] },
    null,
    unreported,
  ],
  ['blocked', { mergeableState: 'blocked' }, false, ['a repository rule on the code host blocks it']],
  [
    'changes requested',
    {
      mergeableState: 'blocked',
      reviews: [{ reviewer: 'kim', state: 'changes_requested', at: null, seq: 1 }],
    },
    false,
    ['changes requested by kim'],
  ],
  ['by a poll', { mergeableState: null, reviewDecision: 'changes_requested' }, false, ['changes requested']],
  ['threads', { mergeableState: null, unresolvedThreads: ['a', 'b'] }, false, ['2 unresolved threads']],
])('%s', (_name, change, expected, reasons) => {
  expect(mergeReadiness({ ...ready, checks: [], reviews: [], unresolvedThreads: [], ...change })).toEqual({
    ready: expected,
    reasons,
  });
});
