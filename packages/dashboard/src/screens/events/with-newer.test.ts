import type { EventLine } from 'svc-monitor/src/kernel/log/event-line.ts';
import { expect, test } from 'vitest';
import { withNewer } from './use-tail.ts';

const line = (seq: number) => ({ seq }) as EventLine;
const seqs = ({ lines }: { lines: EventLine[] }): number[] => lines.map(({ seq }) => seq);

test('new events come first, newest first, each once', () => {
  const before = { lines: [line(5), line(4)], next: 4 };
  expect(seqs(withNewer(before, [line(5), line(6), line(8)]))).toEqual([8, 6, 5, 4]);
  expect(withNewer(before, [line(3)])).toBe(before);
});

test('beyond 5,000 the oldest are dropped, and can be loaded again', () => {
  const before = { lines: Array.from({ length: 5_000 }, (_, index) => line(5_000 - index)), next: null };
  const after = withNewer(before, [line(5_001), line(5_002)]);
  expect(after.lines).toHaveLength(5_000);
  expect([after.lines[0]?.seq, after.next]).toEqual([5_002, 3]);
});
