import fc from 'fast-check';
import { expect, test } from 'vitest';
import { snapshotsToDrop } from './snapshot-store.ts';

const ascending = fc
  .uniqueArray(fc.integer({ min: 1, max: 1_000 }), { maxLength: 40 })
  .map((seqs) => seqs.toSorted((left, right) => left - right));

/** The most lines from any line up to the last snapshot back to the snapshot before it, or to 0. */
function widestGap(seqs: readonly number[]): number {
  return Math.max(0, ...seqs.map((seq, index) => seq - (seqs[index - 1] ?? 0)));
}

test('thins older ones as far as the widest gap allows, and never the recent ones', () => {
  expect(snapshotsToDrop([10, 20, 30, 40, 50, 60, 70, 80], { recent: 2, widest: 20 })).toEqual([10, 30, 50]);
  expect(snapshotsToDrop([10, 20], { recent: 4, widest: 1_000 })).toEqual([]);
  expect(snapshotsToDrop([100, 200, 300], { recent: 1, widest: 50 })).toEqual([]);
});

test('no gap exceeds the limit, however often it is thinned', () => {
  fc.assert(
    fc.property(
      ascending,
      fc.integer({ min: 1, max: 10 }),
      fc.integer({ min: 1, max: 400 }),
      (seqs, recent, widest) => {
        const left = new Set<number>();
        let largestBefore = 0;
        for (const [index, seq] of seqs.entries()) {
          left.add(seq);
          largestBefore = Math.max(largestBefore, seq - (seqs[index - 1] ?? 0));
          const all = [...left];
          for (const drop of snapshotsToDrop(all, { recent, widest })) {
            expect(all.slice(-recent)).not.toContain(drop);
            left.delete(drop);
          }
        }
        expect(widestGap([...left])).toBeLessThanOrEqual(Math.max(widest, largestBefore));
        // It is useful: of three consecutive ones, no older one could go.
        const kept = [...left].slice(0, Math.max(0, left.size - recent));
        for (const [index, seq] of kept.entries()) {
          const next = [...left][index + 1] ?? Number.POSITIVE_INFINITY;
          expect(next - (kept[index - 1] ?? 0), `${seq} is needed`).toBeGreaterThan(widest);
        }
      },
    ),
  );
});
