import { describe, expect, test } from 'vitest';
import { type FoldedLine } from '../../kernel/board/board.ts';
import { type LineFields, logged, moment, reduced } from '../../kernel/board/testing/lines.ts';
import { knownPullRequest } from './fold-pull-request.ts';
import type { PullRequest } from './pull-request.ts';
import { reducePullRequest } from './reduce-pull-request.ts';

const scope = { repo: 'acme/web', pr: 42, branch: 'eng-42', sha: 'head-1' };
const open = { state: 'open', draft: false, merged: false, mergeable: true, mergeableState: 'blocked' };
const merged = { state: 'closed', merged: true, mergedAt: moment(50) };

const pull = (seq: number, action: string, detail: object = open, more: LineFields = {}): FoldedLine =>
  logged(seq, `codehost.pr.${action}`, { scope, detail: { ...detail }, ...more });
const on = (sha: string, more: object = {}): LineFields => ({ scope: { ...scope, sha, ...more } });
const about = (seq: number, topic: string, detail: object, more: LineFields = {}): FoldedLine =>
  logged(seq, `codehost.${topic}`, { scope, detail: { ...detail }, ...more });
const suite = (
  seq: number,
  action: string,
  conclusion: string | undefined,
  more: LineFields & { id?: number } = {},
) => about(seq, `check_suite.${action}`, { suiteId: more.id ?? 1, app: 'ci', conclusion }, more);
const review = (seq: number, state: string, reviewer = 'kim', action = 'submitted'): FoldedLine =>
  about(seq, `pr_review.${action}`, { state, reviewer });
const comment = (seq: number, action: string, body: string, commentId = 7): FoldedLine =>
  about(seq, `issue_comment.${action}`, { commentId, body });
const thread = (seq: number, action: string): FoldedLine =>
  about(seq, `pr_review_thread.${action}`, { threadId: 'T1' });
const late = (line: FoldedLine, seq: number): FoldedLine => ({ ...line, seq, ts: moment(seq + 1) });

const opened = pull(1, 'opened');
const fold = (...lines: FoldedLine[]): PullRequest | undefined => reduced(reducePullRequest, lines);

