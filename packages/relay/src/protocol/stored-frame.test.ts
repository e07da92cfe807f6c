import { expect, test } from 'vitest';
import { decodeFrame, encodeFrame, encodeFrameOfParts } from './frame.ts';

const delivery = {
  headers: { 'x-a': 'é', 'x-b': '"' },
  query: { q: '1' },
  receivedAt: 5,
  body: Buffer.from([0, 255, 10]),
};

test('a frame is decoded byte for byte', () => {
  expect(decodeFrame(encodeFrame(delivery))).toEqual({ ...delivery, parts: null });
  const empty = { ...delivery, body: Buffer.alloc(0) };
  expect(decodeFrame(encodeFrame(empty))).toEqual({ ...empty, parts: null });
});

test('a head of parts names them and has no body', () => {
  const parts = { size: 100, sequences: [3, 4, 9] };
  expect(decodeFrame(encodeFrameOfParts(delivery, parts))).toEqual({
    ...delivery,
    body: Buffer.alloc(0),
    parts,
  });
});

test('the body is a view, not a copy', () => {
  const frame = encodeFrame(delivery);
  expect(decodeFrame(frame)?.body.buffer).toBe(frame.buffer);
});

test.each([
  ['nothing', ''],
  ['too short', '\0\0'],
  ['a length beyond the end', '\0\0\0\x09{}'],
  ['not JSON', '\0\0\0\x02{{'],
  ['not an object', '\0\0\0\x02[]'],
  ['other fields', '\0\0\0\x02{}'],
])('bytes that are not a frame: %s', (_, text) => {
  expect(decodeFrame(Buffer.from(text, 'latin1'))).toBeUndefined();
});
