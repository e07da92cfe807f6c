import { describe, expect, test } from 'vitest';
import { type CodehostAnswer, problemIn, readApiQuota } from './api-answer.ts';

const receivedAt = Date.UTC(2026, 0, 1, 12);
const answer = (status: number, message = '', headers: Record<string, string> = {}): CodehostAnswer => ({
  status,
  header: (name) => headers[name],
  body: message === '' ? '' : JSON.stringify({ message }),
  receivedAt,
});
const date = new Date(receivedAt).toUTCString();

describe('problemIn', () => {
  test.each([200, 201, 202, 204])('%i is not a problem', (status) => {
    expect(problemIn(answer(status))).toBeUndefined();
  });

  test.each([
    [401, 'Bad credentials', 'logged-out'],
    [403, 'Must have admin rights to Repository.', 'no-admin'],
    [404, 'Not Found', 'not-found'],
    [410, 'Gone', 'not-found'],
    [301, 'Moved Permanently', 'repo-gone'],
    [307, 'Moved', 'repo-gone'],
    [422, 'Validation Failed', 'refused'],
    [408, '', 'unavailable'],
    [500, 'Server Error', 'unavailable'],
    [502, '<html>', 'unavailable'],
    [503, '', 'unavailable'],
    [429, '', 'rate-limited'],
  ])('%i %s is %s', (status, message, kind) => {
    expect(problemIn(answer(status, message))?.kind).toBe(kind);
  });

  test('quotes the code host’s message without terminal control characters', () => {
    const body = JSON.stringify({
      message: 'Validation Failed',
      errors: [{ message: 'Hook \u001b[31malready exists' }],
    });
    const problem = problemIn({ ...answer(422), body });
    expect(problem?.message).toBe('HTTP 422: Validation Failed: Hook  [31malready exists');
  });

  test.each<[string, Record<string, string>, number]>([
    ['Retry-After in seconds', { 'retry-after': '7' }, 7_000],
    ['Retry-After as a date', { 'retry-after': new Date(receivedAt + 9_000).toUTCString(), date }, 9_000],
    [
      'a used-up quota',
      {
        'x-ratelimit-limit': '5000',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(receivedAt / 1000 + 120),
        date,
      },
      120_000,
    ],
    ['neither', {}, 60_000],
    ['an endless wait', { 'retry-after': '999999' }, 3_600_000],
  ])('a rate limit lasts as long as %s says', (_name, headers, wait) => {
    const problem = problemIn(answer(403, 'You have exceeded a secondary rate limit', headers));
    expect(problem).toMatchObject({ kind: 'rate-limited', until: receivedAt + wait });
  });

  test.each([403, 404])('%i names the scope that the token lacks', (status) => {
    const headers = {
      'x-oauth-scopes': 'gist, repo:status',
      'x-accepted-oauth-scopes': 'public_repo, repo, admin:repo_hook',
    };
    expect(problemIn(answer(status, 'Not Found', headers))).toMatchObject({
      kind: 'no-admin',
      scope: 'admin:repo_hook',
    });
    const enough = { ...headers, 'x-oauth-scopes': 'repo' };
    expect(problemIn(answer(404, 'Not Found', enough))?.kind).toBe('not-found');
  });
});

test('the reset time of the quota is converted to our clock by the Date header', () => {
  const hostTime = receivedAt + 7_200_000;
  const headers = {
    'x-ratelimit-limit': '5000',
    'x-ratelimit-remaining': '12',
    'x-ratelimit-reset': String(hostTime / 1000 + 600),
    'x-ratelimit-resource': 'graphql',
    date: new Date(hostTime).toUTCString(),
  };
  expect(readApiQuota(answer(200, '', headers))).toEqual({
    resource: 'graphql',
    limit: 5000,
    remaining: 12,
    resetAt: receivedAt + 600_000,
  });
  expect(readApiQuota(answer(200))).toBeUndefined();
});
