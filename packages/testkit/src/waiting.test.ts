import { expect, test } from 'vitest';
import { until, untilHolds } from './waiting.ts';

test('until returns the first truthy value, and ignores earlier errors', async () => {
  const answers = [() => Promise.reject(new Error('not there')), () => null, () => 0, () => 'here'];
  let asked = 0;
  expect(await until(() => answers[asked++]?.())).toBe('here');
  expect(asked).toBe(4);
});

test('untilHolds ends with the first check that does not throw', async () => {
  let tries = 0;
  await untilHolds(() => {
    tries += 1;
    expect(tries).toBe(3);
  });
  expect(tries).toBe(3);
});

test('untilHolds rejects a condition without an assertion', async () => {
  await expect(untilHolds(() => false as unknown as undefined)).rejects.toThrow('until takes a condition');
});
