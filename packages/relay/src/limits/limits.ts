// The limits of one channel and one address. Each function returns the milliseconds to wait; 0 means allowed. Nothing is
// shared between relay processes: behind a balancer each of them allows its own share.
import { BlockList, isIP } from 'node:net';

export type LimitSettings = {
  /** Deliveries accepted by one channel. */
  channel: Rate;
  /** Bytes accepted by one channel. */
  channelBytes: Rate;
  /** Requests from one address. Senders of webhooks use few addresses for all channels. */
  address: Rate;
  addressBytes: Rate;
  /** New channels from one address. */
  newChannels: Rate;
  /** Open streams in this process: per channel, per address, and in total. */
  subscribersPerChannel: number;
  subscribersPerAddress: number;
  subscribers: number;
};

export type Limits = {
  /** Before anything is looked up. */
  request: (address: string, now: number) => number;
  /** Before the body is read, once the channel is known to exist. */
  delivery: (channel: string, now: number) => number;
  /** Counts the size of a delivery. Null: of a stranger, for which the channel is not responsible. */
  weigh: (channel: string | null, address: string, bytes: number, now: number) => void;
  newChannel: (address: string, now: number) => number;
  subscribersPerChannel: number;
  subscribersPerAddress: number;
  subscribers: number;
};

const MIB = 1024 * 1024;
/** At most about 20 MB. */
const MAX_KEYS = 100_000;

export const defaultLimits: LimitSettings = {
  channel: { perSecond: 100, burst: 1000 },
  channelBytes: { perSecond: 10 * MIB, burst: 100 * MIB },
  address: { perSecond: 500, burst: 5000 },
  addressBytes: { perSecond: 50 * MIB, burst: 500 * MIB },
  newChannels: { perSecond: 60 / 3600, burst: 60 },
  subscribersPerChannel: 1000,
  subscribersPerAddress: 1000,
  subscribers: 20_000,
};

export function createLimits(settings: LimitSettings): Limits {
  const channels = createBuckets(settings.channel, MAX_KEYS);
  const channelBytes = createBuckets(settings.channelBytes, MAX_KEYS);
  const addresses = createBuckets(settings.address, MAX_KEYS);
  const addressBytes = createBuckets(settings.addressBytes, MAX_KEYS);
  const created = createBuckets(settings.newChannels, MAX_KEYS);

  return {
    request(address, now) {
      const wait = Math.max(addresses.wait(address, now), addressBytes.wait(address, now));
      if (wait === 0) addresses.draw(address, 1, now);
      return wait;
    },
    delivery(channel, now) {
      const wait = Math.max(channels.wait(channel, now), channelBytes.wait(channel, now));
      if (wait === 0) channels.draw(channel, 1, now);
      return wait;
    },
    weigh(channel, address, bytes, now) {
      if (channel !== null) channelBytes.draw(channel, bytes, now);
      addressBytes.draw(address, bytes, now);
    },
    newChannel(address, now) {
      const wait = created.wait(address, now);
      if (wait === 0) created.draw(address, 1, now);
      return wait;
    },
    subscribersPerChannel: settings.subscribersPerChannel,
    subscribersPerAddress: settings.subscribersPerAddress,
    subscribers: settings.subscribers,
  };
}

/** For tests and benches on loopback. */
export const noLimits: Limits = {
  request: () => 0,
  delivery: () => 0,
  weigh: () => undefined,
  newChannel: () => 0,
  subscribersPerChannel: Number.POSITIVE_INFINITY,
  subscribersPerAddress: Number.POSITIVE_INFINITY,
  subscribers: Number.POSITIVE_INFINITY,
};

// Token buckets by key, in bounded memory. One large amount may take a bucket below zero; it has to be refilled before
// anything more is allowed. A key that was not seen for long has a full bucket.

export type Rate = {
  /** Tokens that come back each second. */
  perSecond: number;
  /** How many may be used at once. */
  burst: number;
};

export type Buckets = {
  /** Milliseconds until the key is allowed; 0 if it is now. Takes nothing. */
  wait: (key: string, now: number) => number;
  /** Takes the amount, whatever is left. */
  draw: (key: string, amount: number, now: number) => void;
  /** How many buckets are kept. */
  size: () => number;
};

type Bucket = { tokens: number; at: number };

/**
 * `createBuckets({ perSecond: 100, burst: 1000 }, 100_000)`: at most that many keys. They are kept in two generations:
 * when the younger has half of the allowed keys, the older is dropped. That forgets the least recently used keys,
 * without updating an ordered list on every use.
 */
export function createBuckets({ perSecond, burst }: Rate, maxKeys: number): Buckets {
  const generation = Math.max(1, Math.floor(maxKeys / 2));
  let young = new Map<string, Bucket>();
  let old = new Map<string, Bucket>();

  /** The current bucket; undefined if it is full. */
  function find(key: string, now: number): Bucket | undefined {
    const bucket = young.get(key) ?? old.get(key);
    if (bucket === undefined) return undefined;
    const gained = Math.max(0, now - bucket.at) * (perSecond / 1000);
    bucket.tokens = Math.min(burst, bucket.tokens + gained);
    bucket.at = now;
    return bucket;
  }

  function keep(key: string, bucket: Bucket): void {
    if (young.has(key)) return;
    young.set(key, bucket);
    if (young.size < generation) return;
    old = young;
    young = new Map();
  }

  return {
    wait(key, now) {
      const bucket = find(key, now);
      if (bucket === undefined || bucket.tokens >= 1) return 0;
      return Math.max(1, Math.ceil(((1 - bucket.tokens) * 1000) / perSecond));
    },
    draw(key, amount, now) {
      const bucket = find(key, now) ?? { tokens: burst, at: now };
      bucket.tokens -= amount;
      keep(key, bucket);
    },
    size: () => young.size + old.size,
  };
}

// The client's address. Without a trusted proxy that is the peer of the connection. Behind one it is the last address in
// X-Forwarded-For that is not a trusted proxy: entries before it may be forged.

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
 * What limits count by: an IPv4 address, or the first 64 bits of an IPv6 address, because a client with one address of
 * such a network has all of them.
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

/** Converts an IPv4-mapped IPv6 address to IPv4. */
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

// Networks in CIDR form, for allowed senders and trusted proxies.

export type Networks = {
  /** Whether the list has any network. */
  any: boolean;
  has: (address: string) => boolean;
};

/** `readNetworks('10.0.0.0/8, 2001:db8::/32, 192.0.2.1')`; returns the invalid part if there is one. */
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

/** Loopback and private networks: those of the relay's operator. */
export const privateNetworks: Networks = known(
  '127.0.0.0/8 ::1 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 169.254.0.0/16 100.64.0.0/10 fc00::/7 fe80::/10',
);

function known(text: string): Networks {
  const read = readNetworks(text);
  if (!read.ok) throw new Error(`${read.part} is not a network`);
  return read.networks;
}
