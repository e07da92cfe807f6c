// Networks in CIDR form, for the senders that are allowed and the proxies that are trusted.
import { BlockList, isIP } from 'node:net';

export type Networks = {
  /** Whether there is any network in the list. */
  any: boolean;
  has: (address: string) => boolean;
};

/** `readNetworks('10.0.0.0/8, 2001:db8::/32, 192.0.2.1')`; the part that is none is told. */
export function readNetworks(text: string): { ok: true; networks: Networks } | { ok: false; part: string } {
  const list = new BlockList();
  const parts = text.split(/[\s,]+/).filter((part) => part !== '');
  for (const part of parts) if (!add(list, part)) return { ok: false, part };
  return {
    ok: true,
    networks: {
      any: parts.length > 0,
      has: (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'),
    },
  };
}

export const noNetworks: Networks = { any: false, has: () => false };

function add(list: BlockList, part: string): boolean {
  const [address = '', bits, ...more] = part.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  const family = version === 6 ? 'ipv6' : 'ipv4';
  if (bits === undefined) {
    list.addAddress(address, family);
    return true;
  }
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > (version === 6 ? 128 : 32)) return false;
  list.addSubnet(address, Number(bits), family);
  return true;
}

export const loopback: Networks = known('127.0.0.0/8 ::1');

/** Loopback and private networks: where a relay's own operator sits. */
export const privateNetworks: Networks = known(
  '127.0.0.0/8 ::1 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 169.254.0.0/16 100.64.0.0/10 fc00::/7 fe80::/10',
);

function known(text: string): Networks {
  const read = readNetworks(text);
  if (!read.ok) throw new Error(`${read.part} is no network`);
  return read.networks;
}
