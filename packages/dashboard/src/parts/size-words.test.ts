import { expect, test } from 'vitest';
import { sizeWords } from './format.ts';

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1536, '1.5 KiB'],
  [150 * 1024, '150 KiB'],
  [5 * 1024 ** 4, '5.0 TiB'],
  [5 * 1024 ** 5, '5120 TiB'],
])('%d bytes are %s', (bytes, words) => expect(sizeWords(bytes)).toBe(words));
