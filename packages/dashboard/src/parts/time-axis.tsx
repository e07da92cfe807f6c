// A time axis in pixels: the position of a time, folded idle time, and clock labels without overlaps; and the elements
// that draw it in a positioned frame.

import { type AxisSegment, axisScale } from '@svc/lib/time-axis';
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
  /** From here to the end the axis is drawn wider; null: it is the same everywhere. */
  widerX: number | null;
};

/** The end of the axis, from `newest`, takes at least this share. */
const NEWEST_SHARE = 0.35;

/** `newest`: the times from it on stay readable, however small a part of the axis they are. */
export function layoutAxis(
  axis: readonly AxisSegment[],
  now: number,
  width: number,
  newest: number | null = null,
): TimeAxis {
  const folded = axis.filter((segment) => segment.folded).length;
  const share = folded === 0 ? 0 : Math.min(FOLDED_WIDTH / width, 0.5 / folded);
  const scale = axisScale(axis, share);
  const edge = newest === null ? 1 : scale(newest);
  const isSqueezed = edge < 1 && 1 - edge < NEWEST_SHARE;
  const widen = (place: number): number =>
    place <= edge
      ? (place / edge) * (1 - NEWEST_SHARE)
      : 1 - NEWEST_SHARE + ((place - edge) / (1 - edge)) * NEWEST_SHARE;
  const xOf = (time: number): number => (isSqueezed ? widen(scale(time)) : scale(time)) * width;
  const end = axis.at(-1);
  const nowX = end !== undefined && now <= Date.parse(end.to) + 1_000 ? xOf(now) : null;
  const breaks = breaksOf(axis, xOf, width, nowX);
  const taken = [0, 1].map((row) => breaks.filter((one) => one.row === row).map(extentOf));
  if (nowX !== null) taken[0]?.push({ from: nowX - NOW_WIDTH, to: nowX + GAP });
  const widerFrom = isSqueezed ? newest : null;
  return {
    xOf,
    breaks,
    ticks: ticksOf(axis, xOf, width, taken, widerFrom),
    nowX,
    widerX: widerFrom === null ? null : xOf(widerFrom),
  };
}

type OpenPart = { from: number; to: number };

/** The parts of the axis that are not folded, before and after the place from which it is drawn wider. */
function openParts(axis: readonly AxisSegment[], widerFrom: number | null): [OpenPart[], OpenPart[]] {
  const open = axis
    .filter(({ folded }) => !folded)
    .map(({ from, to }) => ({ from: Date.parse(from), to: Date.parse(to) }));
  const edge = widerFrom ?? Number.POSITIVE_INFINITY;
  return [
    open.flatMap(({ from, to }) => (from < edge ? [{ from, to: Math.min(to, edge) }] : [])),
    open.flatMap(({ from, to }) => (to > edge ? [{ from: Math.max(from, edge), to }] : [])),
  ];
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
  widerFrom: number | null,
): Tick[] {
  const ticks: Tick[] = [];
  let shownDay = '';
  for (const parts of openParts(axis, widerFrom)) {
    for (const time of roundTimes(parts, xOf)) {
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

/** The round times of parts that are drawn to one scale. */
function roundTimes(parts: readonly OpenPart[], xOf: (time: number) => number): number[] {
  const ms = parts.reduce((sum, { from, to }) => sum + to - from, 0);
  const pixels = parts.reduce((sum, { from, to }) => sum + xOf(to) - xOf(from), 0);
  if (ms === 0 || pixels === 0) return [];
  const step = steps.find((one) => (one / ms) * pixels >= LEAST_TICK_GAP) ?? steps.at(-1) ?? MINUTE;
  return parts.flatMap(({ from, to }) => {
    const offset = new Date(from).getTimezoneOffset() * MINUTE;
    const first = Math.ceil((from - offset) / step) * step + offset;
    return Array.from(
      { length: Math.max(0, Math.floor((to - first) / step) + 1) },
      (_, index) => first + index * step,
    );
  });
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

/** Where the scale of the axis changes. */
export function WiderMark({ x, height }: { x: number | null; height: number }) {
  if (x === null) return null;
  return (
    <div
      aria-hidden="true"
      title="From here the time is drawn wider, so that the newest steps can be read"
      className="absolute top-0 border-line-strong border-l border-dashed"
      style={{ left: x, height }}
    />
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
