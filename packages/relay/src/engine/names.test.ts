import { expect, test } from 'vitest';
import { namesFor, readLayout, shardOf, writeLayout } from './engine.ts';

test('the shard of a channel never changes, and channels spread evenly', () => {
  expect(['one', 'two', 'AbC_-9', ''].map((id) => shardOf(id, { shards: 16 }))).toMatchInlineSnapshot(`
    [
      15,
      9,
      14,
      5,
    ]
  `);
  const counts = Array.from({ length: 16 }, () => 0);
  for (let at = 0; at < 16_000; at += 1) {
    const shard = shardOf(`channel-${at}`, { shards: 16 });
    counts[shard] = (counts[shard] ?? 0) + 1;
  }
  expect(Math.min(...counts)).toBeGreaterThan(800);
  expect(Math.max(...counts)).toBeLessThan(1200);
});

test('a prefix must be safe in subjects', () => {
  for (const bad of ['', 'A', 'a.b', 'a*', '>', 'a b', '9a']) expect(() => namesFor(bad)).toThrow(RangeError);
});

test('a layout of a newer version is not read', () => {
  const layout = { shards: 4, maxDeliveriesPerChannel: 5, maxBytesPerChannel: 6 };
  expect(readLayout(writeLayout(layout))).toEqual(layout);
  expect(readLayout(JSON.stringify({ kind: 2, ...layout }))).toBeUndefined();
  expect(readLayout(JSON.stringify({ kind: 1, ...layout, shards: 0 }))).toBeUndefined();
});
