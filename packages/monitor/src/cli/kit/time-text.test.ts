import { expect, test } from 'vitest';
import { ageText, plainText, timeText, utcText } from './text.ts';

const now = new Date('2026-01-02T12:00:00.000Z');

test.each([
  ['2026-01-02T12:00:00.400Z', 'now'],
  ['2026-01-02T11:59:20.000Z', '40 s ago'],
  ['2026-01-02T11:00:01.000Z', '59 min ago'],
  ['2026-01-02T09:00:00.000Z', '3 h ago'],
  ['2025-12-31T12:00:00.000Z', '2 d ago'],
  ['2026-01-02T12:20:00.000Z', 'in 20 min'],
])('%s is %s', (time, text) => {
  expect(ageText(time, now)).toBe(text);
});

test('UTC to the second, whatever the offset; a dash for anything else', () => {
  expect(timeText('2026-01-02T10:00:00.9+01:00', now)).toBe('2026-01-02 09:00:00 UTC (2 h ago)');
  expect([utcText(null), utcText('soon'), timeText('soon', now)]).toEqual(['-', '-', '-']);
});

test('nothing controls the terminal; letters of any language stay', () => {
  expect(plainText('a\u001b[31mb\r\nc\u202ed\u2028e')).toBe('a?[31mb??c?d?e');
  expect(plainText('Größe 日本語 👩‍💻')).toBe('Größe 日本語 👩‍💻');
});
