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
const unsaid = ['the code host has not said whether it can be merged'];

test.each<[string, Partial<Parameters<typeof mergeReadiness>[0]>, boolean | null, string[]]>([
  ['clean', {}, true, []],
  ['merged', { state: 'merged' }, false, ['it is merged already']],
  ['closed', { state: 'closed' }, false, ['it is closed']],
  ['a draft', { draft: true }, false, ['it is a draft']],
  ['conflicts', { mergeable: false }, false, ['it conflicts with main']],
  ['behind', { mergeableState: 'behind' }, false, ['it is behind main']],
  ['not said', { mergeableState: null }, null, unsaid],
  ['unknown', { mergeableState: 'unknown', mergeable: null }, null, unsaid],
  ['running', { mergeableState: null, checks: [check(null)] }, null, ['checks are running: ci', ...unsaid]],
  ['failed', { mergeableState: null, checks: [check('failure')] }, false, ['checks failed: ci']],
  [
    'failed, not required',
    { mergeableState: 'unstable', checks: [check('failure')] },
    true,
    ['checks failed: ci'],
  ],
  [
    'a poll says more than suites before it',
    { mergeableState: null, checks: [check('failure'), check('success', 'all checks', 2)] },
    null,
    unsaid,
  ],
  [
    'blocked',
    { mergeableState: 'blocked' },
    false,
    ['the code host says that a rule of the repository is not met'],
  ],
  [
    'changes requested',
    {
      mergeableState: 'blocked',
      reviews: [{ reviewer: 'kim', state: 'changes_requested', at: null, seq: 1 }],
    },
    false,
    ['changes are requested by kim'],
  ],
  [
    'by a poll',
    { mergeableState: null, reviewDecision: 'changes_requested' },
    false,
    ['changes are requested'],
  ],
  ['threads', { mergeableState: null, unresolvedThreads: ['a', 'b'] }, false, ['2 threads are unresolved']],
])('%s', (_name, change, expected, reasons) => {
  expect(mergeReadiness({ ...ready, checks: [], reviews: [], unresolvedThreads: [], ...change })).toEqual({
    ready: expected,
    reasons,
  });
});
