// The 40 bodies of the conformance kit: JSON whose signature no longer matches after it was parsed and serialised again,
// bodies that are not JSON, and ways of sending that relays get wrong. Each is sent exactly as written here.
import { gzipSync } from 'node:zlib';

export type Body = {
  name: string;
  body: Buffer;
  headers?: Record<string, string>;
  /** How it is sent; `whole` with its length. */
  sending?: 'whole' | 'chunked' | 'awaited' | 'slowly';
};

const text = (name: string, body: string, more: Partial<Body> = {}): Body => ({
  name,
  body: Buffer.from(body),
  ...more,
});
const MIB = 1024 * 1024;
const byteOrderMark = '\uFEFF';

export const bodies: readonly Body[] = [
  text('compact', '{"a":1,"b":[true,null]}'),
  text('raw Unicode', '{"a":"é 漢 😀"}'),
  text('escaped Unicode, lower case', '{"a":"\\u00e9\\u001b"}'),
  text('escaped Unicode, upper case', '{"a":"\\u00E9\\u001B"}'),
  text('escaped surrogates', '{"a":"\\ud83d\\ude00"}'),
  text('a lone surrogate', '{"a":"\\ud83d"}'),
  text('escaped slash', '{"a":"<\\/script>"}'),
  text('escaped angle', '{"a":"\\u003cb\\u003e"}'),
  text('escaped line separators', '{"a":"\\u2028\\u2029"}'),
  text('raw line separators', '{"a":"\u2028\u2029"}'),
  text('1.0', '{"a":1.0}'),
  text('1e3', '{"a":1e3,"b":1E+3}'),
  text('minus zero', '{"a":-0}'),
  text('integers over 2^53', '{"a":9007199254740993,"b":12345678901234567890}'),
  text('many digits', '{"a":0.1000000000000000055511151231257827}'),
  text('pretty-printed', '{\n  "a": 1,\n  "b": [\n    2\n  ]\n}'),
  text('pretty-printed with CRLF', '{\r\n\t"a": 1\r\n}\r\n'),
  text('a line feed at the end', '{"a":1}\n'),
  text('spaces after separators', '{"a": 1, "b": 2}'),
  text('integer-like keys', '{"2":"b","1":"a","x":0}'),
  text('duplicate keys', '{"a":1,"a":2}'),
  text('a byte order mark', `${byteOrderMark}{"a":1}`),
  text('__proto__', '{"__proto__":{"x":1},"constructor":{"prototype":{"y":2}}}'),
  text('an array', '[1,{"a":2}]'),
  text('a bare string', '"hello"'),
  text('nothing', ''),
  text('a form', 'payload=%7B%22a%22%3A1%7D&x=+y', {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }),
  text('JSON of another type', '{"a":1}', { headers: { 'content-type': 'application/cloudevents+json' } }),
  text('plain text that looks like a stream', 'data: x\n\nid: 7\n\nevent: gap\r\r', {
    headers: { 'content-type': 'text/plain' },
  }),
  { name: 'bytes that are no text', body: Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)) },
  { name: 'gzip', body: gzipSync('{"a":1}'), headers: { 'content-encoding': 'gzip' } },
  text('chunked', '{"chunked":true}', { sending: 'chunked' }),
  text('in small pieces', '{"slowly":"in pieces"}', { sending: 'slowly' }),
  text('Expect: 100-continue', '{"awaited":true}', { sending: 'awaited' }),
  text('a delivery id that is no UUID', '{"a":1}', { headers: { 'x-github-delivery': 'build/42:retry' } }),
  text('a header named body', '{"a":1}', {
    headers: { body: 'no', query: 'no', timestamp: '1', bodyb: 'no' },
  }),
  text('Keep-Alive', '{"a":1}', { headers: { 'keep-alive': 'timeout=5' } }),
  { name: '2 MiB', body: Buffer.from(JSON.stringify({ large: 'é'.repeat(MIB) })) },
  { name: '24 MiB', body: Buffer.from(JSON.stringify({ large: 'x'.repeat(24 * MIB) })) },
  { name: '24 MiB, chunked', body: Buffer.alloc(24 * MIB, 0xc3), sending: 'chunked' },
];
