import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createNumberTable } from './delivery-store.ts';

test('it agrees with a Map of first values, whatever the order', () => {
  const key = fc.oneof(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 2 ** 53 - 1 }));
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.nat()), { maxLength: 3000 }), key, (pairs, other) => {
      const table = createNumberTable();
      const model = new Map<number, number>();
      for (const [name, value] of pairs) {
        table.add(name, value);
        if (!model.has(name)) model.set(name, value);
      }
      expect(table.size()).toBe(model.size);
      for (const name of [...model.keys(), other]) expect(table.get(name)).toBe(model.get(name));
      expect([...table.sortedKeys()]).toEqual([...model.keys()].toSorted((a, b) => a - b));
      table.clear();
      expect(table.get(other)).toBeUndefined();
    }),
    { numRuns: 100 },
  );
});
