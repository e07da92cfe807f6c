import { expect, test } from 'vitest';
import { ApiFailure } from '../../api/client.ts';
import { refusedSummary } from './run-summary.tsx';

const failure = (
  status: number,
  code: string,
  message: string,
  more: { remedy?: string; retryAfter?: number | undefined } = {},
) => new ApiFailure({ status, code, message, ...more });

test('AI that is not configured is not a failure', () => {
  expect(refusedSummary(failure(503, 'http-503', 'AI not configured'))).toMatchObject({
    kind: 'not-configured',
    words: 'AI not configured',
  });
  expect(
    refusedSummary(failure(503, 'not-configured', 'There is no key.', { remedy: 'Set KEY.' })),
  ).toMatchObject({
    kind: 'not-configured',
    remedy: 'Set KEY.',
  });
  expect(refusedSummary(failure(503, 'state-not-ready', 'x')).kind).toBe('failed');
});

test.each([
  [7, 7],
  [undefined, 5],
  [0, 1],
  [999_999, 3_600],
])('after %s s it waits %d s', (retryAfter, seconds) => {
  const refusal = failure(429, 'too-many-requests', 'Too often.', { retryAfter });
  expect(refusedSummary(refusal)).toEqual({ kind: 'later', words: 'Too often.', seconds });
});

test('any other response is a failure', () => {
  expect(refusedSummary(failure(502, 'http-502', 'The daemon answered 502.'))).toEqual({
    kind: 'failed',
    words: 'The daemon answered 502.',
    code: 'http-502',
    remedy: undefined,
  });
});
