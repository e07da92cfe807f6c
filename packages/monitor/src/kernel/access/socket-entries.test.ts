import { expect, test } from 'vitest';
import { type Connection, findCallers, findListener, hasBothEnds, refuseCaller } from './socket-entries.ts';

const HEAD =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
const PORT = 7400;

/** A row as the kernel writes it. */
function row(ends: string, state: string, uid: number, inode: number, slot = 0): string {
  const number = String(slot).padStart(4);
  const user = String(uid).padStart(5);
  return `${number}: ${ends} ${state} 00000000:00000000 00:00000000 00000000 ${user}        0 ${inode} 1 0000000000000000 20 4 30 10 -1\n`;
}

const table = (rows: { tcp?: string[]; tcp6?: string[] }) => ({
  tcp: HEAD + (rows.tcp ?? []).join(''),
  tcp6: HEAD + (rows.tcp6 ?? []).join(''),
});

const from = (port: number, address = '127.0.0.1', own = '127.0.0.1'): Connection => ({
  own: { address: own, port: PORT },
  other: { address, port },
});

const client = '0100007F:D431 0100007F:1CE8';
const server = '0100007F:1CE8 0100007F:D431';
const port = 0xd4_31;

test('the owner is that of the other end, not of our end', () => {
  const found = table({ tcp: [row(server, '01', 1000, 7), row(client, '01', 23_456, 8)] });
  expect(findCallers(found, [from(port)], true)).toEqual([{ uid: 23_456, inode: 8 }]);
});

test('all four values must match', () => {
  const others = [
    '0100007F:D430 0100007F:1CE8',
    '0100007F:D431 0100007F:1CE9',
    '0200007F:D431 0100007F:1CE8',
    '0100007F:D431 0200007F:1CE8',
  ];
  const found = table({ tcp: others.map((ends, slot) => row(ends, '01', 1000, 8, slot)) });
  expect(findCallers(found, [from(port)], true)).toEqual([undefined]);
});

test.each(['02', '03', '04', '05', '06', '07', '08', '09', '0A', '0B'])(
  'a socket in state %s is not connected',
  (state) => {
    const found = table({ tcp: [row(client, state, 1000, 8)] });
    expect(refuseCaller(findCallers(found, [from(port)], true)[0], 1000)).toBe('not-in-table');
  },
);

test('IPv6, and an IPv6 socket opened to an IPv4 address', () => {
  const mapped = '0000000000000000FFFF00000100007F';
  const six = '00000000000000000000000001000000';
  const other = '000000FD000000000000000002000000';
  const found = table({
    tcp6: [
      row(`${mapped}:D431 ${mapped}:1CE8`, '01', 1001, 1),
      row(`${six}:D431 ${six}:1CE8`, '01', 1002, 2),
      row(`${other}:D431 ${six}:1CE8`, '01', 1003, 3, 12_345),
    ],
  });
  const connections = [
    from(port),
    from(port, '::1', '::1'),
    from(port, 'fd00::2', '::1'),
    from(port, '::ffff:127.0.0.1', '::ffff:127.0.0.1'),
    from(1, '::1', '::1'),
  ];
  expect(findCallers(found, connections, true).map((owner) => owner?.uid)).toEqual([
    1001,
    1002,
    1003,
    1001,
    undefined,
  ]);
});

test.each([
  ['both ends', [server, client], true],
  ['our end is listed before the other or after it', [client, server], true],
  ['our end only: an IPv6 socket was opened to it', [server], false],
  ['one of two has its other end elsewhere', [server, client, '0100007F:1CE8 0100007F:D432'], false],
  ['the other end of another port', [server, '0100007F:D431 0100007F:1CE9'], false],
  ['no connection to it', ['0100007F:1CE9 0100007F:D431'], true],
])('the file for IPv4 is enough or not: %s', (_, ends, isEnough) => {
  const { tcp } = table({ tcp: ends.map((pair, slot) => row(pair, '01', 1000, slot + 1, slot)) });
  const own = { address: '127.0.0.1', port: PORT };
  expect(hasBothEnds(tcp, [own, own], true)).toBe(isEnough);
  expect(hasBothEnds(tcp, [own, { address: '::1', port: PORT }], true)).toBe(false);
  expect(hasBothEnds(tcp, [{ address: '::ffff:127.0.0.1', port: PORT }], true)).toBe(false);
});

test('an end that is no longer connected needs no other end', () => {
  expect(hasBothEnds(HEAD + row(server, '08', 1000, 1), [from(port).own], true)).toBe(true);
  expect(
    hasBothEnds(HEAD + row(server, '01', 1000, 1) + row(client, '06', 0, 0), [from(port).own], true),
  ).toBe(false);
});

test('a big-endian machine', () => {
  const found = table({ tcp: [row('7F000001:D431 7F000001:1CE8', '01', 1000, 8)] });
  expect(findCallers(found, [from(port)], false)).toEqual([{ uid: 1000, inode: 8 }]);
});

test.each([
  ['the daemon’s own user', { uid: 1000, inode: 8 }, undefined],
  ['root', { uid: 0, inode: 8 }, undefined],
  ['another user', { uid: 1001, inode: 8 }, 'other-user'],
  ['a socket without a holder, which the table shows as root’s', { uid: 0, inode: 0 }, 'no-owner'],
  ['a row that cannot be read', { uid: 1000, inode: Number.NaN }, 'no-owner'],
  ['a user that cannot be read', { uid: Number.NaN, inode: 8 }, 'other-user'],
  ['no row', undefined, 'not-in-table'],
] as const)('%s', (_, owner, refusal) => {
  expect(refuseCaller(owner, 1000)).toBe(refusal);
});

test('the listener of a port of 127.0.0.1', () => {
  const { tcp } = table({
    tcp: [
      row('00000000:1CE8 00000000:0000', '0A', 1, 1),
      row('0100007F:1CE9 00000000:0000', '0A', 2, 2),
      row('0100007F:1CE8 00000000:0000', '0A', 1000, 3),
      row(server, '01', 4, 4),
    ],
  });
  expect(findListener(tcp, PORT, true)).toEqual({ uid: 1000, inode: 3 });
  expect(findListener(HEAD, PORT, true)).toBeUndefined();
});
