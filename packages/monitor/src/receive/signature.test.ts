import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSignedBy, sign, signingKey } from './signature.ts';

test('it is HMAC-SHA256, as the platform computes it, for every key and body', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, maxLength: 200, unit: 'binary' }),
      fc.uint8Array({ maxLength: 500 }),
      (secret, body) => {
        expect(isSignedBy([signingKey(secret)], body, sign(secret, body))).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});

test('any one of several keys will do, and no other', () => {
  const keys = ['one', 'two'].map(signingKey);
  const body = Buffer.from('body');
  expect(isSignedBy(keys, body, sign('two', body))).toBe(true);
  expect(isSignedBy(keys, body, sign('three', body))).toBe(false);
  expect(isSignedBy(keys, Buffer.from('other'), sign('two', body))).toBe(false);
  expect(isSignedBy(keys, body, sign('two', body).slice(2))).toBe(false);
  expect(isSignedBy([], body, sign('two', body))).toBe(false);
});
