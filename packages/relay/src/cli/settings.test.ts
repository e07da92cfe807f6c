import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { Failure } from './failure.ts';
import { natsSettings, readSecretFile, readSettings, serveSettings, variableOf } from './settings.ts';

const settings = { ...natsSettings, ...serveSettings };

test('a flag wins over its variable, and that over the default', () => {
  const environment = { SVC_RELAY_PORT: '8000', SVC_RELAY_PING: '10' };
  const read = readSettings(settings, { port: '9000' }, environment);
  expect([read.port, read.ping, read.host]).toEqual([9000, 10, '127.0.0.1']);
});

test('"no" and an empty value mean false', () => {
  expect(readSettings(settings, {}, { SVC_RELAY_OPEN_CHANNELS: 'false' }).openChannels).toBe(false);
  expect(readSettings(settings, {}, { SVC_RELAY_OPEN_CHANNELS: '1' }).openChannels).toBe(true);
  expect(readSettings(settings, { 'open-channels': true }, {}).openChannels).toBe(true);
  expect(readSettings(settings, { port: '0' }, { SVC_RELAY_PORT: '1' }).port).toBe(0);
});

test.each([
  ['port', '-1'],
  ['port', '1.5'],
  ['port', ''],
  ['ping', '0'],
  ['public-url', 'relay.example'],
  ['public-url', 'https://user:password@relay.example'],
  ['trusted-proxy', '10.0.0.0/99'],
  ['log-level', 'loud'],
  ['no-limits', 'perhaps'],
  ['channel-bytes', 'many'],
  ['prefix', 'a.b'],
])('--%s %s is refused, by flag and by variable', (flag, text) => {
  expect(() => readSettings(settings, { [flag]: text }, {})).toThrow(`--${flag}`);
  const byVariable = (): unknown => readSettings(settings, {}, { [variableOf(flag)]: text });
  expect(byVariable).toThrow(variableOf(flag));
  expect(byVariable).toThrow(Failure);
});

test('a NATS address must not have a password, and the password is not repeated', () => {
  const wrong = (): unknown => readSettings(settings, { nats: 'nats://me:hunter2@127.0.0.1:4222' }, {});
  expect(wrong).toThrow('SVC_RELAY_NATS_PASSWORD');
  expect(wrong).not.toThrow('hunter2');
  expect(readSettings(settings, { nats: 'nats://a:1, nats://b:2' }, {}).nats).toEqual([
    'nats://a:1',
    'nats://b:2',
  ]);
});

test('the public address has no trailing slash', () => {
  expect(readSettings(settings, { 'public-url': 'https://relay.example/' }, {}).publicUrl).toBe(
    'https://relay.example',
  );
  expect(readSettings(settings, { 'public-url': 'https://example.com/relay/' }, {}).publicUrl).toBe(
    'https://example.com/relay',
  );
});

test('a secret file that others can read, or more than its owner can write, is refused', () => {
  const path = join(temporaryFolder(), 'key');
  writeFileSync(path, 'secret\n');
  for (const mode of [0o600, 0o400, 0o440, 0o640]) {
    chmodSync(path, mode);
    expect(readSecretFile(path, 'key')).toBe('secret');
  }
  for (const mode of [0o644, 0o604, 0o620, 0o666]) {
    chmodSync(path, mode);
    expect(() => readSecretFile(path, 'key')).toThrow(`mode ${mode.toString(8)}`);
  }
});
