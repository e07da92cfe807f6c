// A reconciliation against the board reports each difference once, and the board knows it afterwards.

import { expect, test } from 'vitest';
import { type Board } from '../../kernel/board/board.ts';
import { moment } from '../../kernel/board/testing/lines.ts';
import { emptyBoard, foldLine } from '../board.ts';
import { knownPullRequest } from './fold-pull-request.ts';
import { type PolledPullRequest, pollDifferences } from './poll-differences.ts';

const head = 'a'.repeat(40);
const open: PolledPullRequest = {
  number: 42,
  title: 'Add the login form',
  url: 'https://codehost.example/acme/web/pull/42',
  state: 'OPEN',
  isDraft: false,
  merged: false,
  createdAt: '2025-12-01T10:00:00Z',
  updatedAt: '2025-12-01T11:00:00Z',
  headRefName: 'eng-42-login-form',
  headRefOid: head,
  baseRefName: 'main',
  mergeable: 'MERGEABLE',
  mergeStateStatus: 'BLOCKED',
  author: { login: 'kim' },
  commits: { nodes: [{ commit: { oid: head } }] },
};
const closed: PolledPullRequest = { ...open, state: 'CLOSED', closedAt: '2025-12-01T11:00:00Z' };
const merged: PolledPullRequest = {
  ...closed,
  state: 'MERGED',
  merged: true,
  mergedAt: '2025-12-01T11:00:00Z',
  mergeCommit: { oid: 'b'.repeat(40) },
};
const checked = (state: string): PolledPullRequest => ({
  ...open,
  commits: { nodes: [{ commit: { oid: head, statusCheckRollup: { state } } }] },
});
const polls: [string, PolledPullRequest][] = [
  ['open', open],
  ['draft', { ...open, isDraft: true }],
  ['closed', closed],
  ['merged', merged],
  ['checks passed', checked('SUCCESS')],
  ['checks failed', checked('FAILURE')],
  ['approved', { ...open, reviewDecision: 'APPROVED' }],
  ['changes requested', { ...open, reviewDecision: 'CHANGES_REQUESTED' }],
  ['another head', { ...open, headRefOid: 'c'.repeat(40), commits: { nodes: [] } }],
];

function reconcile(board: Board, polled: PolledPullRequest): string[] {
  const known = board.pullRequests.get('acme/web#42');
  const view = known && knownPullRequest(known);
  const drafts = pollDifferences(polled, view, { repo: 'acme/web', covered: false });
  for (const draft of drafts) foldLine(board, { ...draft, seq: board.seq + 1, ts: moment(board.seq + 2) });
  return drafts.map(({ deliveryId = '' }) => deliveryId);
}

/** The pull request as it is at an hour: something happens between two polls, with a later time. */
const at = (polled: PolledPullRequest, hour: number): PolledPullRequest => {
  const time = `2025-12-01T${hour}:00:00Z`;
  return {
    ...polled,
    updatedAt: time,
    ...(polled.closedAt && { closedAt: time, mergedAt: polled.mergedAt && time }),
  };
};

test.each(
  polls.flatMap(([first, before]) => polls.map(([second, after]) => [first, second, before, after] as const)),
)('%s, then %s', (_first, _second, before, after) => {
  const board = emptyBoard();
  const ids: string[] = [];
  for (const polled of [at(before, 12), at(after, 13), at(before, 14), at(after, 15)]) {
    // The first difference, that it is open, may hide reviews and checks until the next poll.
    ids.push(...reconcile(board, polled), ...reconcile(board, polled));
    expect(reconcile(board, polled)).toEqual([]);
  }
  expect(new Set(ids).size).toBe(ids.length);
});
