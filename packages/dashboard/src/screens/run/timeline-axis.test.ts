import { expect, test } from 'vitest';
import { type Timeline, timelineAxis } from './run-timeline.tsx';

const HOUR = 3_600_000;
const start = Date.parse('2026-11-09T08:00:00.000Z');
const bars = (...spans: [number, number | null][]): Timeline => ({
  rows: [
    {
      ticket: 'A-1',
      bars: spans.map(([from, to], seq) => ({
        status: 'planning',
        from: start + from * HOUR,
        to: to === null ? null : start + to * HOUR,
        seq,
      })),
    },
  ],
  waves: [],
});

test('an idle night is folded', () => {
  const axis = timelineAxis(bars([0, 1], [1, 14], [14, null]), start + 15 * HOUR);
  expect(axis.map(({ folded }) => folded)).toEqual([false, true, false]);
  for (const [index, { to }] of axis.entries()) if (index < 2) expect(axis[index + 1]?.from).toBe(to);
  expect(Date.parse(axis.at(-1)?.to ?? '')).toBe(start + 15 * HOUR);
});

test('a short run is not folded', () => {
  expect(timelineAxis(bars([0, 1], [1, 2]), start + 9 * HOUR)).toEqual([
    { from: '2026-11-09T08:00:00.000Z', to: '2026-11-09T10:00:00.000Z', folded: false },
  ]);
  expect(timelineAxis(bars(), start)).toEqual([]);
});
