import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAtLeast, notificationText } from './notification.ts';

test('the reason and its subject, the message and the remedy', () => {
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
  const notification = notificationText({
    attention: '-/-/odd',
    reason: 'odd',
    message: 'Odd.',
    remedy: null,
  });
  expect(notification).toEqual({ title: 'svc: odd', message: 'Odd.', remedy: null, text: 'Odd.' });
});

test('whatever the content, the text is short and has no control or invisible characters', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 2_000 }),
      fc.string({ unit: 'binary', maxLength: 2_000 }),
      (words, more) => {
        const notification = notificationText({
          attention: `${words}/${more}/x`,
          reason: more,
          message: `\u001b[31m${words}\u202e\ud800${words}`,
          remedy: more,
        });
        for (const line of [notification.title, notification.message, notification.remedy ?? ''])
          expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
        expect(notification.title.length).toBeLessThanOrEqual(105);
        expect(notification.text.length).toBeLessThanOrEqual(601);
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
  ['an unknown severity', 'high', true],
] as const)('%s is sent when %s is the minimum: %s', (severity, least, sent) => {
  expect(isAtLeast(severity, least)).toBe(sent);
});
