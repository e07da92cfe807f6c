import { NewRelayChannel } from '@svc/contract/relay/new-relay-channel';
import { expect, test } from 'vitest';
import { relayOfChannel, relayUrl } from './feed-channel.ts';

test.each([
  ['https://relay.example/AbC', 'https://relay.example'],
  ['https://relay.example/AbC/', 'https://relay.example'],
  ['https://Relay.Example:8443/hooks/AbC?x=1#top', 'https://relay.example:8443/hooks'],
  ['http://127.0.0.1:8080/AbC', 'http://127.0.0.1:8080'],
  ['relay.example/AbC', undefined],
])('the channel %s belongs to %s', (channel, relay) => {
  expect(relayOfChannel(channel)).toBe(relay);
});

test('a relay URL is normalised', () => {
  expect(relayUrl('HTTPS://Relay.Example/')).toBe('https://relay.example');
  expect(relayUrl('https://relay.example/hooks/?a=b')).toBe('https://relay.example/hooks');
  expect(relayUrl('ftp://relay.example')).toBeUndefined();
});

const answer = {
  channel: 'AbC_1-2',
  writeUrl: 'https://relay.example/AbC_1-2',
  readUrl: 'https://relay.example/AbC_1-2',
  readKey: 'k'.repeat(43),
};

test.each<[string, object, boolean]>([
  ['as the relay makes it', {}, true],
  ['an open channel', { readKey: null }, true],
  ['more than we know', { expiresAt: 1 }, true],
  ['no key at all', { readKey: undefined }, false],
  ['a key that would break a header', { readKey: `${'k'.repeat(20)}\r\nx: y` }, false],
  ['a key that can be guessed', { readKey: 'key' }, false],
  ['an invalid URL', { writeUrl: '/AbC' }, false],
  ['a channel that leads elsewhere', { channel: '../admin' }, false],
])('%s', (_name, change, ok) => {
  expect(NewRelayChannel.safeParse({ ...answer, ...change }).success).toBe(ok);
});
