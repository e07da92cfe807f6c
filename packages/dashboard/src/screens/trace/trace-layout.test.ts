import type { AxisSegment } from '@svc/lib/time-axis';
import type { Trace } from 'svc-monitor/src/features/trace/api.ts';
import type { TraceSpan } from 'svc-monitor/src/features/trace/trace-span.ts';
import { expect, test } from 'vitest';
import { type Lane, layoutTrace } from './trace-chart.tsx';

const start = Date.parse('2026-11-09T08:00:00.000Z');
const at = (minute: number): string => new Date(start + minute * 60_000).toISOString();
let ids = 0;
const span = (kind: TraceSpan['kind'], label: string, from: number, to: number | null): TraceSpan => ({
  id: String((ids += 1)),
  kind,
  label,
  state: to === null ? 'running' : 'ended',
  start: at(from),
  end: to === null ? null : at(to),
  startSeq: 1,
  endSeq: null,
  reason: null,
  url: null,
});
const trace = (
  spans: TraceSpan[],
  now: number,
  axis: AxisSegment[] = [{ from: at(0), to: at(now), folded: false }],
): Trace => ({
  ticket: 'ABC-1',
  orchestrator: 'run-1',
  now: at(now),
  from: at(0),
  to: axis.at(-1)?.to ?? null,
  lines: 1,
  cut: false,
  spans,
  axis,
});

/** The space that a bar and its label take in their row. */
function extents({ bars }: Lane) {
  return bars.map(({ x, width, y, label }) => ({
    y,
    from: Math.min(x, label?.x ?? x),
    to: Math.max(x + width, label === null ? 0 : label.x + label.width),
  }));
}

/** Bars without labels may overlap if they have the same time. */
function expectNoOverlap(lane: Lane): void {
  const labelled = new Set(lane.bars.filter(({ label }) => label !== null).map(({ y }) => y));
  const taken = extents(lane).filter(({ y }) => labelled.has(y));
  for (const [index, one] of taken.entries())
    for (const other of taken.slice(index + 1))
      if (one.y === other.y) expect(one.to <= other.from || other.to <= one.from).toBe(true);
}

test('lanes are in order, without empty ones', () => {
  const { lanes } = layoutTrace(
    trace([span('deployment', 'production', 50, 60), span('phase', 'Research', 0, 10)], 60),
    800,
  );
  expect(lanes.map(({ kind }) => kind)).toEqual(['phase', 'deployment']);
  expect(lanes[1]?.y).toBe(lanes[0]?.height);
});

test('a wide bar has its label inside, a narrow one beside it', () => {
  const { lanes } = layoutTrace(
    trace([span('phase', 'Implementing', 0, 55), span('phase', 'Validating', 55, 56)], 60),
    600,
  );
  const [wide, narrow] = lanes[0]?.bars ?? [];
  expect(wide?.label?.inside).toBe(true);
  expect(narrow?.label).toMatchObject({ inside: false });
});

test('a label at the right edge is to the left of its bar', () => {
  const { lanes } = layoutTrace(trace([span('merge', 'Merged as 1a2b3c4', 60, 60)], 60), 600);
  const [bar] = lanes[0]?.bars ?? [];
  expect(bar?.label?.x).toBeLessThan(bar?.x ?? 0);
  expect(bar === undefined ? 0 : bar.x + bar.width).toBeLessThanOrEqual(600);
});

test.each([2, 10, 40, 200])('labels and bars of %d crowded spans never overlap', (count) => {
  const spans = Array.from({ length: count }, (_, index) =>
    span('checks', `suite number ${index}`, (index * 50) / count, (index * 50) / count + 4 / count),
  );
  const { lanes } = layoutTrace(trace(spans, 60), 720);
  expect(lanes[0]?.bars).toHaveLength(count);
  for (const lane of lanes) expectNoOverlap(lane);
});

test('a span in progress ends at the current time', () => {
  const { lanes, nowX } = layoutTrace(trace([span('phase', 'Implementing', 0, null)], 60), 600);
  const [bar] = lanes[0]?.bars ?? [];
  expect(bar === undefined ? 0 : bar.x + bar.width).toBeCloseTo(nowX ?? -1);
});

test('a finished trace has no line for the current time', () => {
  const ended = trace([span('phase', 'Implementing', 0, 10)], 60, [
    { from: at(0), to: at(10), folded: false },
  ]);
  expect(layoutTrace(ended, 600).nowX).toBeNull();
});

test('a folded night is a narrow break labelled with its length, without ticks', () => {
  const axis = [
    { from: at(0), to: at(60), folded: false },
    { from: at(60), to: at(720), folded: true },
    { from: at(720), to: at(780), folded: false },
  ];
  const { breaks, ticks } = layoutTrace(
    trace([span('phase', 'Research', 0, 60), span('phase', 'Planning', 720, 780)], 780, axis),
    1000,
  );
  expect(breaks).toMatchObject([{ x: expect.closeTo(485), width: expect.closeTo(30), words: '11 h idle' }]);
  for (const { x, words } of ticks) if (words) expect(x + 44 <= 470 || x >= 530).toBe(true);
  for (const { time } of ticks) expect(time <= Date.parse(at(60)) || time >= Date.parse(at(720))).toBe(true);
});

test('ticks are far enough apart to be readable', () => {
  for (const minutes of [3, 47, 600, 5_000]) {
    const { ticks } = layoutTrace(trace([span('phase', 'Research', 0, minutes)], minutes), 900);
    expect(ticks.length).toBeGreaterThan(0);
    for (const [index, { x }] of ticks.entries())
      if (index > 0) expect(x - (ticks[index - 1]?.x ?? 0)).toBeGreaterThanOrEqual(64);
  }
});

test('an instant is visible', () => {
  const { lanes } = layoutTrace(trace([span('merge', 'm', 30, 30)], 60), 600);
  expect(lanes[0]?.bars[0]?.width).toBeGreaterThanOrEqual(6);
});

test('the first tick of each day has the date', () => {
  const axis = [
    { from: at(0), to: at(60), folded: false },
    { from: at(60), to: at(2_880), folded: true },
    { from: at(2_880), to: at(2_940), folded: false },
  ];
  const { ticks } = layoutTrace(trace([span('phase', 'Research', 0, 60)], 2_940, axis), 1_000);
  expect(ticks.filter(({ day }) => day)).toHaveLength(2);
});
