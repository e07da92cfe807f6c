import { expect, test } from 'vitest';
import { channelUrl, feedChannel } from './feed-channel.ts';

const complete = {
  feed: 'codehost',
  channel: 'https://relay.example/abc',
  secrets: { variables: ['SVC_WEBHOOK_SECRET'], values: ['a'.repeat(64)] },
  hasReadKey: false,
} as const;

test.each([
  ['complete', {}, { use: true, url: 'https://relay.example/abc' }],
  [
    'no channel',
    { channel: undefined },
    { use: false, why: 'no relay channel is configured', remedy: 'Run: svc setup-webhooks' },
  ],
  [
    'no tracker channel',
    { feed: 'tracker', channel: '' },
    {
      use: false,
      why: 'no relay channel is configured',
      remedy: 'Run: svc setup-webhooks --linear-register',
    },
  ],
  [
    'an invalid channel',
    { channel: 'file:///etc/passwd' },
    { use: false, why: 'the relay channel is not an http or https URL', remedy: 'Run: svc setup-webhooks' },
  ],
  [
    'no secret',
    { secrets: { variables: ['ONE', 'OTHER'], values: [] } },
    {
      use: false,
      why: 'no secret: ONE and OTHER not set',
      remedy: 'Set ONE or OTHER and run: svc monitor restart',
    },
  ],
  [
    'a secret that is too short',
    { secrets: { variables: ['ONE'], values: [], short: ['ONE'] } },
    {
      use: false,
      why: 'ONE is not used: a secret of fewer than 16 characters could be guessed',
      remedy:
        'Make a new one: svc setup-webhooks --force; unset ONE where it is exported; then: svc monitor restart',
    },
  ],
  ['a read key, encrypted', { hasReadKey: true }, { use: true, url: 'https://relay.example/abc' }],
  [
    'a read key, within the machine',
    { hasReadKey: true, channel: 'http://127.0.0.1:8080/abc' },
    { use: true, url: 'http://127.0.0.1:8080/abc' },
  ],
  [
    'a read key, unencrypted',
    { hasReadKey: true, channel: 'http://relay.example/abc' },
    {
      use: false,
      why: 'the channel has a read key, but its http URL would expose it on the network',
      remedy: "Use the relay's https address: svc config set svc.monitor.github.smeeChannel <url>",
    },
  ],
  [
    'no read key, unencrypted',
    { channel: 'http://relay.example/abc' },
    { use: true, url: 'http://relay.example/abc' },
  ],
] as const)('%s', (_name, given, expected) => {
  expect(feedChannel({ ...complete, ...given })).toEqual(expected);
});

test('one channel has one spelling', () => {
  expect(channelUrl('HTTPS://Relay.Example/abc/#top')).toBe('https://relay.example/abc');
  expect(channelUrl(' https://relay.example/abc ')).toBe('https://relay.example/abc');
  expect(channelUrl('https://relay.example/ABC')).not.toBe(channelUrl('https://relay.example/abc'));
  expect(channelUrl('relay.example/abc')).toBeUndefined();
});
