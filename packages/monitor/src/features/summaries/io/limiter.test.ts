import fc from 'fast-check';
import { expect, test } from 'vitest';
import { APART_MS, AT_ONCE, createLimiter, type Lease } from './limiter.ts';

test('never more at once than allowed, and never closer together, including retries: 500 random sequences', async () => {
  const step = fc.oneof(
    fc.record({ act: fc.constant('take' as const) }),
    fc.record({ act: fc.constant('end' as const), which: fc.nat(3) }),
    fc.record({ act: fc.constant('again' as const), which: fc.nat(3), wait: fc.nat(2_000) }),
    fc.record({ act: fc.constant('pass' as const), ms: fc.nat(700) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      let time = 0;
      const starts: number[] = [];
      const held: Lease[] = [];
      const limiter = createLimiter({
        now: () => time,
        async sleep(ms) {
          starts.push(time + ms);
        },
      });
      for (const one of steps) {
        if (one.act === 'pass') time += one.ms;
        if (one.act === 'end') held.splice(one.which, 1)[0]?.release();
        if (one.act === 'again') await held[one.which]?.again(one.wait, new AbortController().signal);
        if (one.act !== 'take') continue;
        const turn = limiter.take();
        if (!turn.ok) {
          expect(turn.retryAfterMs).toBeGreaterThan(0);
          continue;
        }
        held.push(turn.lease);
        starts.push(time);
      }
      expect(held.length).toBeLessThanOrEqual(AT_ONCE);
      const sorted = starts.toSorted((a, b) => a - b);
      sorted.forEach((start, index) => {
        if (index > 0) expect(start - (sorted[index - 1] ?? 0)).toBeGreaterThanOrEqual(APART_MS);
      });
    }),
    { numRuns: 500 },
  );
});

test('a slot that is released twice is one slot', () => {
  let time = 0;
  const limiter = createLimiter({ now: () => time, sleep: async () => undefined });
  const first = limiter.take();
  if (!first.ok) throw new Error('refused');
  first.lease.release();
  first.lease.release();
  const taken = Array.from({ length: AT_ONCE + 1 }, () => {
    time += APART_MS;
    return limiter.take().ok;
  });
  expect(taken).toEqual([true, true, false]);
});
