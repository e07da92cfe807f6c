import { expect, test } from 'vitest';
import { within } from './timeout.ts';

const never = new Promise<string>(() => undefined);

test('work that ends in time gives its result or its error', async () => {
  await expect(within(Promise.resolve('done'), 3_600_000, () => 'late')).resolves.toBe('done');
  const failing = Promise.reject(new Error('no'));
  await expect(within(failing, 3_600_000, () => 'late')).rejects.toThrow('no');
});

test('work that takes longer gives the fallback, or fails with it', async () => {
  await expect(within(never, 1, () => 'late')).resolves.toBe('late');
  const late = (): never => {
    throw new Error('too late');
  };
  await expect(within(never, 1, late)).rejects.toThrow('too late');
});

test('a signal ends the wait, even an already aborted one', async () => {
  const stopping = new AbortController();
  const waiting = within(never, 3_600_000, () => 'ended', stopping.signal);
  stopping.abort();
  await expect(waiting).resolves.toBe('ended');
  await expect(within(never, 3_600_000, () => 'ended', stopping.signal)).resolves.toBe('ended');
});

test('an error after the timeout is ignored', async () => {
  const work = Promise.withResolvers<string>();
  await expect(within(work.promise, 1, () => 'late')).resolves.toBe('late');
  work.reject(new Error('much later'));
});