test.each<[string, FoldedLine[], object]>([
  ['opened', [opened], { state: 'open', draft: false, headSha: 'head-1', mergeable: true, branch: 'eng-42' }],
  ['a draft', [pull(1, 'opened', { ...open, draft: true })], { draft: true }],
  ['ready', [pull(1, 'opened', { ...open, draft: true }), pull(2, 'ready_for_review')], { draft: false }],
  ['closed', [opened, pull(5, 'closed', { state: 'closed' })], { state: 'closed', closedAt: moment(5) }],
  [
    'closed, all detail cut',
    [opened, pull(5, 'closed', { cut: ['detail'] })],
    { state: 'closed', draft: false },
  ],
  [
    'reopened',
    [opened, pull(5, 'closed', { state: 'closed' }), pull(6, 'reopened')],
    { state: 'open', closedAt: null },
  ],
  [
    'merged',
    [opened, pull(50, 'merged', merged, on('head-1', { mergeSha: 'm' }))],
    { state: 'merged', merge: { sha: 'm', at: moment(50), seq: 50, via: 'live' } },
  ],
  [
    'a merge reported by another event',
    [opened, pull(60, 'labeled', merged, on('head-1', { mergeSha: 'm' }))],
    { state: 'merged', merge: { sha: 'm', at: moment(50), seq: 60, via: 'live' } },
  ],
  [
    'the commit of a merge comes later',
    [pull(50, 'merged', merged), pull(60, 'labeled', merged, on('head-1', { mergeSha: 'm' }))],
    { merge: { sha: 'm', at: moment(50), seq: 50, via: 'live' } },
  ],
  [
    'the first commit of a merge is kept',
    [
      pull(50, 'merged', merged, on('head-1', { mergeSha: 'm' })),
      pull(60, 'merged', merged, on('head-1', { mergeSha: 'other' })),
    ],
    { merge: { sha: 'm', at: moment(50), seq: 50, via: 'live' } },
  ],
  ['a merge is final', [opened, pull(50, 'merged', merged), pull(70, 'reopened')], { state: 'merged' }],
  [
    'late: opened after merged fills gaps only',
    [pull(50, 'merged', merged, on('head-9')), late(pull(1, 'opened', { ...open, title: 'First' }), 51)],
    { state: 'merged', headSha: 'head-9', title: 'First' },
  ],
  [
    'late: an older head',
    [
      opened,
      pull(9, 'synchronize', open, on('head-3')),
      late(pull(8, 'synchronize', open, on('head-2')), 10),
    ],
    { headSha: 'head-3' },
  ],
  [
    'late: synchronize after closed',
    [opened, pull(9, 'closed', { state: 'closed' }), late(pull(8, 'synchronize', open), 10)],
    { state: 'closed' },
  ],
  [
    'an event without an upstream time is never late',
    [opened, { ...pull(9, 'synchronize', open, on('head-2')), occurredAt: undefined }],
    { headSha: 'head-2' },
  ],
  [
    'a time in the future does not make later events late',
    [pull(1, 'opened', open, { occurredAt: '2199-01-01T00:00:00Z' }), pull(9, 'closed', { state: 'closed' })],
    { state: 'closed' },
  ],
  [
    'a suite of the head',
    [opened, suite(2, 'completed', 'failure')],
    { checks: [{ name: 'ci', suiteId: 1, conclusion: 'failure', at: moment(2), seq: 2 }] },
  ],
  ['a suite of another commit', [opened, suite(2, 'completed', 'failure', on('other'))], { checks: [] }],
  [
    'a new head has no checks',
    [opened, suite(2, 'completed', 'success'), pull(3, 'synchronize', open, on('h2'))],
    { checks: [] },
  ],
  [
    'run again',
    [
      opened,
      suite(2, 'completed', 'failure'),
      suite(3, 'rerequested', undefined),
      suite(4, 'completed', 'success'),
    ],
    { checks: [{ name: 'ci', suiteId: 1, conclusion: 'success', at: moment(4), seq: 4 }] },
  ],
  [
    'late: a suite reported again after it ran again',
    [
      opened,
      suite(2, 'completed', 'failure'),
      suite(4, 'completed', 'success'),
      late(suite(2, 'completed', 'failure'), 5),
    ],
    { checks: [{ name: 'ci', suiteId: 1, conclusion: 'success', at: moment(4), seq: 4 }] },
  ],
  [
    'two suites of one app',
    [opened, suite(2, 'completed', 'success'), suite(3, 'completed', 'failure', { id: 2 })],
    { checks: [{ conclusion: 'success' }, { conclusion: 'failure' }] },
  ],
  [
    'reviews: the latest of each reviewer',
    [opened, review(2, 'changes_requested'), review(3, 'approved', 'ada'), review(4, 'approved')],
    {
      reviews: [
        { reviewer: 'kim', state: 'approved' },
        { reviewer: 'ada', state: 'approved' },
      ],
    },
  ],
  [
    'a comment is not a verdict',
    [opened, review(2, 'approved'), review(3, 'commented')],
    { reviews: [{ state: 'approved' }], verdict: 'approved' },
  ],
  [
    'dismissed, and reported again late',
    [
      opened,
      review(2, 'approved'),
      review(3, 'dismissed', 'kim', 'dismissed'),
      late(review(2, 'approved'), 4),
    ],
    { reviews: [{ state: 'dismissed' }], verdict: null },
  ],
  [
    'the combined review decision, by a poll',
    [opened, about(2, 'pr_review.submitted', { state: 'approved' }, { via: 'poll' })],
    { reviews: [], reviewDecision: 'approved', verdict: 'approved' },
  ],
  ['a thread', [opened, thread(2, 'unresolved')], { unresolvedThreads: ['T1'] }],
  ['a resolved thread', [opened, thread(2, 'unresolved'), thread(3, 'resolved')], { unresolvedThreads: [] }],
  [
    'late: a thread',
    [opened, thread(3, 'resolved'), late(thread(2, 'unresolved'), 4)],
    { unresolvedThreads: [] },
  ],
  [
    'preview links of a comment, edited',
    [
      opened,
      comment(2, 'created', 'Preview: https://a.example.app'),
      comment(3, 'edited', 'Preview: https://b.example.app.'),
      late(comment(2, 'created', 'Preview: https://a.example.app'), 4),
    ],
    { previews: ['https://b.example.app'] },
  ],
  [
    'preview links of a comment in a review',
    [
      opened,
      about(2, 'pr_review_comment.created', { commentId: 8, body: 'Preview: https://a.example.app' }),
      about(3, 'pr_review_comment.edited', { commentId: 8, body: 'Preview: https://c.example.app' }),
    ],
    { previews: ['https://c.example.app'] },
  ],
  [
    'a deleted comment',
    [
      opened,
      comment(2, 'created', 'Preview: https://a.example.app'),
      comment(2, 'deleted', 'Preview: https://a.example.app'),
      comment(2, 'created', 'Preview: https://a.example.app'),
    ],
    { previews: [] },
  ],
  [
    'a judgement makes the merge state stale',
    [opened, suite(2, 'completed', 'success')],
    { mergeableState: null, mergeable: true },
  ],
  [
    'a merge state older than the judgement',
    [opened, suite(3, 'completed', 'success'), late(pull(2, 'labeled'), 4)],
    { mergeableState: null },
  ],
  [
    'a judgement that does not change the merge state',
    [opened, suite(2, 'completed', 'failure')],
    { mergeableState: 'blocked' },
  ],
  ['other topics', [opened, about(2, 'push', {})], { lastSeq: 1 }],
])('%s', (_name, lines, expected) => {
  expect(fold(...lines)).toMatchObject(expected);
});

