import { expect, test } from 'vitest';
import { type Break, LETTER_WIDTH, layoutAxis } from './time-axis.tsx';

const HOUR = 3_600_000;
const start = Date.parse('2026-11-09T08:00:00.000Z');
const at = (hour: number): string => new Date(start + hour * HOUR).toISOString();
const segment = (from: number, to: number, folded = false) => ({ from: at(from), to: at(to), folded });
const extentOf = ({ words, textX }: Break) => {
  const half = (words.length * LETTER_WIDTH) / 2;
  return { from: textX - half, to: textX + half };
};

test('times are in order, and the axis ends at its width', () => {
  const { xOf, nowX } = layoutAxis([segment(0, 2)], start + 2 * HOUR, 800);
  expect([0, 1, 2].map((hour) => Math.round(xOf(start + hour * HOUR)))).toEqual([0, 400, 800]);
  expect(nowX).toBeCloseTo(800);
});

test('labels of two folds close to each other are in two rows', () => {
  const axis = [segment(0, 3), segment(3, 7, true), segment(7, 7.2), segment(7.2, 23, true), segment(23, 26)];
  const { breaks } = layoutAxis(axis, start + 26 * HOUR, 900);
  expect(breaks.map(({ row }) => row)).toEqual([0, 1]);
});

test('the label of a fold at the end does not overlap the label "now"', () => {
  const { breaks } = layoutAxis([segment(0, 1), segment(1, 32, true)], start + 32 * HOUR, 900);
  expect(breaks[0]?.row).toBe(1);
  expect(extentOf(breaks[0] as Break).to).toBeLessThanOrEqual(900);
});

test('no clock time overlaps the label of a fold', () => {
  const { breaks, ticks } = layoutAxis(
    [segment(0, 4), segment(4, 20, true), segment(20, 24)],
    start + 24 * HOUR,
    1_000,
  );
  const { from, to } = extentOf(breaks[0] as Break);
  for (const { x, words } of ticks) if (words) expect(x + 44 <= from || x >= to).toBe(true);
  expect(ticks.some(({ words }) => words)).toBe(true);
});

test('the newest steps keep a third of the axis, with their own clock times', () => {
  const newest = start + 9.8 * HOUR;
  const { xOf, ticks, widerX, nowX } = layoutAxis([segment(0, 10)], start + 10 * HOUR, 1_000, newest);
  expect(xOf(newest)).toBeCloseTo(650);
  expect(widerX).toBeCloseTo(650);
  expect(nowX).toBeCloseTo(1_000);
  expect(xOf(start + 4.9 * HOUR)).toBeCloseTo(325);
  expect(ticks.filter(({ x, words }) => x > 650 && words).length).toBeGreaterThan(1);
  for (const [index, { x }] of ticks.entries())
    if (index > 0) expect(x - (ticks[index - 1]?.x ?? 0)).toBeGreaterThanOrEqual(64);
});

test('newest steps that have enough space leave the axis as it is', () => {
  const { xOf, widerX } = layoutAxis([segment(0, 2)], start + 2 * HOUR, 800, start + HOUR);
  expect(xOf(start + HOUR)).toBeCloseTo(400);
  expect(widerX).toBeNull();
});

test('an empty axis has no marks', () => {
  expect(layoutAxis([], start, 800)).toMatchObject({ breaks: [], ticks: [], nowX: null });
});
