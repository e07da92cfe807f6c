import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createEventStream, type StreamFrame } from './io/delivery-service.ts';

function read(chunks: readonly Uint8Array[], maxFrameBytes = 1_000_000) {
  const frames: StreamFrame[] = [];
  let signs = 0;
  const stream = createEventStream({
    maxFrameBytes,
    onFrame: (frame) => void frames.push(frame),
    onSignOfLife: () => void (signs += 1),
  });
  const fits = chunks.every((chunk) => stream.feed(chunk));
  return { frames, signs, fits };
}

test('the frames of the public relay, as captured', () => {
  const text =
    'id: 0\nevent: ready\ndata: {}\n\nid: 1\ndata: {"body":{"a":1},"timestamp":1}\n\nid: 2\nevent: ping\ndata: {}\n\n';
  expect(read([Buffer.from(text)]).frames).toEqual([
    { id: '0', event: 'ready', data: '{}' },
    { id: '1', event: undefined, data: '{"body":{"a":1},"timestamp":1}' },
    { id: '2', event: 'ping', data: '{}' },
  ]);
});

test.each([
  ['CRLF', 'event: ping\r\ndata: {}\r\n\r\n', [{ event: 'ping', data: '{}' }]],
  ['CR', 'event: ping\rdata: {}\r\rx', [{ event: 'ping', data: '{}' }]],
  ['a byte order mark', '\uFEFFdata: a\n\n', [{ data: 'a' }]],
  ['several data lines', 'data: a\ndata:b\ndata\n\n', [{ data: 'a\nb\n' }]],
  ['no data', 'id: 1\nevent: x\n\n', []],
  ['an id is not inherited', 'id: 1\ndata: a\n\ndata: b\n\n', [{ id: '1', data: 'a' }, { data: 'b' }]],
  ['unknown fields', 'retry: 5\nfoo: bar\ndatabase: x\nfoo\ndata: é😀\n\n', [{ data: 'é😀' }]],
  ['an unfinished frame', 'data: a\n', []],
])('%s, whole and byte by byte', (_name, text, frames) => {
  const bytes = [...Buffer.from(text)].map((byte) => Buffer.from([byte]));
  for (const chunks of [[Buffer.from(text)], bytes]) {
    const found = read(chunks).frames;
    expect(found.map(({ data }) => data)).toEqual(frames.map(({ data }) => data));
    expect(found).toMatchObject(frames);
  }
});

test('it does not matter where the bytes are cut', () => {
  const piece = fc.oneof(
    fc.constantFrom('data: {"a":1}\n', 'id: 7\n', 'event: ping\r\n', ': note\n', '\n', '\r', '\r\n', 'é☃😀'),
    fc.string({ maxLength: 5 }),
  );
  const text = fc.array(piece, { maxLength: 40 }).map((pieces) => Buffer.from(pieces.join('')));
  fc.assert(
    fc.property(text, fc.array(fc.nat(60), { maxLength: 20 }), (bytes, cuts) => {
      const inside = cuts.filter((cut) => cut < bytes.length);
      const places = [...new Set([0, ...inside, bytes.length])].toSorted((one, other) => one - other);
      const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
      expect(read(chunks).frames).toEqual(read([bytes]).frames);
    }),
    { numRuns: 1000 },
  );
});

test('a comment is a sign of life, a trickle of bytes is not, a good part of a large frame is', () => {
  expect(read([Buffer.from(': keep-alive\n\n:\ndata: a\n\n')]).signs).toBe(2);
  expect(read([Buffer.from('data: x'), Buffer.from('x'), Buffer.from('x')]).signs).toBe(0);
  expect(read([Buffer.alloc(40_000, 'x'), Buffer.alloc(40_000, 'x'), Buffer.alloc(40_000, 'x')]).signs).toBe(
    1,
  );
});

test.each([
  ['an endless line', Buffer.from('data: '.padEnd(1000, 'x'))],
  ['a line without a field', Buffer.alloc(1000, 'x')],
  ['endless data lines', Buffer.from('data: xxxxxxxxx\n'.repeat(60))],
  ['empty frames', Buffer.from('event: x\n\n'.repeat(100))],
])('a frame beyond the limit ends it: %s', (_name, chunk) => {
  const chunks = Array.from({ length: 12 }, () => chunk);
  expect(read(chunks.slice(0, 10), 10_000).fits).toBe(true);
  expect(read(chunks, 10_000).fits).toBe(false);
});

test('a frame of 30 MiB in small chunks is read', () => {
  const size = 30 * 1024 * 1024;
  const chunk = Buffer.alloc(1024, 'x');
  const chunks = [
    Buffer.from('data: '),
    ...Array.from({ length: size / 1024 }, () => chunk),
    Buffer.from('\n\n'),
  ];
  const { frames, fits } = read(chunks, 36 * 1024 * 1024);
  expect(fits).toBe(true);
  expect(frames.map(({ data }) => data.length)).toEqual([size]);
});
