import { expect, test } from 'vitest';
import { isSignedBy, sign } from './io/feed.ts';

test('each of several keys is accepted, and no other', () => {
  const keys = ['one', 'two'];
  const body = Buffer.from('body');
  expect(isSignedBy(keys, body, sign('two', body))).toBe(true);
  expect(isSignedBy(keys, body, sign('three', body))).toBe(false);
  expect(isSignedBy(keys, Buffer.from('other'), sign('two', body))).toBe(false);
  expect(isSignedBy(keys, body, sign('two', body).slice(2))).toBe(false);
  expect(isSignedBy([], body, sign('two', body))).toBe(false);
});
