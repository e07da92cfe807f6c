import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createShare } from './snapshot-store.ts';

const entity = fc.record({
  lastSeq: fc.integer({ min: 1, max: 5 }),
  value: fc.jsonValue({ maxDepth: 2 }),
  more: fc.option(fc.array(fc.record({ at: fc.constantFrom('a', 'b') }), { maxLength: 2 }), {
    nil: undefined,
  }),
});

test('equal entities are shared, others are not', () => {
  const live = { lastSeq: 3, name: 'A', states: [{ at: 1 }] };
  const share = createShare({ seq: 9, tickets: [live] });
  expect(share('tickets', structuredClone(live))).toBe(live);
  for (const other of [
    { ...live, lastSeq: 2 },
    { ...live, name: 'B' },
    { ...live, states: [] },
    { ...live, more: null },
    { lastSeq: 3, name: 'A' },
  ]) {
    expect(share('tickets', other)).toBe(other);
  }
  const elsewhere = structuredClone(live);
  expect(share('workers', elsewhere)).toBe(elsewhere);
});

test('sharing never changes a board', () => {
  fc.assert(
    fc.property(fc.array(entity), fc.array(entity), (live, past) => {
      const share = createShare({ list: live });
      const written = JSON.parse(JSON.stringify(past)) as unknown[];
      expect(JSON.parse(JSON.stringify(written.map((one) => share('list', one))))).toEqual(written);
    }),
  );
});
