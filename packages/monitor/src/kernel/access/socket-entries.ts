// Which user opened a loopback connection, by the kernel's table of TCP sockets in the format of Linux (tcp and tcp6).
// Both ends of such a connection are in it; the row of the other end has the user who opened that socket.

/** The two files as they were read; `tcp6` is empty if it is not needed (`hasBothEnds`). */
type SocketTable = { tcp: string; tcp6: string };

type End = { address: string; port: number };

/** A connection as its server sees it. */
export type Connection = { own: End; other: End };

export type SocketOwner = { uid: number; inode: number };

export type CallerRefusal = 'other-user' | 'no-owner' | 'not-in-table';

const ESTABLISHED = '01';
const LISTENING = '0A';
const ROOT = 0;
/** The kernel's value for every user outside the reader's user namespace: it identifies no one. */
export const OVERFLOW_UID = 65_534;

/** Lengths of an end in the table: the address, a colon, four digits of the port. */
const END_LENGTH = { tcp: 8 + 5, tcp6: 32 + 5 } as const;
const PORT_LENGTH = 5;
const isIPv4 = /^[\d.]+$/;

/** For each connection, in the same order, the owner of its other end; undefined if no established row has it. */
export function findCallers(
  table: SocketTable,
  connections: readonly Connection[],
  littleEndian: boolean,
): (SocketOwner | undefined)[] {
  // An IPv6 socket may have been opened to an IPv4 address: then its row is in the other file.
  const rows = connections.map(({ own, other }) =>
    [false, true].map(
      (mapped) => `${written(other, mapped, littleEndian)} ${written(own, mapped, littleEndian)}`,
    ),
  );
  const wanted = new Set(rows.flat());
  const found = new Map<string, SocketOwner>();
  for (const port of new Set(connections.map(({ own }) => own.port)))
    for (const family of ['tcp', 'tcp6'] as const)
      for (const [ends, owner] of rowsTo(table[family], family, `:${hexPort(port)} ${ESTABLISHED} `, wanted))
        found.set(ends, owner);
  return rows.map((either) => either.map((ends) => found.get(ends)).find((owner) => owner !== undefined));
}

/**
 * Whether the file for IPv4 has both ends of every connection to these ends. The other file need not be read then, which
 * takes milliseconds, however few rows it has.
 */
export function hasBothEnds(tcp: string, own: readonly End[], littleEndian: boolean): boolean {
  if (!own.every(({ address }) => isIPv4.test(address))) return false;
  return new Set(own.map((end) => written(end, false, littleEndian))).values().every((end) => {
    const opened = tcp.matchAll(new RegExp(`(?<= (\\S+)) ${end} ${ESTABLISHED} `, 'g'));
    const others = new Set(opened.map(([, other]) => other));
    const accepted = tcp.matchAll(new RegExp(`: ${end} (\\S+) ${ESTABLISHED} `, 'g'));
    return accepted.every(([, other]) => others.has(other));
  });
}

/** Who listens on a port of 127.0.0.1, in the file for IPv4; undefined if no process does. */
export function findListener(tcp: string, port: number, littleEndian: boolean): SocketOwner | undefined {
  const ends = `${written({ address: '127.0.0.1', port }, false, littleEndian)} 00000000:0000`;
  const [row] = rowsTo(tcp, 'tcp', `:0000 ${LISTENING} `, new Set([ends]));
  return row?.[1];
}

/** Undefined for the daemon's own user and for root. A row without an inode is a socket without a holder. */
export function refuseCaller(caller: SocketOwner | undefined, ownUid: number): CallerRefusal | undefined {
  if (caller === undefined) return 'not-in-table';
  if (!(caller.inode > 0)) return 'no-owner';
  return caller.uid === ownUid || caller.uid === ROOT ? undefined : 'other-user';
}

/** Rows whose remote port and state are `mark` and whose ends are wanted. */
function* rowsTo(
  text: string,
  family: keyof typeof END_LENGTH,
  mark: string,
  wanted: ReadonlySet<string>,
): Generator<[ends: string, owner: SocketOwner]> {
  const length = 2 * END_LENGTH[family] + 1;
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) {
    const end = at + PORT_LENGTH;
    const ends = text.slice(end - length, end);
    if (!wanted.has(ends)) continue;
    const lineEnd = text.indexOf('\n', end);
    // state, queues, timer, retransmits, uid, timeout, inode
    const [, , , , uid, , inode] = text.slice(end + 1, lineEnd < 0 ? undefined : lineEnd).split(/ +/);
    yield [ends, { uid: wholeNumber(uid), inode: wholeNumber(inode) }];
  }
}

/** Anything but a number is not a user, and not root. */
function wholeNumber(text: string | undefined): number {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

/** `0100007F:1CE8` for 127.0.0.1:7400; `mapped` writes an IPv4 address as an IPv6 socket has it. */
function written({ address, port }: End, mapped: boolean, littleEndian: boolean): string {
  const bytes = bytesOf(address, mapped);
  let text = '';
  for (let at = 0; at < bytes.length; at += 4) {
    const word = bytes.slice(at, at + 4);
    for (const byte of littleEndian ? word.toReversed() : word) text += hex(byte, 2);
  }
  return `${text}:${hexPort(port)}`;
}

function bytesOf(address: string, mapped: boolean): number[] {
  const four = /^(?:::ffff:)?(\d+)\.(\d+)\.(\d+)\.(\d+)$/i.exec(address);
  if (four !== null) {
    const bytes = four.slice(1).map(Number);
    return mapped ? [...Array.from({ length: 10 }, () => 0), 255, 255, ...bytes] : bytes;
  }
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const [before, after] = [wordsOf(head), wordsOf(tail ?? '')];
  const between = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => 0);
  return [...before, ...between, ...after].flatMap((word) => [word >> 8, word & 255]);
}

function wordsOf(part: string): number[] {
  return part === '' ? [] : part.split(':').map((word) => Number.parseInt(word, 16));
}

function hexPort(port: number): string {
  return hex(port, 4);
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0');
}
