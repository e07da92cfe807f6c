import { samplePullRequest } from '@svc/testkit';
import { expect, test } from 'vitest';
import { pullRequestOfSession, shownSessions } from './shown-sessions.ts';

const now = Date.parse('2026-01-02T12:00:00Z');
const session = (key: string, state: 'running' | 'ended', minutes: number, folder = '/web') => ({
  key,
  folder,
  state,
  since: new Date(now - minutes * 60_000).toISOString(),
});

test('sessions by their folder; one that has ended stays for 15 minutes', () => {
  const sessions = [
    session('b', 'ended', 14),
    session('c', 'ended', 15),
    session('d', 'running', 90, '/api'),
  ];
  expect(shownSessions(sessions, now).map(({ key }) => key)).toEqual(['d', 'b']);
});

const pullRequest = (number: number, more: object = {}) => ({
  ...samplePullRequest(),
  repo: 'acme/web',
  headRepo: null,
  branch: 'fix-a',
  number,
  lastSeq: number,
  ...more,
});
const closed = { state: 'closed' };

test.each([
  ['the open one', [pullRequest(9, closed), pullRequest(7)], 7],
  ['the newest of closed ones', [pullRequest(7, closed), pullRequest(9, closed)], 9],
  ['of another branch', [pullRequest(7, { branch: 'fix-b' })], undefined],
  ['of a fork', [pullRequest(7, { headRepo: 'kim/web' })], undefined],
  ['in two repositories', [pullRequest(7), pullRequest(8, { repo: 'acme/api' })], undefined],
])('the pull request of a session: %s', (_what, pullRequests, number) => {
  expect(pullRequestOfSession({ branch: 'fix-a' }, pullRequests)?.number).toBe(number);
  expect(pullRequestOfSession({ branch: null }, pullRequests)).toBeUndefined();
});
