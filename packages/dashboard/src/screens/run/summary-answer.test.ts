import { expect, test } from 'vitest';
import { ApiFailure } from '../../api/client.ts';
import { refusedSummary } from './summary-answer.ts';

test('AI that nobody configured is no failure', () => {
  expect(refusedSummary(new ApiFailure(503, 'http-503', 'AI not configured', null))).toMatchObject({
    kind: 'not-configured',
    words: 'AI not configured',
  });
  expect(refusedSummary(new ApiFailure(503, 'not-configured', 'There is no key.', 'Set KEY.'))).toMatchObject(
    {
      kind: 'not-configured',
      remedy: 'Set KEY.',
    },
  );
  expect(refusedSummary(new ApiFailure(503, 'state-not-ready', 'x', null)).kind).toBe('failed');
});

test.each([
  [7, 7],
  [null, 5],
  [0, 1],
  [999_999, 3_600],
])('after %s s it waits %d s', (retryAfter, seconds) => {
  const failure = new ApiFailure(429, 'too-many-requests', 'Too often.', null, retryAfter);
  expect(refusedSummary(failure)).toEqual({ kind: 'later', words: 'Too often.', seconds });
});

test('everything else failed', () => {
  expect(refusedSummary(new ApiFailure(502, 'http-502', 'The daemon answered 502.', null))).toEqual({
    kind: 'failed',
    words: 'The daemon answered 502.',
    code: 'http-502',
    remedy: null,
  });
});
