import { expect, test } from 'vitest';
import { clientAddress, limitKey, noNetworks, privateNetworks, readNetworks } from './limits.ts';

const read = readNetworks('10.0.0.0/8, ::1');
const trusted = read.ok ? read.networks : noNetworks;

test.each([
  ['no proxy is trusted', '192.0.2.1', '198.51.100.7', noNetworks, '192.0.2.1'],
  ['the peer is not a trusted proxy', '192.0.2.1', '198.51.100.7', trusted, '192.0.2.1'],
  ['one proxy', '10.0.0.1', '198.51.100.7', trusted, '198.51.100.7'],
  ['two proxies', '10.0.0.1', '198.51.100.7, 10.9.9.9', trusted, '198.51.100.7'],
  ['a forged hop in front', '10.0.0.1', '203.0.113.66, 198.51.100.7', trusted, '198.51.100.7'],
  ['an invalid address ends the search', '10.0.0.1', '198.51.100.7, unknown', trusted, '10.0.0.1'],
  ['with a port', '10.0.0.1', '198.51.100.7:4711', trusted, '198.51.100.7'],
  ['IPv6 with a port', '::1', '[2001:db8::7]:4711', trusted, '2001:db8::7'],
  ['all hops are trusted', '10.0.0.1', '10.2.2.2', trusted, '10.2.2.2'],
  ['IPv4 over an IPv6 socket', '::ffff:10.0.0.1', '198.51.100.7', trusted, '198.51.100.7'],
  ['no header', '10.0.0.1', undefined, trusted, '10.0.0.1'],
])('%s', (_name, remote, forwarded, networks, expected) => {
  expect(clientAddress(remote, forwarded, networks)).toBe(expected);
});

test('limits count IPv6 by its network', () => {
  expect(limitKey('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64');
  expect(limitKey('2001:db8::6')).toBe('2001:db8:0:0::/64');
  expect(limitKey('::1')).toBe('0:0:0:0::/64');
  expect(limitKey('192.0.2.1')).toBe('192.0.2.1');
});

test('networks are parsed, and an invalid one is returned', () => {
  expect(readNetworks('10.0.0.0/8 nonsense')).toEqual({ ok: false, part: 'nonsense' });
  expect(readNetworks('10.0.0.0/33')).toEqual({ ok: false, part: '10.0.0.0/33' });
  expect(readNetworks('')).toMatchObject({ ok: true, networks: { any: false } });
  expect(trusted.has('10.255.0.1')).toBe(true);
  expect(trusted.has('11.0.0.1')).toBe(false);
  expect(trusted.has('not an address')).toBe(false);
  expect(privateNetworks.has('127.0.0.1')).toBe(true);
  expect(privateNetworks.has('198.51.100.7')).toBe(false);
});
