import { isRelayPosition, positionInReady, readGap, relayTraits } from '@svc/contract/relay/relay-headers';
import { readRelayMessage } from '@svc/contract/relay/relay-message';
import { describe, expect, test } from 'vitest';
import type { StoredDelivery } from '../engine/engine.ts';
import {
  gapFrame,
  publicMessageFrame,
  rawMessageFrame,
  readyFrame,
  relayAnnouncement,
} from './event-stream.ts';

function stored(body: string | Buffer, headers: Record<string, string> = {}): StoredDelivery {
  const delivery = { headers, query: { a: 'b' }, receivedAt: 1_794_700_240_288, body: Buffer.from(body) };
  return { position: { epoch: 'm3', seq: 17 }, delivery };
}

/** The frame's data as a reader of event streams gets it; fails if the frame is not one line of data. */
function dataOf(frame: Buffer): string {
  const match = /^id: m3\.17\ndata: ([^\r\n]*)\n\n$/.exec(frame.toString());
  expect(match, frame.toString()).not.toBeNull();
  return match?.[1] ?? '';
}

test('our readers can read the frames', () => {
  expect(relayTraits(relayAnnouncement(10))).toEqual({ ours: true, pingMs: 10_000 });
  const ready = readyFrame({ epoch: 'm3', seq: 5 }, 250);
  expect(positionInReady(/^retry: 250\nevent: ready\ndata: (.*)\n\n$/.exec(ready)?.[1] ?? '')).toBe('m3.5');
  const gap = gapFrame({ requested: { epoch: 'a', seq: 1 }, oldest: null });
  expect(readGap(/^event: gap\ndata: (.*)\n\n$/.exec(gap)?.[1] ?? '')).toEqual({
    requested: 'a.1',
    oldest: null,
  });
  expect(isRelayPosition('m3.17')).toBe(true);
});

const bodies: [string, string | Buffer][] = [
  ['compact', '{"a":1}'],
  ['escapes', '{"a":"\\u001B\\u00e9\\/\\u2028"}'],
  ['raw separators', '{"a":"\u2028é😀"}'],
  ['numbers', '{"a":1.0,"b":1e3,"c":-0,"d":12345678901234567890}'],
  ['pretty', '{\r\n  "a": 1,\n  "b": [\n1]\n}\n'],
  ['duplicate and integer-like keys', '{"2":1,"1":2,"a":1,"a":2,"__proto__":{"x":1}}'],
  ['array', '[1, 2]'],
  ['empty', ''],
  ['form', 'payload=%7B%7D&x=1'],
  ['byte order mark', Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d])],
  ['not text', Buffer.from([0x1f, 0x8b, 0, 255, 10, 13])],
  ['one and two bytes over', 'ab'],
];

describe.each(bodies)('body: %s', (_, body) => {
  test('raw: exactly the bytes', () => {
    const frame = readRelayMessage(dataOf(rawMessageFrame(stored(body, { 'x-github-event': 'push' }))));
    expect(frame).toMatchObject({ ok: true, message: { exact: true, timestamp: 1_794_700_240_288 } });
    if (!frame.ok) return;
    expect(Buffer.from(frame.message.body.data, 'base64')).toEqual(Buffer.from(body));
    expect(frame.message.headers).toEqual({ 'x-github-event': 'push' });
  });

  test('public: JSON that any reader can parse, with the body unchanged', () => {
    const data = dataOf(publicMessageFrame(stored(body)));
    const { body: shown, query, timestamp } = JSON.parse(data);
    expect({ query, timestamp }).toEqual({ query: { a: 'b' }, timestamp: 1_794_700_240_288 });
    const text = Buffer.from(body).toString();
    expect(shown).toEqual(readable(text.replace(/^\uFEFF/, '')) ?? expect.any(String));
    if (readable(text) !== undefined) expect(data).toContain(text.replaceAll(/[\r\n]/g, ' '));
  });
});

function readable(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A body that is not JSON is a string.
    return undefined;
  }
}

test('a header cannot be mistaken for a part of the layout', () => {
  const headers = { body: 'x', query: 'x', timestamp: '1', bodyb: 'x', rawdata: 'x', 'x-a': '"\n' };
  expect(JSON.parse(dataOf(publicMessageFrame(stored('{}', headers))))).toEqual({
    'x-a': '"\n',
    body: {},
    query: { a: 'b' },
    timestamp: 1_794_700_240_288,
  });
  expect(JSON.parse(dataOf(rawMessageFrame(stored('{}', headers))))).toEqual({
    'x-a': '"\n',
    bodyB: 'e30=',
    query: { a: 'b' },
    timestamp: 1_794_700_240_288,
  });
});
