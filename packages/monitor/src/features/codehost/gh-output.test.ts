import { expect, test } from 'vitest';
import { nextPage, parseExactIds, readAnswer, readPages } from './gh.ts';

const head = (status: string, ...headers: string[]): string =>
  [`HTTP/2.0 ${status}`, ...headers.map((line) => `${line}\r`), '\r', ''].join('\n');

test('one answer: status, headers in any case, the whole body', () => {
  const body = '{"text":"HTTP/1.1 500\\n"}\n\nHTTP/1.1 404 is text here';
  const answer = readAnswer(`${head('201 Created', 'X-A: b: c', 'link: <x>')}${body}`, 5);
  expect(answer).toMatchObject({ status: 201, body, receivedAt: 5 });
  expect(answer?.header('x-a')).toBe('b: c');
  expect(answer?.header('link')).toBe('<x>');
  expect(answer?.header('missing')).toBeUndefined();
});

test.each(['', 'error connecting to host', '{"message":"no head"}'])('%j is not an answer', (output) => {
  expect(readAnswer(output, 0)).toBeUndefined();
  expect(readPages(output, 0)).toEqual([]);
});

test('an answer without a body', () => {
  expect(readAnswer(head('204 No Content', 'A: b'), 0)).toMatchObject({ status: 204, body: '' });
});

test('pages one after the other, each with its own headers', () => {
  const item = '{"id":1,"text":"HTTP/1.1 200 OK\\n"}';
  const output = `${head('200 OK', 'Link: <https://x/?page=2>; rel="next"')}${item}\n${item}\n\n${head('200 OK')}\n${head('502 Bad Gateway', 'A: b')}`;
  const pages = readPages(output, 0);
  expect(pages.map(({ status, body }) => [status, body.split('\n').length, body])).toEqual([
    [200, 2, `${item}\n${item}`],
    [200, 1, ''],
    [502, 1, ''],
  ]);
  expect(nextPage(pages[0] ?? { header: () => undefined })?.href).toBe('https://x/?page=2');
  expect(nextPage(pages[1] ?? { header: () => undefined })).toBeUndefined();
});

test.each([
  ['<https://x/?cursor=v1_2>; rel="next"', 'v1_2'],
  ['<https://x/?page=1>; rel="prev", <https://x/?cursor=b>; rel="next"', 'b'],
  ['<https://x/?cursor=b>; rel="last"', undefined],
  ['<nonsense>; rel="next"', undefined],
  [undefined, undefined],
])('the next page of %j', (link, cursor) => {
  expect(nextPage({ header: () => link })?.searchParams.get('cursor')).toBe(cursor);
});

test('ids that a number cannot hold stay exact', () => {
  expect(parseExactIds('[{"id":9007199254740994,"n":1},{"id":12}]')).toEqual([
    { id: '9007199254740994', n: 1 },
    { id: 12 },
  ]);
  expect(parseExactIds('{"id":')).toBeUndefined();
});
