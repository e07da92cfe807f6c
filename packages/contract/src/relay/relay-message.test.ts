import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readRelayMessage } from './relay-message.ts';

const frame = {
  host: 'relay.example',
  connection: 'keep-alive',
  'content-length': '7',
  'content-type': 'application/json; charset=utf-8',
  'x-github-event': 'ping',
  'x-github-delivery': '6f1e0b9c-0000-4000-8000-000000000001',
  'x-hub-signature-256': `sha256=${'0'.repeat(64)}`,
  body: { a: 1 },
  query: { x: 'y' },
  timestamp: 1794700240288,
};

test('the public layout: forwarded headers, the JSON written again, the time', () => {
  expect(readRelayMessage(JSON.stringify(frame))).toEqual({
    ok: true,
    message: {
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'ping',
        'x-github-delivery': '6f1e0b9c-0000-4000-8000-000000000001',
        'x-hub-signature-256': `sha256=${'0'.repeat(64)}`,
      },
      body: { encoding: 'utf8', data: '{"a":1}' },
      exact: false,
      timestamp: 1794700240288,
    },
  });
});

test.each([
  ['bodyB', { ...frame, bodyB: 'eyJhIjoxLjB9' }, { encoding: 'base64', data: 'eyJhIjoxLjB9' }],
  ['rawdata', { ...frame, rawdata: '{"a":1.0}' }, { encoding: 'utf8', data: '{"a":1.0}' }],
  ['bodyB without body', { bodyB: '' }, { encoding: 'base64', data: '' }],
])('bytes that the relay kept are taken as they are, with their content type: %s', (_name, given, body) => {
  const read = readRelayMessage(
    JSON.stringify({ ...given, 'content-type': 'application/x-www-form-urlencoded' }),
  );
  expect(read).toMatchObject({
    ok: true,
    message: { body, exact: true, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
  });
});

test.each([
  ['not JSON', '{"body":', 'the frame is not a JSON object'],
  ['empty', '', 'the frame is not a JSON object'],
  ['an array', '[{"body":{}}]', 'the frame is not a JSON object'],
  ['null', 'null', 'the frame is not a JSON object'],
  ['no body', '{"x-github-event":"ping"}', 'the frame has no body'],
  ['bytes of another type only', '{"bodyB":7,"rawdata":[]}', 'the frame has no body'],
])('a frame that is not a delivery: %s', (_name, data, problem) => {
  expect(readRelayMessage(data)).toEqual({ ok: false, problem });
});

test('a body nested deeper than some engines can write makes nothing throw', () => {
  const data = `{"body":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
  expect(() => readRelayMessage(data)).not.toThrow();
});

test.each([
  ['not a header name', '__proto__', 'x'],
  ['upper case', 'X-Foo', 'x'],
  ['a line break', 'x-foo', 'a\r\nb'],
  ['an object', 'x-foo', { a: 1 }],
  ['too long', 'x-foo', 'a'.repeat(8193)],
  ['a field of the layout', 'query', 'x'],
  ['of one connection', 'transfer-encoding', 'chunked'],
  ['refused by clients', 'expect', '100-continue'],
  ['of the relay', 'host', 'relay'],
])('a header that is not forwarded: %s', (_name, name, value) => {
  const data = `{"body":{},${JSON.stringify(name)}:${JSON.stringify(value)}}`;
  expect(readRelayMessage(data)).toMatchObject({
    ok: true,
    message: { headers: { 'content-type': 'application/json' } },
  });
  const read = readRelayMessage(data);
  expect(read.ok && Object.keys(read.message.headers)).toEqual(['content-type']);
});

test('numbers become text, and there are at most a hundred headers', () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`x-${index}`, index]));
  const read = readRelayMessage(JSON.stringify({ ...many, body: {}, bodyB: '' }));
  expect(read.ok && Object.keys(read.message.headers)).toHaveLength(100);
  expect(read.ok && read.message.headers['x-7']).toBe('7');
});

test('no frame makes it throw, and any JSON object with a body becomes a delivery', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value)),
      ),
      (data) => {
        const read = readRelayMessage(data);
        if (read.ok)
          for (const value of Object.values(read.message.headers)) expect(value).toBeTypeOf('string');
      },
    ),
  );
  fc.assert(
    fc.property(fc.jsonValue(), (body) => {
      const read = readRelayMessage(JSON.stringify({ body }));
      expect(read).toMatchObject({
        ok: true,
        message: { exact: false, body: { data: JSON.stringify(body) } },
      });
    }),
  );
});
