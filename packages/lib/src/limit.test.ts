import { expect, test } from 'vitest';
import { createLimit, TooManyWaiting } from './limit.ts';

/** Tasks that end on request. */
function setUp(atOnce: number, mostWaiting?: number) {
  const limit = createLimit(atOnce, mostWaiting);
  const started: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  const run = (name: string, signal?: AbortSignal): Promise<string> =>
    limit(() => {
      started.push(name);
      const end = Promise.withResolvers<string>();
      ends.set(name, end);
      return end.promise;
    }, signal);
  const end = (name: string): void => ends.get(name)?.resolve(name);
  const fail = (name: string): void => ends.get(name)?.reject(new Error(name));
  return { run, started, end, fail };
}

test('a limited number run at once; the others follow in order, even after a failure', async () => {
  const { run, started, end, fail } = setUp(2);
  const [one, two, three, four] = [run('1'), run('2'), run('3'), run('4')];
  expect(started).toEqual(['1', '2']);
  end('2');
  await expect(two).resolves.toBe('2');
  await expect.poll(() => started).toEqual(['1', '2', '3']);
  fail('1');
  await expect(one).rejects.toThrow('1');
  await expect.poll(() => started).toEqual(['1', '2', '3', '4']);
  end('3');
  end('4');
  await expect(Promise.all([three, four])).resolves.toEqual(['3', '4']);
  const five = run('5');
  end('5');
  await expect(five).resolves.toBe('5');
});

test('a task beyond the waiting limit is rejected and not started', async () => {
  const { run, started, end } = setUp(1, 1);
  const [one, two] = [run('1'), run('2')];
  await expect(run('3')).rejects.toThrow(TooManyWaiting);
  end('1');
  await one;
  await expect.poll(() => started).toEqual(['1', '2']);
  end('2');
  await two;
});

test('a waiter whose signal aborts rejects with its reason and frees its position', async () => {
  const { run, started, end } = setUp(1);
  const leaving = new AbortController();
  const one = run('1');
  const two = run('2', leaving.signal);
  const three = run('3');
  leaving.abort(new Error('gone'));
  await expect(two).rejects.toThrow('gone');
  await expect(run('4', leaving.signal)).rejects.toThrow('gone');
  end('1');
  await one;
  await expect.poll(() => started).toEqual(['1', '3']);
  end('3');
  await three;
});
