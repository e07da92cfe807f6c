import { expect, test } from 'vitest';
import { encodeOutgoing, headerLine } from './outgoing.ts';

test('messages stand one after the other, each with its sizes, with headers and without', () => {
  const messages = [
    {
      subject: 'in.one',
      reply: '_INBOX.1',
      headers: headerLine('Nats-Msg-Id', 'a:1'),
      payload: Buffer.from('é!'),
    },
    { subject: 'ask', reply: '_INBOX.2', headers: '', payload: Buffer.from('{}') },
    { subject: 'ask', reply: '_INBOX.3', headers: '', payload: Buffer.alloc(0) },
  ];
  expect(encodeOutgoing(messages).toString()).toBe(
    [
      'HPUB in.one _INBOX.1 30 33',
      'NATS/1.0',
      'Nats-Msg-Id: a:1',
      '',
      'é!',
      'PUB ask _INBOX.2 2',
      '{}',
      'PUB ask _INBOX.3 0',
      '',
      '',
    ].join('\r\n'),
  );
});

test('a payload writes itself where its message is', () => {
  const payload = { length: 3, copy: (into: Buffer, at: number) => into.write('abc', at) };
  const messages = [1, 2].map((number) => ({ subject: 's', reply: `r${number}`, headers: '', payload }));
  expect(encodeOutgoing(messages).toString()).toBe('PUB s r1 3\r\nabc\r\nPUB s r2 3\r\nabc\r\n');
});
