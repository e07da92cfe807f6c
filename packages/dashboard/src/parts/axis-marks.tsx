// What is drawn of a time axis: its clock times, its folds, and the line of now. For a positioned frame.
import type { CSSProperties } from 'react';
import type { Tick, TimeAxis } from './time-axis.ts';
import { clockWords } from './time-words.ts';

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
