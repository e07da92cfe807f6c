import { expect, test } from 'vitest';
import { createRandom } from './random.ts';

const choices = (seed: number): unknown => {
  const random = createRandom(seed);
  return [random.next(), random.below(100), random.shuffled([1, 2, 3, 4]), random.bytes(4).toString('hex')];
};

test('the same seed makes the same choices, another one others', () => {
  expect(choices(7)).toEqual(choices(7));
  expect(choices(7)).not.toEqual(choices(8));
});

test('choices are uniform, and a shuffle keeps everything', () => {
  const random = createRandom(1);
  const counts = [0, 0, 0, 0];
  for (let round = 0; round < 4000; round += 1) counts[random.below(4)]! += 1;
  for (const count of counts) expect(count).toBeGreaterThan(850);
  expect(new Set(random.shuffled(counts))).toEqual(new Set(counts));
  expect(() => random.pick([])).toThrow('Nothing to pick from');
});
