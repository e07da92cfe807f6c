// Ids, positions, headers and senders.
import { describe, expect, test } from 'vitest';
import {
  checkOf,
  formatPosition,
  isChannelId,
  messageIdOf,
  newChannelId,
  parsePosition,
  senderTimeoutMs,
  travellingHeaders,
} from './frame.ts';

test('channel ids cannot be guessed, and are safe in paths and subjects', () => {
  const ids = Array.from({ length: 100 }, () => newChannelId());
  expect(new Set(ids).size).toBe(100);
  for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{24}$/);
  expect(isChannelId('abc_D-1')).toBe(true);
  for (const bad of ['', 'a.b', 'a*', '>', 'a b', 'a/b', 'ü', 'a'.repeat(129), 'a\n'])
    expect(isChannelId(bad)).toBe(false);
});

test('positions', () => {
  for (const position of [
    { epoch: 'm3_', seq: 17 },
    { epoch: 'm3', seq: 17, check: checkOf('one:a') },
  ])
    expect(parsePosition(formatPosition(position))).toEqual(position);
  expect(formatPosition({ epoch: 'm3', seq: 17, check: '1x' })).toBe('m3-1x.17');
  for (const bad of [undefined, '', '17', '.1', 'e.', 'e.x', 'e.-1', 'e.1.2', 'e.9999999999999999', 'e e.1'])
    expect(parsePosition(bad)).toBeUndefined();
});

test('headers of the connection, of proxies and of identity are not passed on', () => {
  const travelling = {
    'content-type': 'application/json',
    'content-encoding': 'gzip',
    'user-agent': 'x',
    'x-github-event': 'push',
    body: 'a header of that name',
  };
  const staying = {
    authorization: 'Bearer x',
    cookie: 'a=b',
    'set-cookie': ['a=b'],
    'proxy-authorization': 'x',
    'x-forwarded-for': '10.0.0.1',
    forwarded: 'for=10.0.0.1',
    'x-real-ip': '10.0.0.1',
    via: '1.1 x',
    host: 'relay',
    connection: 'keep-alive, X-Hop',
    'x-hop': 'named by connection',
    'keep-alive': 'timeout=5',
    te: 'trailers',
    trailer: 'x',
    'transfer-encoding': 'chunked',
    upgrade: 'x',
    expect: '100-continue',
    'content-length': '5',
    'x-svc-relay-key': 'secret',
    'x-long': 'x'.repeat(10_000),
    absent: undefined,
  };
  expect(travellingHeaders({ ...staying, ...travelling })).toEqual(travelling);
  expect(travellingHeaders({ 'x-a': ['1', '2'] })).toEqual({ 'x-a': '1, 2' });
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`x-${at}`, '1']));
  expect(Object.keys(travellingHeaders(many))).toHaveLength(100);
});

describe('senders', () => {
  test('the timeout of each sender', () => {
    expect(senderTimeoutMs({ 'x-github-delivery': 'a' })).toBe(8000);
    expect(senderTimeoutMs({ 'linear-delivery': 'a' })).toBe(3000);
    expect(senderTimeoutMs({ 'linear-signature': 'a' })).toBe(3000);
    expect(senderTimeoutMs({})).toBe(8000);
  });

  test('ids', () => {
    expect(messageIdOf({ 'x-github-delivery': 'not-a-uuid' })).toBe('not-a-uuid');
    expect(messageIdOf({ 'linear-delivery': 'b' })).toBe('b');
    expect(messageIdOf({ 'webhook-id': 'msg_1' })).toBe('msg_1');
    expect(messageIdOf({ 'x-github-delivery': 'a b' })).toBeUndefined();
    expect(messageIdOf({ 'x-github-delivery': 'x'.repeat(300) })).toBeUndefined();
    expect(messageIdOf({})).toBeUndefined();
  });
});
