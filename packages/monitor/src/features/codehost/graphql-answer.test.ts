import { expect, test } from 'vitest';
import { type CodehostAnswer, problemOfGraphql, readGraphqlAnswer } from './api-answer.ts';

const receivedAt = Date.UTC(2026, 0, 1, 12);
const answer: CodehostAnswer = { status: 200, header: () => undefined, body: '', receivedAt };

test('partial data comes with its errors', () => {
  const json = {
    data: { a: null, b: { x: 1 } },
    errors: [{ type: 'NOT_FOUND', path: ['a'], message: 'gone' }],
  };
  expect(readGraphqlAnswer(answer, json)).toEqual({
    ok: true,
    value: { data: { a: null, b: { x: 1 } }, errors: [{ type: 'NOT_FOUND', path: ['a'], message: 'gone' }] },
  });
});

test.each([
  ['no object', 'text', 'malformed'],
  ['neither data nor errors', {}, 'refused'],
  ['a refused query', { errors: [{ message: 'Field does not exist' }] }, 'refused'],
  [
    'a used-up quota',
    { errors: [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded' }] },
    'rate-limited',
  ],
  [
    'a used-up quota beside data',
    { data: {}, errors: [{ type: 'RATE_LIMITED', message: '' }] },
    'rate-limited',
  ],
])('%s is a problem', (_name, json, kind) => {
  expect(readGraphqlAnswer(answer, json)).toMatchObject({ ok: false, problem: { kind } });
});

test.each([
  ['NOT_FOUND', 'repo-gone'],
  ['FORBIDDEN', 'no-admin'],
  ['SOMETHING', 'refused'],
  [undefined, 'refused'],
])('%s of one repository is %s', (type, kind) => {
  expect(problemOfGraphql({ type, message: 'words' })).toMatchObject({ kind, message: 'words' });
});
