// A time axis in pixels: the position of a time, folded idle time, and clock labels without overlaps; and the elements
// that draw it in a positioned frame.
import { type AxisSegment, axisScale } from '@svc/core/browser';
import { type CSSProperties, type RefObject, useLayoutEffect, useState } from 'react';
import { clockWords, durationWords } from './format.ts';

/** Upper estimate for the font at 12 px. */
export const LETTER_WIDTH = 7.1;
const GAP = 6;
const FOLDED_WIDTH = 30;
const LEAST_TICK_GAP = 64;
const TICK_WIDTH = 44;
const NOW_WIDTH = 36;
const DAY_WIDTH = 76;

/** `words` is false if the label would overlap another; `day` marks the first tick of a day. */
type Tick = { x: number; time: number; words: boolean; day: boolean };
/** The label is centered at `textX` below the axis, in the second row if the first has no space. */
export type Break = { x: number; width: number; words: string; textX: number; row: 0 | 1 };
export type TimeAxis = {
  xOf: (time: number) => number;
  breaks: Break[];
  ticks: Tick[];
  /** Null when the axis ends before now. */
  nowX: number | null;
};

export function layoutAxis(axis: readonly AxisSegment[], now: number, width: number): TimeAxis {
  const folded = axis.filter((segment) => segment.folded).length;
  const share = folded === 0 ? 0 : Math.min(FOLDED_WIDTH / width, 0.5 / folded);
  const scale = axisScale(axis, share);
  const xOf = (time: number): number => scale(time) * width;
  const end = axis.at(-1);
  const nowX = end !== undefined && now <= Date.parse(end.to) + 1_000 ? xOf(now) : null;
  const breaks = breaksOf(axis, xOf, width, nowX);
  const taken = [0, 1].map((row) => breaks.filter((one) => one.row === row).map(extentOf));
  if (nowX !== null) taken[0]?.push({ from: nowX - NOW_WIDTH, to: nowX + GAP });
  return { xOf, breaks, ticks: ticksOf(axis, xOf, width, taken), nowX };
}

function breaksOf(
  axis: readonly AxisSegment[],
  xOf: (time: number) => number,
  width: number,
  nowX: number | null,
): Break[] {
  const breaks: Break[] = [];
  for (const { from, to, folded } of axis) {
    if (!folded) continue;
    const x = xOf(Date.parse(from));
    const wide = xOf(Date.parse(to)) - x;
    const words = `${durationWords(Date.parse(to) - Date.parse(from))} idle`;
    const half = (words.length * LETTER_WIDTH) / 2;
    const textX = Math.min(Math.max(x + wide / 2, half), width - half);
    const before = breaks.at(-1);
    const isBeforeNow = nowX === null || textX + half <= nowX - NOW_WIDTH;
    const isAfterLast = before === undefined || before.row === 1 || extentOf(before).to <= textX - half;
    const isFree = isBeforeNow && isAfterLast;
    breaks.push({ x, width: wide, words, textX, row: isFree ? 0 : 1 });
  }
  return breaks;
}

type Extent = { from: number; to: number };

function extentOf({ words, textX }: Pick<Break, 'words' | 'textX'>): Extent {
  const half = (words.length * LETTER_WIDTH) / 2 + GAP;
  return { from: textX - half, to: textX + half };
}

const MINUTE = 60_000;
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440].map((minutes) => minutes * MINUTE);

