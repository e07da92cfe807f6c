import { createManualClock } from '@svc/testkit';
import { expect, test } from 'vitest';
import { watchClock } from './io/session.ts';

test.each([
  ['time passes normally', 0, 0],
  ['a correction of half a minute', 30_000, 0],
  ['a night of sleep', 8 * 3_600_000, 1],
  ['a clock that was set back by an hour', -3_600_000, 1],
])('%s', async (_name, jump, expected) => {
  const clock = createManualClock();
  let checks = 0;
  let woke = 0;
  const stop = watchClock({
    clock,
    everyMs: 5000,
    onCheck: () => void (checks += 1),
    onWoke: () => void (woke += 1),
  });
  await clock.advance(20_000);
  clock.sleep(jump);
  await clock.advance(20_000);
  expect({ checks, woke }).toEqual({ checks: 8, woke: expected });
  stop();
  expect(clock.timers()).toBe(0);
});

test('a check that comes far too late counts as sleep, too', () => {
  const times = [0, 100_000];
  let check = (): void => undefined;
  let woke = 0;
  watchClock({
    clock: {
      now: () => times[0] ?? 0,
      monotonic: () => times[0] ?? 0,
      after: (_milliseconds, call) => {
        check = call;
        return () => undefined;
      },
    },
    everyMs: 5000,
    onCheck: () => undefined,
    onWoke: () => void (woke += 1),
  });
  times.shift();
  check();
  expect(woke).toBe(1);
});
