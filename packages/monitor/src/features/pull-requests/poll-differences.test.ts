import { describe, expect, test } from 'vitest';
import { type EventDraft, parseEventDraft } from '../../kernel/log/event-line.ts';
import { emptyBoard, foldLine } from '../board.ts';
import { topics } from '../topics.ts';
import { knownPullRequest } from './fold-pull-request.ts';
import {
  isHistory,
  type KnownPullRequest,
  type PolledPullRequest,
  pollDifferences,
  polledCodehostTopics,
} from './poll-differences.ts';

const LOGGED_AT = '2026-01-01T12:00:00.000Z';
const opened = (sha: string, draft: boolean): EventDraft => ({
  event: 'codehost.pr.opened',
  source: 'codehost.webhook',
  via: 'live',
  occurredAt: '2026-01-01T10:00:00Z',
  scope: { repo: 'acme/web', pr: 42, sha },
  detail: { state: 'open', draft, merged: false },
});
const head = 'a'.repeat(40);
const other = 'c'.repeat(40);
const mergeSha = 'b'.repeat(40);
const open: PolledPullRequest = {
  number: 42,
  title: 'Add the login form',
  url: 'https://codehost.example/acme/web/pull/42',
  state: 'OPEN',
  isDraft: false,
  merged: false,
  createdAt: '2026-01-01T10:00:00Z',
  updatedAt: '2026-01-01T11:00:00Z',
  headRefName: 'eng-42-login-form',
  headRefOid: head,
  baseRefName: 'main',
  mergeable: 'MERGEABLE',
  mergeStateStatus: 'BLOCKED',
  author: { login: 'kim' },
  commits: { nodes: [{ commit: { oid: head } }] },
};
const closed: PolledPullRequest = { ...open, state: 'CLOSED', closedAt: '2026-01-01T12:00:00Z' };
const merged: PolledPullRequest = {
  ...closed,
  state: 'MERGED',
  merged: true,
  mergedAt: '2026-01-01T12:00:00Z',
  mergedBy: { login: 'ada' },
  mergeCommit: { oid: mergeSha },
};
const withChecks = (state: string): PolledPullRequest => ({
  ...open,
  commits: { nodes: [{ commit: { oid: head, statusCheckRollup: { state } } }] },
});
const known: KnownPullRequest = {
  state: 'open',
  draft: false,
  headSha: head,
  mergeableState: 'blocked',
  asOf: '9',
};
const uncovered = { repo: 'acme/web', covered: false };
const covered = { ...uncovered, covered: true };
const topicsOf = (drafts: EventDraft[]): string[] => drafts.map(({ event }) => event);

