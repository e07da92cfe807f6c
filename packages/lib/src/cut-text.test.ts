import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutText, utf8Length } from './cut-text.ts';

const anyText = fc
  .array(fc.oneof(fc.constantFrom('a', 'é', '漢', '😀'), fc.string({ unit: 'binary' })), {
    maxLength: 300,
    size: 'max',
  })
  .map((parts) => parts.join(''));

test('a cut text is within the limit, keeps its start and shows how much is missing', () => {
  expect(cutText('short', 100)).toBe('short');
  expect(cutText('x'.repeat(100), 52)).toBe(`${'x'.repeat(20)}…[cut 80 characters]`);
});

test('a surrogate pair is never split', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 33, max: 200 }), (text, limit) => {
      const cut = cutText(text, limit);
      expect(cut.length).toBeLessThanOrEqual(limit);
      expect(cut.isWellFormed()).toBe(text.isWellFormed());
    }),
  );
});

test('the UTF-8 length equals that of the encoder, also for unpaired surrogates', () => {
  const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 50 });
  const brokenText = units.map((codes) => String.fromCharCode(...codes));
  fc.assert(
    fc.property(fc.oneof(anyText, brokenText), (text) => {
      expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
    }),
  );
});
