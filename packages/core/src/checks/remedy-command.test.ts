import { expect, test } from 'vitest';
import { remedyCommand } from './remedy-command.ts';

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