test('a review of an unknown pull request does not create it', () => {
  expect(fold(review(1, 'approved'))).toBeUndefined();
});

describe('knownPullRequest', () => {
  const poll: LineFields = { via: 'poll' };
  test.each<[string, FoldedLine[], object]>([
    ['opened', [opened], { state: 'open', draft: false, headSha: 'head-1', asOf: '1' }],
    ['a verdict', [opened, review(2, 'approved')], { verdict: 'approved', asOf: '2' }],
    ['a comment is not a verdict', [opened, review(2, 'commented')], { verdict: undefined, asOf: '1' }],
    [
      'a dismissal',
      [opened, review(2, 'approved'), review(3, '', 'kim', 'dismissed')],
      { verdict: undefined, asOf: '3' },
    ],
    ['checks by a poll', [opened, suite(2, 'completed', 'success', poll)], { checks: 'success', asOf: '2' }],
    [
      'one suite is not the combined result',
      [opened, suite(2, 'completed', 'success', poll), suite(3, 'completed', 'success')],
      { checks: undefined, asOf: '3' },
    ],
    ['a running suite changes nothing', [opened, suite(2, 'requested', undefined)], { asOf: '1' }],
    [
      'a new head has no checks',
      [opened, suite(2, 'completed', 'success', poll), pull(3, 'synchronize', open, on('h2'))],
      { headSha: 'h2', checks: undefined, asOf: '3' },
    ],
    [
      'a late event counts as an event',
      [pull(50, 'merged', merged), late(opened, 60)],
      { state: 'merged', asOf: '60' },
    ],
  ])('%s', (_name, lines, expected) => {
    const pullRequest = fold(...lines);
    expect(pullRequest && knownPullRequest(pullRequest)).toMatchObject(expected);
  });
});
