import { expect, test } from 'vitest';
import { createRecentCount } from './io/inbox.ts';

test('it counts the last hour and forgets what is older', () => {
  let now = 1_800_000_000_000;
  const recent = createRecentCount(() => now);
  expect(recent.count()).toBe(0);
  for (let count = 0; count < 1000; count += 1) recent.note();
  now += 30 * 60_000;
  recent.note();
  expect(recent.count()).toBe(1001);
  now += 30 * 60_000;
  expect(recent.count()).toBe(1);
  now += 24 * 3_600_000;
  expect(recent.count()).toBe(0);
  recent.note();
  expect(recent.count()).toBe(1);
});
