import { expect, test } from 'vitest';
import { channelUrl, feedChannel } from './feed-channel.ts';

const complete = {
  feed: 'codehost',
  channel: 'https://relay.example/abc',
  secretVariables: ['SVC_WEBHOOK_SECRET'],
  secretIsSet: true,
} as const;

test.each([
  ['complete', {}, { use: true, url: 'https://relay.example/abc' }],
  [
    'no channel',
    { channel: undefined },
    { use: false, why: 'no relay channel is configured', remedy: 'Run: setup-webhooks.sh' },
  ],
  [
    'no tracker channel',
    { feed: 'tracker', channel: '' },
    {
      use: false,
      why: 'no relay channel is configured',
      remedy: 'Run: setup-webhooks.sh --linear-register',
    },
  ],
  [
    'a channel that is none',
    { channel: 'file:///etc/passwd' },
    { use: false, why: 'the relay channel is not an http or https URL', remedy: 'Run: setup-webhooks.sh' },
  ],
  [
    'no secret',
    { secretIsSet: false, secretVariables: ['ONE', 'OTHER'] },
    {
      use: false,
      why: 'no secret: ONE and OTHER not set',
      remedy: 'Set ONE or OTHER and run: svc-monitor.sh restart',
    },
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
