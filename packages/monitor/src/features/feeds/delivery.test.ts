import { expect, test } from 'vitest';
import { parseCodehostSignature, parseTrackerSignature } from './delivery.ts';

const hex = 'ab'.repeat(32);

test.each([
  [`sha256=${hex}`, hex],
  [`SHA256=${hex.toUpperCase()}`, hex],
  [hex, undefined],
  [`sha1=${hex}`, undefined],
  [`sha256=${hex}0`, undefined],
  [`sha256=${hex.slice(1)}`, undefined],
  [`sha256=${hex}\n`, undefined],
  [`sha256=${hex.slice(1)}g`, undefined],
  ['', undefined],
  [undefined, undefined],
])('code host: %j', (header, expected) => {
  expect(parseCodehostSignature(header)).toBe(expected);
});

test.each([
  [hex, hex],
  [hex.toUpperCase(), hex],
  [`sha256=${hex}`, undefined],
  [`${hex}\n`, undefined],
  ['', undefined],
  [undefined, undefined],
])('tracker: %j', (header, expected) => {
  expect(parseTrackerSignature(header)).toBe(expected);
});
