import { expect, test } from 'vitest';
import { createProgress } from './progress.ts';

test('a wait for a number ends when it is reached or exceeded', async () => {
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

test('closing rejects current and later waits; reached numbers stay reached', async () => {
  const { reached, reach, close } = createProgress(0, 'no longer followed');
  const waiting = reached(2);
  reach(1);
  close();
  await expect(waiting).rejects.toThrow('no longer followed');
  await expect(reached(3)).rejects.toThrow('no longer followed');
  await expect(reached(1)).resolves.toBeUndefined();
});
