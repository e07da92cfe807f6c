import { describe, expect, test } from 'vitest';
import { provesNoChange, readTrackerAnswer, readTrackerQuota } from './api-answer.ts';

const NOW = Date.parse('2026-01-02T03:04:05.000Z');

const answer = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  readTrackerAnswer({
    status,
    header: (name) => headers[name] ?? null,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    receivedAt: NOW,
  });

const error = (message: string, extensions?: unknown) => ({ errors: [{ message, extensions }], data: null });

test('data is data', () => {
  expect(answer(200, { data: { teams: [] } })).toEqual({ ok: true, data: { teams: [] } });
});

describe('every way to report a problem', () => {
  test.each([
    ['a 401', 401, 'no', 'unauthorised'],
    ['an authentication error by code', 400, error('x', { code: 'AUTHENTICATION_ERROR' }), 'unauthorised'],
    ['an authentication error by type', 200, error('x', { type: 'authentication error' }), 'unauthorised'],
    ['a 429', 429, 'slow down', 'rate-limited'],
    ['a used-up quota by code', 400, error('x', { code: 'RATELIMITED' }), 'rate-limited'],
    ['a 500', 500, '<html>', 'unavailable'],
    ['a 503 with an error in it', 503, error('x'), 'unavailable'],
    ['an internal error by code', 200, error('x', { code: 'INTERNAL_SERVER_ERROR' }), 'unavailable'],
    ['a redirect', 302, '', 'unavailable'],
    ['a 404 of a web server', 404, '<html>', 'unavailable'],
    ['a 404 in JSON', 404, {}, 'not-found'],
    ['an entity that is gone', 400, error('Entity not found: Webhook', { code: 'INPUT_ERROR' }), 'not-found'],
    [
      'the same with another message',
      200,
      error('x', { userPresentableMessage: 'Could not find referenced Team.' }),
      'not-found',
    ],
    ['a right that is missing', 200, error('x', { code: 'FORBIDDEN' }), 'forbidden'],
    ['a 403', 403, 'no', 'forbidden'],
    ['another error', 400, error('Argument Validation Error', { code: 'INPUT_ERROR' }), 'graphql'],
    ['an error without extensions', 200, error('x'), 'graphql'],
    ['an error without data', 200, { errors: [{ message: 'x' }] }, 'graphql'],
    ['an error with data', 200, { ...error('x'), data: { a: 1 } }, 'malformed'],
    ['half of JSON', 200, '{"data": {', 'malformed'],
    ['JSON that is not an object', 200, '[]', 'malformed'],
    ['no data', 200, { data: { teams: null } }, 'malformed'],
    ['nothing', 200, '', 'malformed'],
    ['errors of a wrong shape', 200, { errors: ['x'], data: null }, 'malformed'],
  ])('%s', (_, status, body, kind) => {
    expect(answer(status, body)).toMatchObject({ ok: false, problem: { kind } });
  });
});

describe('how long to wait', () => {
  const usedUp = {
    'x-ratelimit-requests-remaining': '0',
    'x-ratelimit-requests-reset': String(NOW + 90_000),
  };
  test.each([
    ['seconds', { 'retry-after': '7' }, 7_000],
    ['a date', { 'retry-after': 'Fri, 02 Jan 2026 03:05:05 GMT' }, 60_000],
    ['the quota that is used up', usedUp, 90_000],
    ['seconds before the quota', { 'retry-after': '2', ...usedUp }, 2_000],
    ['a quota that is not used up', { ...usedUp, 'x-ratelimit-requests-remaining': '5' }, 60_000],
    ['nothing', {}, 60_000],
    ['nonsense', { 'retry-after': 'soon' }, 60_000],
    ['zero', { 'retry-after': '0' }, 1_000],
    ['forever', { 'retry-after': '99999999' }, 86_400_000],
    ['the past', { 'retry-after': 'Fri, 02 Jan 2026 03:00:00 GMT' }, 1_000],
  ])('%s', (_, headers, retryAfterMs) => {
    expect(answer(429, '', headers as Record<string, string>)).toMatchObject({ problem: { retryAfterMs } });
  });
});

test('messages of the API cannot control a terminal or fill a screen', () => {
  const read = answer(400, error(`\u001b[31mred\n${'x'.repeat(5_000)}`));
  const message = read.ok ? '' : read.problem.message;
  expect(message).toMatch(/^ \[31mred xxx/);
  expect(message.length).toBeLessThanOrEqual(300);
});

test('the quota is read from the headers, or not at all', () => {
  const headers = { 'x-ratelimit-requests-limit': '5000', 'x-ratelimit-requests-remaining': '4999' };
  const read = (given: Record<string, string>) => readTrackerQuota((name) => given[name] ?? null);
  expect(read(headers)).toEqual({ limit: 5000, remaining: 4999, resetAt: undefined });
  expect(read({ ...headers, 'x-ratelimit-requests-reset': '12' })?.resetAt).toBe(12);
  expect(read({ ...headers, 'x-ratelimit-requests-limit': 'many' })).toBeUndefined();
});

test.each([
  [429, true],
  [401, true],
  [403, true],
  [400, false],
  [500, false],
])('after HTTP %i it is certain that nothing was changed: %s', (status, certain) => {
  const read = answer(status, '');
  expect(read.ok || provesNoChange(read.problem)).toBe(certain);
});
