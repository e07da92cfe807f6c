import { expect, test } from 'vitest';
import { createRetries } from './retry.ts';

test('the first failure in a row is reported, and the work is retried until it succeeds', async () => {
  const failures: unknown[] = [];
  const { untilItWorks, failing } = createRetries({
    pauseMs: 1,
    signal: new AbortController().signal,
    onFailure: (error) => failures.push(error),
  });
  const failTwice = async () => {
    let left = 2;
    return untilItWorks(async () => {
      if (left === 0) return failing();
      left -= 1;
      throw new Error(`${left} left`);
    });
  };
  expect(await failTwice()).toBe('0 left');
  expect(failing()).toBeNull();
  expect(failures).toEqual([new Error('1 left')]);
  await failTwice();
  expect(failures).toEqual([new Error('1 left'), new Error('1 left')]);
});

test('the signal ends the pause and returns undefined', async () => {
  const stopping = new AbortController();
  const { untilItWorks } = createRetries({
    pauseMs: 3_600_000,
    signal: stopping.signal,
    onFailure: () => setImmediate(() => stopping.abort()),
  });
  await expect(untilItWorks(() => Promise.reject(new Error('no')))).resolves.toBeUndefined();
});
