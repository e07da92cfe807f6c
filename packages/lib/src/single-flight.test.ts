import { expect, test } from 'vitest';
import { createFlights, singleFlight } from './single-flight.ts';

test('calls during a run join it; after it, even after a failure, a new run starts', async () => {
  const ends: PromiseWithResolvers<string>[] = [];
  const run = singleFlight((_name: string) => {
    const end = Promise.withResolvers<string>();
    ends.push(end);
    return end.promise;
  });
  const both = [run('a'), run('b')];
  expect(ends).toHaveLength(1);
  ends[0]?.resolve('first');
  await expect(Promise.all(both)).resolves.toEqual(['first', 'first']);
  const failing = run('c');
  ends[1]?.reject(new Error('no'));
  await expect(failing).rejects.toThrow('no');
  const third = run('d');
  ends[2]?.resolve('third');
  await expect(third).resolves.toBe('third');
});

test('each key has its own run', async () => {
  const flights = createFlights<string>();
  const begun: string[] = [];
  const work = (key: string) => (): Promise<string> => {
    begun.push(key);
    return Promise.resolve(key);
  };
  const all = [flights('a', work('a')), flights('b', work('b')), flights('a', work('a'))];
  await expect(Promise.all(all)).resolves.toEqual(['a', 'b', 'a']);
  expect(begun).toEqual(['a', 'b']);
  await flights('a', work('a'));
  expect(begun).toEqual(['a', 'b', 'a']);
});
