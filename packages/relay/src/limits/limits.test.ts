import { expect, test } from 'vitest';
import { createLimits, defaultLimits } from './limits.ts';

const MIB = 1024 * 1024;

test('a channel has its own rate, and an address another', () => {
  const limits = createLimits({
    ...defaultLimits,
    channel: { perSecond: 1, burst: 2 },
    address: { perSecond: 1, burst: 3 },
  });
  expect([0, 1, 2].map(() => limits.delivery('a', 0))).toEqual([0, 0, 1000]);
  expect(limits.delivery('b', 0)).toBe(0);
  expect([0, 1, 2, 3].map(() => limits.request('192.0.2.1', 0))).toEqual([0, 0, 0, 1000]);
  expect(limits.request('192.0.2.2', 0)).toBe(0);
});

test('a refused request takes no tokens, so waiting helps', () => {
  const limits = createLimits({ ...defaultLimits, channel: { perSecond: 1, burst: 1 } });
  expect(limits.delivery('a', 0)).toBe(0);
  for (let round = 0; round < 10; round += 1) expect(limits.delivery('a', 0)).toBe(1000);
  expect(limits.delivery('a', 1000)).toBe(0);
});

test('bytes are a debt to be paid, on the channel and on the address', () => {
  const limits = createLimits({
    ...defaultLimits,
    channelBytes: { perSecond: MIB, burst: MIB },
    addressBytes: { perSecond: 2 * MIB, burst: 2 * MIB },
  });
  expect(limits.delivery('a', 0)).toBe(0);
  limits.weigh('a', '192.0.2.1', 25 * MIB, 0);
  expect(limits.delivery('a', 0)).toBeGreaterThan(23_000);
  expect(limits.request('192.0.2.1', 0)).toBeGreaterThan(11_000);
  expect(limits.delivery('a', 24_100)).toBe(0);
});

test('new channels are counted by address', () => {
  const limits = createLimits({ ...defaultLimits, newChannels: { perSecond: 0.1, burst: 1 } });
  expect(limits.newChannel('192.0.2.1', 0)).toBe(0);
  expect(limits.newChannel('192.0.2.1', 0)).toBe(10_000);
  expect(limits.newChannel('192.0.2.2', 0)).toBe(0);
});

test('the largest body passes a full bucket with the defaults', () => {
  expect(defaultLimits.channelBytes.burst).toBeGreaterThan(25 * MIB);
});
