// Whose request it is. Without a trusted proxy that is the other end of the connection. Behind one it is the
// last address in X-Forwarded-For that no trusted proxy has: what stands before it may be invented.
import { isIP } from 'node:net';
import type { Networks } from './networks.ts';

const MAPPED = '::ffff:';
const MAX_HOPS = 20;

export function clientAddress(
  remote: string | undefined,
  forwardedFor: string | string[] | undefined,
  trusted: Networks,
): string {
  const peer = plain(remote ?? '');
  if (!trusted.any || forwardedFor === undefined || !trusted.has(peer)) return peer;
  const line = typeof forwardedFor === 'string' ? forwardedFor : forwardedFor.join(',');
  let address = peer;
  for (const hop of line.split(',').slice(-MAX_HOPS).toReversed()) {
    const named = plain(withoutPort(hop.trim()));
    if (isIP(named) === 0) return address;
    address = named;
    if (!trusted.has(address)) return address;
  }
  return address;
}

/**
 * What limits count by: an IPv4 address, or the first 64 bits of an IPv6 address, because whoever has one
 * address of such a network has all of them.
 */
export function limitKey(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const middle =
    tail === undefined ? [] : Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0');
  return `${[...first, ...middle, ...last].slice(0, 4).join(':')}::/64`;
}

/** An IPv4 address that came over an IPv6 socket is an IPv4 address. */
function plain(address: string): string {
  return address.startsWith(MAPPED) && address.includes('.') ? address.slice(MAPPED.length) : address;
}

/** `192.0.2.1:4711` and `[2001:db8::1]:4711`, as some proxies write them. */
function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(text);
  if (bracketed) return bracketed[1] ?? '';
  const [host = '', port, ...more] = text.split(':');
  return port !== undefined && more.length === 0 ? host : text;
}
