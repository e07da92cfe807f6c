import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { until } from '@svc/testkit';
import { expect, test } from 'vitest';
import { endOfWait } from './timeout.ts';

test('a wait ends in time, although nobody listened while memory was collected', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const over = endOfWait(200, new AbortController().signal);
  for (let turn = 0; turn < 5; turn += 1) {
    collect();
    await nextTurn();
  }
  await until(() => over.signal.aborted);
});

test('it ends with a signal, also with one that has ended already, and when it is told to', () => {
  const interrupted = new AbortController();
  const wait = endOfWait(600_000, interrupted.signal);
  expect(wait.signal.aborted).toBe(false);
  interrupted.abort();
  expect(wait.signal.aborted).toBe(true);
  expect(endOfWait(600_000, interrupted.signal).signal.aborted).toBe(true);
  const told = endOfWait(600_000);
  told.abort();
  expect(told.signal.aborted).toBe(true);
});
