import { expect, test } from 'vitest';
import { plainJson, plainText } from './text.ts';

const hostile = 'a\u009b31m\u007fb\u202ec\u200bd\ufeff';

test('text from outside cannot control the terminal: as text, and as equal JSON', () => {
  expect(plainText(hostile)).toBe('a?31m?b?c?d?');
  const json = plainJson({ title: hostile, list: [1] }, 2);
  expect(json).not.toMatch(/[\u007f-\u009f\u200b\u202e\ufeff]/u);
  expect(json.split('\n')).toHaveLength(6);
  expect(JSON.parse(json)).toEqual({ title: hostile, list: [1] });
});
