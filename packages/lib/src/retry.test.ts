import { expect, test } from 'vitest';
import { untilItWorks } from './retry.ts';

test('a failure is reported, and the work is retried until it succeeds', async () => {
  const failures: unknown[] = [];
  let left = 2;
  const result = await untilItWorks(
    async () => {
      if (left === 0) return 'done';
      left -= 1;
      throw new Error(`${left} left`);
    },
    { pauseMs: 1, signal: new AbortController().signal, onFailure: (error) => failures.push(error) },
  );
  expect(result).toBe('done');
  expect(failures).toEqual([new Error('1 left'), new Error('0 left')]);
});

test('the signal ends the pause and returns undefined', async () => {
  const stopping = new AbortController();
  const result = untilItWorks(() => Promise.reject(new Error('no')), {
    pauseMs: 3_600_000,
    signal: stopping.signal,
    onFailure: () => setImmediate(() => stopping.abort()),
  });
  await expect(result).resolves.toBeUndefined();
});
