import { describe, expect, test } from 'vitest';
import { readGraphql, readList, readOne } from './gh.ts';

const next = 'Link: <https://x/?page=2>; rel="next"';
const page = (status: string, headers: string[], ...items: string[]): string =>
  [`HTTP/1.1 ${status}`, ...headers, '', ...items, ''].join('\n');

describe('a list', () => {
  test.each([
    ['no page', ''],
    ['a page whose next page is missing', page('200 OK', [next], '{"id":1}')],
    ['a page that failed', page('200 OK', [next], '{"id":1}') + page('502 Bad Gateway', [])],
    ['an item that is cut off', page('200 OK', [], '{"id":1}', '{"id":')],
    ['an item that is not an object', page('200 OK', [], '"text"')],
    ['an item that is null', page('200 OK', [], 'null')],
  ])('with %s is a failure, never a shorter list', (_name, output) => {
    expect(readList(output, 0).result.ok).toBe(false);
  });

  test('is complete with its last page', () => {
    const output = page('200 OK', [next], '{"id":1}', '{"id":2}') + page('200 OK', [], '{"id":3}');
    const { answers, result } = readList(output, 0);
    expect(answers).toHaveLength(2);
    expect(result).toEqual({ ok: true, value: [{ id: 1 }, { id: 2 }, { id: 3 }] });
  });
});

test.each([
  ['JSON', page('200 OK', [], '{"a":1}'), { a: 1 }],
  ['nothing', page('204 No Content', []), null],
])('one answer with %s', (_name, output, json) => {
  expect(readOne(output, 0).result).toMatchObject({ ok: true, value: { json } });
});

test('the answers are returned even for a failure: they contain the quota', () => {
  expect(readOne(page('500 Oh', ['X-RateLimit-Limit: 5']), 0).answers).toHaveLength(1);
  expect(readGraphql(page('200 OK', [], '{"errors":[{"message":"no"}]}'), 0)).toMatchObject({
    answers: [{ status: 200 }],
    result: { ok: false, problem: { kind: 'refused' } },
  });
});
