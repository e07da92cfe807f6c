// What the outbox adds to the page: the fix of an effect that was given up.
import { client } from '../../api/client.ts';
import type { RemedyCommand } from '../../parts/remedy-command.ts';

export const outboxRemedy: RemedyCommand = [
  /^svc outbox retry (\S{1,500})$/,
  (_item, key) => ({
    label: 'Retry',
    what: `Retries ${key}.`,
    command: `svc outbox retry ${key}`,
    send: () => client.post('/api/outbox/retry', { body: { key } }),
  }),
];
