import { expect, test } from 'vitest';
import { createLiveRing } from './live-ring.ts';
import { deliveryOf } from './testing/engine-for-test.ts';

const live = (seq: number, previous: number, size = 10) => ({
  seq,
  previous,
  stored: { position: { epoch: 'e', seq }, delivery: deliveryOf(Buffer.alloc(size)) },
});

test('gives what follows a cursor, when it reaches back that far', () => {
  const ring = createLiveRing({ bytesLeft: 1000 });
  expect(ring.after(5)).toBeUndefined();
  ring.push(live(10, 5));
  ring.push(live(12, 10));
  const sequences = (after: number) => ring.after(after)?.map(({ seq }) => seq);
  expect(sequences(4)).toBeUndefined();
  expect(sequences(5)).toEqual([10, 12]);
  expect(sequences(7)).toEqual([10, 12]);
  expect(sequences(10)).toEqual([12]);
  expect(sequences(12)).toEqual([]);
  ring.push(live(20, 15));
  expect(sequences(12)).toBeUndefined();
  expect(sequences(15)).toEqual([20]);
});

test('keeps no more than its bounds, and gives back what it took of the budget', () => {
  const budget = { bytesLeft: 3 * 1024 * 1024 };
  const ring = createLiveRing(budget);
  for (let seq = 1; seq <= 600; seq += 1) ring.push(live(seq, seq - 1));
  expect(ring.after(600 - 512)).toHaveLength(512);
  expect(ring.after(600 - 513)).toBeUndefined();
  for (let seq = 601; seq <= 610; seq += 1) ring.push(live(seq, seq - 1, 500_000));
  expect(budget.bytesLeft).toBe(1024 * 1024 + (2 * 1024 * 1024 - 4 * 500_000));
  ring.push(live(611, 610, 5_000_000));
  expect(ring.after(610)).toBeUndefined();
  expect(budget.bytesLeft).toBe(3 * 1024 * 1024);
});
