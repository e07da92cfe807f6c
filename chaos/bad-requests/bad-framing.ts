// Bad frames: wrong lengths, endless bodies, bytes that are not HTTP at all.
import { requestBytes } from '../../packages/testkit/src/wire/exchange.ts';
import { apart, type BadRequest, type Kind, kind, type Source, withHeaders } from './bad-request.ts';
import type { Draft } from './model.ts';

const MIB = 1024 * 1024;

export const badFraming: Kind[] = [
  frame('body cut off', ['closed', 400], (source) => {
    const bytes = requestBytes(source.good());
    return { pieces: [bytes.subarray(0, bytes.length - 1 - source.random.below(1000))], after: 'end' };
  }),
  frame('connection cut in the body', ['closed'], (source) => {
    const bytes = requestBytes(source.good());
    const part = bytes.subarray(0, 1 + source.random.below(bytes.length - 1));
    return { pieces: [part], pauseMs: source.random.below(20), after: 'cut' };
  }),
  frame('head without end', ['closed', 400], (source) => {
    const bytes = requestBytes(source.good());
    const part = bytes.subarray(0, 1 + source.random.below(bytes.indexOf('\r\n\r\n')));
    return { pieces: [part], after: 'end' };
  }),
  frame('too large, announced', [413], (source) => tooLarge(source.good(), source)),
  frame('too large, announced, not signed', [401], (source) =>
    tooLarge(withHeaders(source.good(), { 'X-Hub-Signature-256': undefined }), source),
  ),
  {
    ...frame('too large, chunked', [413, 'closed'], (source) => chunkedBeyondTheLimit(source.good())),
    weight: 0.01,
  },
  frame('chunked without end', ['closed', 400], (source) => {
    const head = headOf(chunked(source.good()));
    return { pieces: [head, Buffer.from('5\r\n{"a":\r\n'), Buffer.from('3\r\n1}')], after: 'end' };
  }),
  frame('chunked wrongly', [400, 'closed'], (source) => {
    const head = headOf(chunked(source.good()));
    return { pieces: [head, Buffer.from(source.random.pick(wrongChunks))], after: 'end' };
  }),
  frame('two lengths', [400], (source) => {
    const draft = source.good();
    const headers = [...draft.headers, ['Content-Length', '3'] as const];
    return { pieces: [requestBytes({ ...draft, headers })] };
  }),
  frame('length and chunked', [400], (source) => {
    const draft = withHeaders(source.good(), { 'Transfer-Encoding': 'chunked' });
    return { pieces: [requestBytes(draft)] };
  }),
  frame('no number as length', [400, 401, 413, 'closed'], (source) => {
    const length = source.random.pick(['-1', '1e3', '0x10', ' ', '1 2', '+5', '99999999999999999999999']);
    const draft = withHeaders(source.good(), { 'Content-Length': length });
    return { pieces: [requestBytes(draft)], after: 'end' };
  }),
  frame('unknown transfer encoding', [400, 401, 501, 'closed'], (source) => {
    const draft = withHeaders(source.good(), { 'Content-Length': undefined, 'Transfer-Encoding': 'gzip' });
    return { pieces: [requestBytes(draft)], after: 'end' };
  }),
  frame('random bytes', [400, 431, 'closed'], ({ random }) => {
    return { pieces: [random.bytes(1 + random.below(3000))], after: 'end' };
  }),
  frame('no HTTP', [400, 403, 505, 'closed'], ({ random }) => {
    return { pieces: [Buffer.from(random.pick(notHttp), 'latin1')], after: 'end' };
  }),
  kind('frame: garbage behind a good one', 1, (source) => {
    const draft = source.good();
    const garbage = source.random.bytes(1 + source.random.below(500));
    // The garbage may end the connection before the answer is sent; a sender would repeat it.
    return apart(draft, { pieces: [Buffer.concat([requestBytes(draft), garbage])] }, 200, 400, 'closed');
  }),
  kind('frame: two good ones at once', 1, (source) => {
    const first = source.good();
    const bytes = requestBytes(first);
    // The second is a repetition of the first: one line, however close they are.
    return apart(first, { pieces: [Buffer.concat([bytes, bytes])] }, 200);
  }),
];

const wrongChunks = [
  'zz\r\n{}\r\n0\r\n\r\n',
  '-1\r\n',
  'ffffffffffffffffff\r\n',
  '2\r\n{}0\r\n\r\n',
  '\r\n\r\n',
];
const notHttp = [
  'GET /\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01\x00\x01',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\r\n'.repeat(500),
  'SSH-2.0-x\r\n',
  '{}',
];

/** None of these can be a delivery: a 200 would be wrong. */
function frame(
  what: string,
  may: BadRequest['may'],
  make: (source: Source) => Pick<BadRequest, 'pieces' | 'pauseMs' | 'after'>,
): Kind {
  return kind(`frame: ${what}`, 1, (source) => ({ ...make(source), kept: false, may, acceptable: false }));
}

function headOf({ body: _body, ...head }: Draft): Buffer {
  return requestBytes(head);
}

function chunked(draft: Draft): Draft {
  return withHeaders(draft, { 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' });
}

function tooLarge(draft: Draft, { random }: Source): Pick<BadRequest, 'pieces'> {
  const length = 25 * MIB + 1 + random.below(2 ** 40);
  return { pieces: [headOf(withHeaders(draft, { 'Content-Length': String(length) }))] };
}

function chunkedBeyondTheLimit(draft: Draft): Pick<BadRequest, 'pieces'> {
  const piece = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, 0x20), Buffer.from('\r\n')]);
  return { pieces: [headOf(chunked(draft)), ...Array.from({ length: 26 * 16 }, () => piece)] };
}
