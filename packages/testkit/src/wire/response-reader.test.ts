import { expect, test } from 'vitest';
import { createResponseReader } from './exchange.ts';

const wire =
  'HTTP/1.1 100 Continue\r\n\r\n' +
  'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nfirst' +
  'HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n' +
  'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n';

const read = (pieces: readonly Buffer[]) => {
  const answers: string[] = [];
  const reader = createResponseReader(({ status, body, closes }) => {
    answers.push(`${status} ${body.toString()} ${closes ? 'closes' : 'stays'}`);
  });
  for (const piece of pieces) reader(piece);
  return answers;
};

test.each([1, 7, 40, 1000])('answers are complete, however the bytes arrive (pieces of %d)', (size) => {
  const bytes = Buffer.from(wire);
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
  expect(read(pieces)).toEqual(['200 first stays', '503  stays', '400  closes']);
});

test('half an answer does not count', () => {
  expect(read([Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfir')])).toEqual([]);
});
