import { expect, test } from 'vitest';
import { commandToShare, remedyCommand, remedyOnMachine } from './remedy-command.ts';

test.each([
  ['Run: svc doctor', 'svc doctor', null],
  ['Run: svc monitor restart, and look again', 'svc monitor restart', 'and look again'],
  [
    'Run: svc config set otel.enabled true (or set OTEL_ENABLED=true and restart the daemon)',
    'svc config set otel.enabled true',
    '(or set OTEL_ENABLED=true and restart the daemon)',
  ],
  ['svc setup-webhooks --add-repo acme/shop', 'svc setup-webhooks --add-repo acme/shop', null],
])('%s', (remedy, command, beside) => expect(remedyCommand(remedy)).toEqual({ command, beside }));

test.each(['Free disk space.', 'Set SVC_WEBHOOK_SECRET and run: svc monitor restart', ''])(
  '%s has no command',
  (remedy) => expect(remedyCommand(remedy)).toBeNull(),
);

test.each([
  ['svc agent answer GH-1 allow (or reject)', 'svc agent answer GH-1 allow --machine kim (or reject)', false],
  ['svc agent answer GH-1', 'svc agent answer GH-1 --machine kim', false],
  ['svc agent send GH-1', 'svc agent send GH-1 --machine kim', false],
  [
    'Within a minute: svc agent answer claude/s-1 allow (or reject). Or answer it in the terminal',
    'Within a minute: svc agent answer claude/s-1 allow --machine kim (or reject). Or answer it in the terminal',
    false,
  ],
  [
    'Fix it, then run: svc deploy retry GH-1.',
    'Fix it, then run: svc deploy retry GH-1 --machine kim.',
    false,
  ],
  ['svc deploy accept GH-1', 'svc deploy accept GH-1', true],
  ['Free disk space.', 'Free disk space.', false],
])('%s of another machine', (remedy, text, there) =>
  expect(remedyOnMachine(remedy, 'kim')).toEqual({ text, there }),
);

test.each([
  [
    'Within a minute: svc agent answer claude/s-1 allow (or reject). Or answer it in /home/kim',
    'svc agent answer claude/s-1 allow (or reject)',
  ],
  ['Fix it, then run: svc deploy retry GH-1.', 'svc deploy retry GH-1'],
  ['svc why GH-1', 'svc why GH-1'],
])('the command in "%s"', (remedy, command) => expect(commandToShare(remedy)).toBe(command));

test('the name of a machine is one word of the command', () =>
  expect(remedyOnMachine('svc agent send GH-1', "kim's $(id)").text).toBe(
    String.raw`svc agent send GH-1 --machine 'kim'\''s $(id)'`,
  ));
