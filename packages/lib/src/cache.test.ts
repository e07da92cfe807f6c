import { expect, test } from 'vitest';
import { createCache } from './cache.ts';

test('it holds a limited number, drops the oldest first, and keeps each only for its time', () => {
  let time = 0;
  const cache = createCache<number>({ now: () => time, lifetimeMs: 100, most: 3 });
  for (const [index, key] of ['a', 'b', 'c', 'a', 'd'].entries()) cache.set(key, index);
  expect(cache.size()).toBe(3);
  expect(['a', 'b', 'c', 'd'].map(cache.get)).toEqual([3, undefined, 2, 4]);
  time = 99;
  expect(cache.get('d')).toBe(4);
  time = 100;
  expect(cache.get('d')).toBeUndefined();
});

test('it holds a limited number of bytes, and a clock that was set back keeps nothing forever', () => {
  let time = 1_000;
  const bytesOf = (_key: string, value: string): number => value.length;
  const cache = createCache<string>({ now: () => time, lifetimeMs: 100, most: 10, mostBytes: 5, bytesOf });
  cache.set('a', 'xxx');
  cache.set('b', 'yyy');
  expect(['a', 'b'].map(cache.get)).toEqual([undefined, 'yyy']);
  cache.set('c', 'too large');
  expect(['b', 'c'].map(cache.get)).toEqual([undefined, undefined]);
  cache.set('d', 'zz');
  time = 0;
  expect(cache.get('d')).toBeUndefined();
});
