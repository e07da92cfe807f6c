import { expect, test } from 'vitest';
import { createBudget } from './budget.ts';

const HOUR_MS = 3_600_000;

test('above the budget of an hour only the newest of each path is kept, and taken in the next hour', () => {
  let now = 0;
  const budget = createBudget<string>({ now: () => now, most: { lines: 2, bytes: 1_000 } });
  expect([1, 2, 3, 4].map((version) => budget.take('one', 'path', `v${version}`, 10))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(budget.take('two', 'path', 'other', 10)).toBe(true);
  expect(budget.exceeded()).toEqual(['one']);
  expect(budget.due()).toEqual({ values: [], isIncomplete: false });
  now = HOUR_MS;
  expect(budget.due()).toEqual({ values: ['v4'], isIncomplete: false });
  expect(budget.exceeded()).toEqual([]);
  expect(budget.take('one', 'path', 'v5', 10)).toBe(true);
});

test('bytes count too; what does not fit into memory is read again; a newer record replaces what was kept', () => {
  let now = 0;
  const budget = createBudget<string>({ now: () => now, most: { lines: 1_000, bytes: 1_000 } });
  budget.take('one', 'a', 'v', 2_000);
  expect(budget.take('one', 'a', 'kept', 100)).toBe(false);
  budget.take('one', 'b', 'too large', 100 * 1024 * 1024);
  budget.drop('one', 'a');
  now = -1;
  // The clock was set back: another hour begins.
  expect(budget.due()).toEqual({ values: [], isIncomplete: true });
});
