import { eventFamilies } from 'svc-monitor/src/kernel/log/event-families.ts';
import { expect, test } from 'vitest';
import { seriesOf } from './counts-chart.tsx';

const counts = (families: object[]) =>
  ({ buckets: families.map((found) => ({ at: '2026-11-09T08:00:00.000Z', families: found })) }) as never;

test('no two series have the same colour, and no event is lost', () => {
  const all = Object.fromEntries(eventFamilies.map((family) => [family, 1]));
  const { series } = seriesOf(counts([all]));
  expect(new Set(series.map(({ colour }) => colour)).size).toBe(series.length);
  expect(series.flatMap(({ values }) => values).reduce<number>((sum, value) => sum + (value ?? 0), 0)).toBe(
    eventFamilies.length,
  );
});

test('a family without events has no series', () => {
  const { series } = seriesOf(counts([{ codehost: 2 }, { comms: 1 }]));
  expect(series.map(({ label, values }) => [label, values])).toEqual([
    ['codehost', [2, 0]],
    ['other', [0, 1]],
  ]);
});
