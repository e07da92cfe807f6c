import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { until } from '@svc/testkit';
import { expect, test } from 'vitest';
import { endOfWait } from './timeout.ts';

test('a wait ends in time, although it had no listener during garbage collection', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const over = endOfWait(200, new AbortController().signal);
  for (let turn = 0; turn < 5; turn += 1) {
    collect();
    await nextTurn();
  }
  await until(() => over.signal.aborted);
});

test('it ends with a signal, even an already aborted one, and on request', () => {
  const interrupted = new AbortController();
  const wait = endOfWait(600_000, interrupted.signal);
  expect(wait.signal.aborted).toBe(false);
  interrupted.abort();
  expect(wait.signal.aborted).toBe(true);
  expect(endOfWait(600_000, interrupted.signal).signal.aborted).toBe(true);
  const stopped = endOfWait(600_000);
  stopped.abort();
  expect(stopped.signal.aborted).toBe(true);
});
