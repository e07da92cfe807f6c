import { isRelayPosition, positionInReady, readGap, relayTraits } from '@svc/contract/relay/relay-headers';
import { expect, test } from 'vitest';

test.each([
  [undefined, false, 30_000],
  ['', false, 30_000],
  ['2', false, 30_000],
  ['true', false, 30_000],
  ['1', true, 30_000],
  ['1; ping=10', true, 10_000],
  [' 1 ;ping=5; other=x', true, 5000],
  ['1; ping=0', true, 30_000],
  ['1; ping=soon', true, 30_000],
])('the announcement %j', (header, ours, pingMs) => {
  expect(relayTraits(header)).toEqual({ ours, pingMs });
});

test.each([
  ['k3x.17', true],
  ['0.0', true],
  ['17', false],
  ['a.b', false],
  ['.1', false],
  ['a.1\r\nx: y', false],
  ['a b.1', false],
  ['', false],
  [undefined, false],
])('the id %j is a position: %j', (id, expected) => {
  expect(isRelayPosition(id)).toBe(expected);
});

test('ready may carry a position, and gap reports what is missing', () => {
  expect(positionInReady('{"position":"e.4"}')).toBe('e.4');
  expect(positionInReady('{}')).toBeNull();
  expect(positionInReady('{"position":4}')).toBeNull();
  expect(positionInReady('nonsense')).toBeNull();
  expect(readGap('{"requested":"e.4","oldest":"e.9"}')).toEqual({ requested: 'e.4', oldest: 'e.9' });
  expect(readGap('null')).toEqual({ requested: null, oldest: null });
});
