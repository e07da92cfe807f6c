import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAtLeast, notificationText } from './notification.ts';

test('the reason and what it is about, the message and the remedy', () => {
  expect(
    notificationText({
      attention: 'spring/ABC-12/deploy-failed',
      reason: 'deploy-failed',
      message: 'The deploy of ABC-12 failed.',
      remedy: 'svc deploy retry ABC-12',
    }),
  ).toEqual({
    title: 'svc: ABC-12: deploy failed',
    message: 'The deploy of ABC-12 failed.',
    remedy: 'svc deploy retry ABC-12',
    text: 'The deploy of ABC-12 failed.\nsvc deploy retry ABC-12',
  });
});

test('an item about nothing in particular, without a remedy', () => {
  const told = notificationText({ attention: '-/-/odd', reason: 'odd', message: 'Odd.', remedy: null });
  expect(told).toEqual({ title: 'svc: odd', message: 'Odd.', remedy: null, text: 'Odd.' });
});

test('whatever stands in it, it is short, and has no characters that steer or hide', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 2_000 }),
      fc.string({ unit: 'binary', maxLength: 2_000 }),
      (words, more) => {
        const told = notificationText({
          attention: `${words}/${more}/x`,
          reason: more,
          message: `\u001b[31m${words}\u202e\ud800${words}`,
          remedy: more,
        });
        for (const line of [told.title, told.message, told.remedy ?? ''])
          expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
        expect(told.title.length).toBeLessThanOrEqual(105);
        expect(told.text.length).toBeLessThanOrEqual(601);
      },
    ),
  );
});

test.each([
  ['low', 'low', true],
  ['low', 'medium', false],
  ['medium', 'medium', true],
  ['high', 'medium', true],
  ['medium', 'high', false],
  ['never heard of', 'high', true],
] as const)('%s is told where %s is the least: %s', (severity, least, told) => {
  expect(isAtLeast(severity, least)).toBe(told);
});
