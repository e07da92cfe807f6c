// A time axis in pixels: where a moment stands, where idle time is folded, and which clock times are written under
// it, without overlaps; and the elements that draw it in a positioned frame.
import { type AxisSegment, axisScale } from '@svc/core/browser';
import { type CSSProperties, type RefObject, useLayoutEffect, useState } from 'react';
import { clockWords, durationWords } from './time-words.ts';

/** Of the face at 12 px, on the safe side. */
export const LETTER_WIDTH = 7.1;
const GAP = 6;
const FOLDED_WIDTH = 30;
const LEAST_TICK_GAP = 64;
const TICK_WIDTH = 44;
const NOW_WIDTH = 36;
const DAY_WIDTH = 76;

/** `words` is false where they would lie over others; `day` where a day begins to be shown. */
type Tick = { x: number; time: number; words: boolean; day: boolean };
/** Its words stand under it, in the middle of `textX`; in the second row where the first has no room. */
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
  const taken = [0, 1].map((row) => breaks.filter((one) => one.row === row).map(placeOf));
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
    const isAfterLast = before === undefined || before.row === 1 || placeOf(before).to <= textX - half;
    const isFree = isBeforeNow && isAfterLast;
    breaks.push({ x, width: wide, words, textX, row: isFree ? 0 : 1 });
  }
  return breaks;
}

type Place = { from: number; to: number };

function placeOf({ words, textX }: Pick<Break, 'words' | 'textX'>): Place {
  const half = (words.length * LETTER_WIDTH) / 2 + GAP;
  return { from: textX - half, to: textX + half };
}

const MINUTE = 60_000;
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440].map((minutes) => minutes * MINUTE);

/** Round times of the clock on the wall, far enough apart to be read; none inside a break. */
function ticksOf(
  axis: readonly AxisSegment[],
  xOf: (time: number) => number,
  width: number,
  /** By row: clock times stand in the first, days in the second. */
  taken: readonly (readonly Place[])[],
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
        taken[row]?.every((place) => x + wide <= place.from || x >= place.to) ?? true;
      const words = isFree(0, TICK_WIDTH) && x + TICK_WIDTH <= width;
      const date = new Date(time).toDateString();
      const day = words && date !== shownDay && isFree(1, DAY_WIDTH);
      if (day) shownDay = date;
      ticks.push({ x, time, words, day });
    }
  }
  return ticks;
}

/** What the words under the axis need. */
export const AXIS_HEIGHT = 44;

export function AxisMarks({
  axis,
  height,
}: {
  axis: Pick<TimeAxis, 'ticks' | 'breaks'>;
  /** Of what stands above the words. */
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
            title={`Folded: ${words}`}
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
  /** What it is called; a past moment is not now. */
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

/** Where not all of a chart has room, its end is shown first: what happens now. */
export function useShowEnd(frame: RefObject<HTMLElement | null>, isLive: boolean, width: number): void {
  useLayoutEffect(() => {
    if (isLive && frame.current !== null && width > 0) frame.current.scrollLeft = width;
  }, [frame, isLive, width]);
}

/** The width of an element's content in pixels, also after it changed. */
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