describe('pollDifferences', () => {
  test.each<[string, PolledPullRequest, KnownPullRequest | undefined, string[]]>([
    ['nothing new', open, known, []],
    ['merged', merged, known, ['codehost.pr.merged']],
    ['merged, known as closed', merged, { ...known, state: 'closed' }, ['codehost.pr.merged']],
    ['merged, known', merged, { ...known, state: 'merged', mergeSha }, []],
    ['merged, its commit not known', merged, { ...known, state: 'merged' }, ['codehost.pr.merged']],
    [
      'the same, and it is still unknown',
      { ...merged, mergeCommit: null },
      { ...known, state: 'merged' },
      [],
    ],
    ['can be merged now', { ...open, mergeStateStatus: 'CLEAN' }, known, ['codehost.pr.refreshed']],
    ['mergeability not computed yet', { ...open, mergeStateStatus: 'UNKNOWN' }, known, []],
    ['merged, not known at all', merged, undefined, ['codehost.pr.merged']],
    ['closed', closed, known, ['codehost.pr.closed']],
    ['closed, known', closed, { ...known, state: 'closed' }, []],
    ['opened', open, undefined, ['codehost.pr.opened']],
    ['reopened', open, { ...known, state: 'closed' }, ['codehost.pr.reopened']],
    ['a new head', open, { ...known, headSha: other }, ['codehost.pr.synchronize']],
    ['no longer a draft', open, { ...known, draft: true }, ['codehost.pr.ready_for_review']],
    ['a draft again', { ...open, isDraft: true }, known, ['codehost.pr.converted_to_draft']],
    [
      'several at once',
      { ...open, isDraft: true },
      { ...known, state: 'closed', headSha: other },
      ['codehost.pr.reopened', 'codehost.pr.synchronize', 'codehost.pr.converted_to_draft'],
    ],
    ['a merge cannot be undone', open, { ...known, state: 'merged' }, []],
    [
      'approved',
      { ...open, reviewDecision: 'APPROVED' },
      known,
      ['codehost.pr_review.submitted', 'codehost.pr.refreshed'],
    ],
    ['approved, known', { ...open, reviewDecision: 'APPROVED' }, { ...known, verdict: 'approved' }, []],
    ['reviews still required', { ...open, reviewDecision: 'REVIEW_REQUIRED' }, known, []],
    [
      'checks passed',
      withChecks('SUCCESS'),
      known,
      ['codehost.check_suite.completed', 'codehost.pr.refreshed'],
    ],
    [
      'checks failed',
      withChecks('ERROR'),
      { ...known, checks: 'success' },
      ['codehost.check_suite.completed', 'codehost.pr.refreshed'],
    ],
    ['checks passed, known', withChecks('SUCCESS'), { ...known, checks: 'success' }, []],
    ['checks running', withChecks('PENDING'), known, []],
  ])('%s', (_name, polled, before, expected) => {
    const drafts = pollDifferences(polled, before, uncovered);
    expect(topicsOf(drafts)).toEqual(expected);
    for (const draft of drafts) {
      expect(draft).toMatchObject({
        source: 'codehost.poll',
        via: 'poll',
        scope: { repo: 'acme/web', pr: 42 },
      });
      expect(parseEventDraft(topics, draft)).toMatchObject({ ok: true });
      expect(polledCodehostTopics).toContain(draft.event);
    }
  });

  test('a merge has everything that a delivery would contain', () => {
    const [draft] = pollDifferences(merged, known, { ...uncovered, ticketPrefixes: ['ENG'] });
    expect(draft).toMatchObject({
      deliveryId: `poll:acme/web#42:merged:${mergeSha}`,
      occurredAt: '2026-01-01T12:00:00Z',
      scope: { branch: 'eng-42-login-form', sha: head, mergeSha, ticket: 'ENG-42' },
      detail: { merged: true, mergedBy: 'ada', state: 'closed', mergeableState: 'blocked', base: 'main' },
    });
  });

  test('where deliveries arrive, reviews and checks are compared only if the log has them', () => {
    const polled = { ...withChecks('SUCCESS'), reviewDecision: 'APPROVED' };
    expect(pollDifferences(polled, known, covered)).toEqual([]);
    const otherwise: KnownPullRequest = { ...known, checks: 'failure', verdict: 'changes_requested' };
    expect(topicsOf(pollDifferences(polled, otherwise, covered))).toEqual([
      'codehost.pr_review.submitted',
      'codehost.check_suite.completed',
      'codehost.pr.refreshed',
    ]);
  });

  test('the same poll has the same ids; another occasion has others', () => {
    const ids = (before: KnownPullRequest) =>
      pollDifferences(open, before, uncovered).map(({ deliveryId }) => deliveryId);
    const moved = { ...known, headSha: other };
    expect(ids(moved)).toEqual(ids({ ...moved }));
    expect(ids(moved)).not.toEqual(ids({ ...moved, asOf: '10' }));
  });

  test('once reported, it is no longer a difference', () => {
    for (const polled of [
      open,
      closed,
      merged,
      withChecks('SUCCESS'),
      { ...open, reviewDecision: 'APPROVED' },
    ]) {
      for (const before of [[], [opened(head, false)], [opened(other, true)]]) {
        const board = emptyBoard();
        const find = (): EventDraft[] => {
          const now = board.pullRequests.get('acme/web#42');
          return pollDifferences(polled, now && knownPullRequest(now), uncovered);
        };
        const apply = (drafts: readonly EventDraft[]): void => {
          for (const draft of drafts) foldLine(board, { ...draft, seq: board.seq + 1, ts: LOGGED_AT });
        };
        apply(before);
        apply(find());
        const again = find();
        expect(
          again.filter(({ event }) => event.startsWith('codehost.pr.')),
          polled.state,
        ).toEqual([]);
        apply(again);
        expect(find()).toEqual([]);
      }
    }
  });
});

test.each<[string, PolledPullRequest, KnownPullRequest | undefined, boolean]>([
  ['an open one', open, undefined, false],
  ['one that ended long ago', { ...merged, closedAt: '2020-01-01T00:00:00Z' }, undefined, true],
  ['one that ended just now', merged, undefined, false],
  ['one that we know', { ...merged, closedAt: '2020-01-01T00:00:00Z' }, known, false],
])('among the newest, %s: history %#', (_name, polled, before, expected) => {
  expect(isHistory(polled, before, Date.parse('2026-01-01T12:30:00Z'))).toBe(expected);
});
