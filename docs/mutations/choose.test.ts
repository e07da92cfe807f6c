import { expect, test } from 'vitest';
import { chooseMutations } from './choose.ts';
import type { Mutation } from './mutation.ts';

const all = Array.from({ length: 10 }, (_, index): Mutation => {
  return { row: `CFG-${index}`, file: '', find: '', replace: '' };
});
const chosen = (wish: Parameters<typeof chooseMutations>[1]) =>
  chooseMutations(all, wish).map(({ row }) => row);

test('all, unless told otherwise', () => {
  expect(chosen({})).toHaveLength(10);
});

test('rows by their names; one that has no mutation is an error', () => {
  expect(chosen({ rows: 'cfg-7, CFG-2' })).toEqual(['CFG-2', 'CFG-7']);
  expect(() => chosen({ rows: 'CFG-2,CFG-99' })).toThrow('no mutation of CFG-99');
});

test('so many, spread over all; more than there are is all', () => {
  expect(chosen({ count: '3' })).toEqual(['CFG-0', 'CFG-4', 'CFG-7']);
  for (let count = 1; count <= 10; count += 1) expect(chosen({ count: String(count) })).toHaveLength(count);
  expect(chosen({ count: '99' })).toHaveLength(10);
  for (const count of ['0', '1.5', 'x', ''])
    expect(() => chosen({ count })).toThrow('expected a whole number');
});