/** Round local times, far enough apart to be readable; none inside a break. */
function ticksOf(
  axis: readonly AxisSegment[],
  xOf: (time: number) => number,
  width: number,
  /** By row: clock times are in the first, days in the second. */
  taken: readonly (readonly Extent[])[],
): Tick[] {
  const open = axis.filter(({ folded }) => !folded);
  const ms = open.reduce((sum, { from, to }) => sum + Date.parse(to) - Date.parse(from), 0);
  const pixels = open.reduce((sum, { from, to }) => sum + xOf(Date.parse(to)) - xOf(Date.parse(from)), 0);
  if (ms === 0 || pixels === 0) return [];
  const step = steps.find((one) => (one / ms) * pixels >= LEAST_TICK_GAP) ?? steps.at(-1) ?? MINUTE;
  const ticks: Tick[] = [];
  let shownDay = '';
  for (const { from, to } of open) {
    const begin = Date.parse(from);
    const offset = new Date(begin).getTimezoneOffset() * MINUTE;
    const first = Math.ceil((begin - offset) / step) * step + offset;
    for (let time = first; time <= Date.parse(to); time += step) {
      const x = xOf(time);
      if (x - (ticks.at(-1)?.x ?? Number.NEGATIVE_INFINITY) < LEAST_TICK_GAP) continue;
      const isFree = (row: number, wide: number): boolean =>
        taken[row]?.every((label) => x + wide <= label.from || x >= label.to) ?? true;
      const words = isFree(0, TICK_WIDTH) && x + TICK_WIDTH <= width;
      const date = new Date(time).toDateString();
      const day = words && date !== shownDay && isFree(1, DAY_WIDTH);
      if (day) shownDay = date;
      ticks.push({ x, time, words, day });
    }
  }
  return ticks;
}

/** The height of the labels below the axis. */
export const AXIS_HEIGHT = 44;

export function AxisMarks({
  axis,
  height,
}: {
  axis: Pick<TimeAxis, 'ticks' | 'breaks'>;
  /** The height of the area above the labels. */
  height: number;
}) {
  return (
    <div aria-hidden="true">
      {axis.ticks.map((tick) => (
        <TickMark key={tick.time} tick={tick} height={height} />
      ))}
      {axis.breaks.map(({ x, width, words, textX, row }) => (
        <div key={x}>
          <div
            className="absolute top-0 border-line border-x bg-surface"
            style={{ left: x, width, height, ...hatched }}
          />
          <span
            className="absolute -translate-x-1/2 text-tiny whitespace-nowrap text-muted italic"
            style={{ left: textX, top: height + 5 + row * 16 }}
            title={`Collapsed: ${words}`}
          >
            {words}
          </span>
        </div>
      ))}
    </div>
  );
}

export function NowLine({
  x,
  height,
  width,
  words = 'now',
}: {
  x: number | null;
  height: number;
  width: number;
  /** Its label; a past time is not "now". */
  words?: string;
}) {
  if (x === null) return null;
  return (
    <div
      aria-hidden="true"
      className="pointer-events-none absolute top-0 w-px bg-ink"
      style={{ left: Math.min(x, width - 1), height: height + 4 }}
    >
      <span
        className="absolute right-0 rounded-control bg-ink px-1 text-tiny text-surface"
        style={{ top: height + 5 }}
      >
        {words}
      </span>
    </div>
  );
}

const hatched: CSSProperties = {
  backgroundImage: 'repeating-linear-gradient(135deg, var(--line) 0 1px, transparent 1px 6px)',
};

function TickMark({ tick: { x, time, words, day }, height }: { tick: Tick; height: number }) {
  return (
    <div className="absolute top-0 w-px bg-line" style={{ left: x, height: height + (words ? 4 : 0) }}>
      {words && (
        <span className="absolute left-0 text-tiny whitespace-nowrap text-muted" style={{ top: height + 5 }}>
          {clockWords(time, time)}
        </span>
      )}
      {day && (
        <span className="absolute left-0 text-tiny whitespace-nowrap text-muted" style={{ top: height + 21 }}>
          {dayWords(time)}
        </span>
      )}
    </div>
  );
}

function dayWords(time: number): string {
  return new Date(time).toLocaleDateString('en-GB', { weekday: 'short', day: 'numeric', month: 'short' });
}

/** Scrolls a live chart that does not fit to its end. */
export function useShowEnd(frame: RefObject<HTMLElement | null>, isLive: boolean, width: number): void {
  useLayoutEffect(() => {
    if (isLive && frame.current !== null && width > 0) frame.current.scrollLeft = width;
  }, [frame, isLive, width]);
}

/** The content width of an element in pixels, updated when it changes. */
export function useWidth(element: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const frame = element.current;
    if (frame === null) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(frame);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
