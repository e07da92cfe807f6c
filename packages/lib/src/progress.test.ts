import { expect, test } from 'vitest';
import { createProgress } from './progress.ts';

test('who waits for a number goes on when it is reached, in one step or beyond', async () => {
  const { reached, reach } = createProgress(2, 'closed');
  await reached(2);
  const ended: number[] = [];
  const waits = [3, 5, 9].map((count) => reached(count).then(() => ended.push(count)));
  reach(5);
  await Promise.all(waits.slice(0, 2));
  expect(ended).toEqual([3, 5]);
  reach(10);
  await Promise.all(waits);
  expect(ended).toEqual([3, 5, 9]);
});

test('closing rejects who waits and who comes later; what was reached stays reached', async () => {
  const { reached, reach, close } = createProgress(0, 'not followed any more');
  const waiting = reached(2);
  reach(1);
  close();
  await expect(waiting).rejects.toThrow('not followed any more');
  await expect(reached(3)).rejects.toThrow('not followed any more');
  await expect(reached(1)).resolves.toBeUndefined();
});
