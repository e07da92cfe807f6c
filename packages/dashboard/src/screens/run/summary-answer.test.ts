import { expect, test } from 'vitest';
import { readSummaryAnswer } from './summary-answer.ts';

test('a summary is a summary', () => {
  const summary = {
    summary: 'All well.',
    provider: 'provider-a',
    model: 'm',
    cost: 0.01,
    tokens: 9,
    cached: true,
  };
  expect(readSummaryAnswer(200, null, JSON.stringify(summary))).toMatchObject({ kind: 'summary', summary });
});

test('AI that nobody configured is no failure', () => {
  expect(readSummaryAnswer(503, null, '{"error":"AI not configured"}')).toMatchObject({
    kind: 'not-configured',
    words: 'AI not configured',
  });
  const without = { error: 'There is no key.', code: 'not-configured', remedy: 'Set KEY.' };
  expect(readSummaryAnswer(503, null, JSON.stringify(without))).toMatchObject({ remedy: 'Set KEY.' });
  expect(readSummaryAnswer(503, null, '{"error":"x","code":"state-not-ready"}').kind).toBe('failed');
});

test.each([
  ['7', 7],
  [null, 5],
  ['soon', 5],
  ['0', 1],
  ['999999', 3_600],
])('Retry-After %s waits %d s', (header, seconds) => {
  expect(readSummaryAnswer(429, header, '{"error":"Too often."}')).toEqual({
    kind: 'later',
    words: 'Too often.',
    seconds,
  });
});

test('everything else failed, whatever the body is', () => {
  expect(readSummaryAnswer(502, null, '<html>')).toEqual({
    kind: 'failed',
    words: 'The daemon answered 502.',
    code: 'http-502',
    remedy: null,
  });
  expect(readSummaryAnswer(200, null, 'null').kind).toBe('failed');
});
