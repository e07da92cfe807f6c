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
    ticket: 'ABC-12',
    message: 'The deploy of ABC-12 failed.',
    remedy: 'svc deploy retry ABC-12',
    text: 'The deploy of ABC-12 failed.\nsvc deploy retry ABC-12',
  });
});

test('what an agent asks, with the start of a long command', () => {
  const about = {
    attention: 'run-1/ABC-12/agent-needs-permission',
    reason: 'agent-needs-permission',
    remedy: 'svc agent answer ABC-12',
  };
  const asked = (command: string) =>
    notificationText({ ...about, message: `The agent asks for permission: ${command}` });
  expect(asked('rm -r out')).toMatchObject({
    title: 'svc: ABC-12: agent needs permission',
    ticket: 'ABC-12',
    text: 'The agent asks for permission: rm -r out\nsvc agent answer ABC-12',
  });
  const { message } = asked(`echo ${'x'.repeat(4_000)}`);
  expect(message.startsWith('The agent asks for permission: echo xxx')).toBe(true);
  expect(message.length).toBeLessThanOrEqual(401);
});

test('an item about nothing in particular, without a remedy', () => {
  const notification = notificationText({
    attention: '-/-/odd',
    reason: 'odd',
    message: 'Odd.',
    remedy: null,
  });
  expect(notification).toEqual({
    title: 'svc: odd',
    ticket: null,
    message: 'Odd.',
    remedy: null,
    text: 'Odd.',
  });
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
