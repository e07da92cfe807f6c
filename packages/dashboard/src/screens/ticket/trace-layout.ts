// Where every bar, label, break and tick of a trace stands, in pixels. A label is inside its bar if it fits,
// else beside it, and then the place beside it is taken: no label lies over another bar or label.

import type { Trace, TraceSpan } from '@svc/core';
import { LETTER_WIDTH, layoutAxis, type TimeAxis } from '../../parts/time-axis.ts';

const ROW_HEIGHT = 26;
const LANE_PADDING = 8;
/** A bar is at least so wide, that a moment can be seen and pressed. */
const LEAST_BAR = 6;
const GAP = 6;
const LABEL_PADDING = 8;
const LONGEST_LABEL = 34;
/** Beyond so many rows a lane gives up labels rather than growing for ever. */
const MOST_ROWS = 8;

const laneKinds: readonly TraceSpan['kind'][] = [
  'phase',
  'wait',
  'pull-request',
  'checks',
  'review',
  'merge',
  'deployment',
  'verification',
];

export type PlacedBar = {
  span: TraceSpan;
  x: number;
  width: number;
  /** From the top of the chart. */
  y: number;
  label: { text: string; x: number; width: number; inside: boolean } | null;
};
export type Lane = { kind: TraceSpan['kind']; y: number; height: number; bars: PlacedBar[] };
type TraceLayout = Omit<TimeAxis, 'xOf'> & { height: number; lanes: Lane[] };

/** `nameOf` is what stands in or beside a bar. */
export function layoutTrace(
  trace: Trace,
  width: number,
  nameOf: (span: TraceSpan) => string = ({ label }) => label,
): TraceLayout {
  const { axis, spans, now } = trace;
  const nowTime = Date.parse(now);
  const { xOf, breaks, ticks, nowX } = layoutAxis(axis, nowTime, width);

  const lanes: Lane[] = [];
  let y = 0;
  for (const kind of laneKinds) {
    const own = spans.filter((span) => span.kind === kind);
    if (own.length === 0) continue;
    const { bars, rows } = placeBars(own, { xOf, width, nowTime, nameOf, top: y + LANE_PADDING });
    const height = rows * ROW_HEIGHT + 2 * LANE_PADDING - (ROW_HEIGHT - BAR_HEIGHT);
    lanes.push({ kind, y, height, bars });
    y += height;
  }
  return { height: y, lanes, breaks, ticks, nowX };
}

export const BAR_HEIGHT = 20;

function placeBars(
  spans: readonly TraceSpan[],
  {
    xOf,
    width,
    nowTime,
    nameOf,
    top,
  }: {
    xOf: (time: number) => number;
    width: number;
    nowTime: number;
    nameOf: (span: TraceSpan) => string;
    top: number;
  },
): { bars: PlacedBar[]; rows: number } {
  /** Where each row is free from. */
  const freeFrom: number[] = [];
  const bars: PlacedBar[] = [];
  let isCrowded = false;
  for (const span of spans) {
    const start = Math.min(xOf(Date.parse(span.start)), width - LEAST_BAR);
    const end = xOf(span.end === null ? nowTime : Date.parse(span.end));
    const bar = { x: start, width: Math.max(LEAST_BAR, Math.min(end, width) - start) };
    const label = labelFor(nameOf(span), bar, width);
    const from = Math.min(bar.x, label?.x ?? bar.x);
    const to = Math.max(bar.x + bar.width, label === null ? 0 : label.x + label.width);
    let row = freeFrom.findIndex((free) => free <= from);
    if (row < 0 && freeFrom.length < MOST_ROWS) row = freeFrom.push(0) - 1;
    if (row >= 0) {
      freeFrom[row] = to + GAP;
      bars.push({ span, ...bar, y: top + row * ROW_HEIGHT, label });
      continue;
    }
    // No room for its words: the bar alone, in a last row where nothing has words.
    bars.push({ span, ...bar, y: top + MOST_ROWS * ROW_HEIGHT, label: null });
    isCrowded = true;
  }
  return { bars, rows: Math.max(1, freeFrom.length) + (isCrowded ? 1 : 0) };
}

function labelFor(
  name: string,
  bar: { x: number; width: number },
  width: number,
): NonNullable<PlacedBar['label']> {
  // What is longer is cut where it is drawn.
  const wide = Math.min(name.length, LONGEST_LABEL) * LETTER_WIDTH;
  if (wide + 2 * LABEL_PADDING <= bar.width)
    return { text: name, x: bar.x + LABEL_PADDING, width: wide, inside: true };
  const right = bar.x + bar.width + 4;
  if (right + wide <= width) return { text: name, x: right, width: wide, inside: false };
  return { text: name, x: Math.max(0, bar.x - 4 - wide), width: wide, inside: false };
}
