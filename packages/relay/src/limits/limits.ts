// What one channel and one address may do. Each answer is the milliseconds to wait; 0 lets it through.
// Nothing here is shared between relay processes: behind a balancer each of them lets through its own share.
import { createBuckets, type Rate } from './buckets.ts';

export type LimitSettings = {
  /** Deliveries taken by one channel. */
  channel: Rate;
  /** Bytes taken by one channel. */
  channelBytes: Rate;
  /** Requests of one address. Senders of webhooks use few addresses for all channels. */
  address: Rate;
  addressBytes: Rate;
  /** New channels of one address. */
  newChannels: Rate;
  /** Streams open at once in this process: on one channel, of one address, and all. */
  subscribersPerChannel: number;
  subscribersPerAddress: number;
  subscribers: number;
};

export type Limits = {
  /** Before anything is looked up. */
  request: (address: string, now: number) => number;
  /** Before the body is read, once the channel is known to exist. */
  delivery: (channel: string, now: number) => number;
  /** What the delivery weighed. */
  weigh: (channel: string, address: string, bytes: number, now: number) => void;
  newChannel: (address: string, now: number) => number;
  subscribersPerChannel: number;
  subscribersPerAddress: number;
  subscribers: number;
};

const MIB = 1024 * 1024;
/** About 20 MB when all of them are in use, in the worst case. */
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
      channelBytes.draw(channel, bytes, now);
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

/** For a relay that only its own tests and benches can reach. */
export const noLimits: Limits = {
  request: () => 0,
  delivery: () => 0,
  weigh: () => undefined,
  newChannel: () => 0,
  subscribersPerChannel: Number.POSITIVE_INFINITY,
  subscribersPerAddress: Number.POSITIVE_INFINITY,
  subscribers: Number.POSITIVE_INFINITY,
};
