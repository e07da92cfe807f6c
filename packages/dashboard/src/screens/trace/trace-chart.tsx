// The trace as bars on a time axis. Idle time is folded to a hatched break; lane names stay visible while the chart
// scrolls horizontally.
import { Link } from '@tanstack/react-router';
import { useMemo, useRef } from 'react';
import type { Trace } from 'svc-monitor/src/features/trace/api.ts';
import { NEEDS, spanLabel, spanStates } from 'svc-monitor/src/features/trace/span-words.ts';
import type { TraceSpan } from 'svc-monitor/src/features/trace/trace-span.ts';
import { statusMeaning } from 'svc-monitor/src/features/workers/worker-label.ts';
import type { Meaning } from 'svc-monitor/src/kernel/board/label.ts';
import { shownText } from '../../parts/agent-text.tsx';
import { classNames } from '../../parts/class-names.ts';
import { clockWords, durationWords, exactWords } from '../../parts/format.ts';
import { textOf } from '../../parts/meaning.ts';
import {
  AXIS_HEIGHT,
  AxisMarks,
  LETTER_WIDTH,
  layoutAxis,
  NowLine,
  type TimeAxis,
  useShowEnd,
  useWidth,
  WiderMark,
} from '../../parts/time-axis.tsx';
import { Tip } from '../../parts/tip.tsx';

// The position of every bar, label, break and tick, in pixels. A label is inside its bar if it fits, else beside it;
// no label overlaps another bar or label.

const ROW_HEIGHT = 26;
const LANE_PADDING = 8;
/** The least width of a bar, so an instant can be seen and clicked. */
const LEAST_BAR = 6;
const GAP = 6;
const LABEL_PADDING = 8;
/** A short label can be wider than its letters are on average. */
const LABEL_SLACK = 6;
const LONGEST_LABEL = 34;
/** Beyond this many rows a lane drops labels instead of growing. */
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

type PlacedBar = {
  span: TraceSpan;
  x: number;
  width: number;
  /** From the top of the chart. */
  y: number;
  label: { text: string; x: number; width: number; inside: boolean } | null;
};
export type Lane = { kind: TraceSpan['kind']; y: number; height: number; bars: PlacedBar[] };
type TraceLayout = Omit<TimeAxis, 'xOf'> & { height: number; lanes: Lane[] };

/** `nameOf` is the label of a bar. */
export function layoutTrace(
  trace: Trace,
  width: number,
  nameOf: (span: TraceSpan) => string = ({ label }) => label,
): TraceLayout {
  const { axis, spans, now } = trace;
  const nowTime = Date.parse(now);
  const { xOf, breaks, ticks, nowX, widerX } = layoutAxis(axis, nowTime, width, newestOf(spans));

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
  return { height: y, lanes, breaks, ticks, nowX, widerX };
}

/** The steps that stay readable however short they are. */
const NEWEST = 3;

/** When the newest phases of the ticket began; null for one that has only a few. */
function newestOf(spans: readonly TraceSpan[]): number | null {
  const starts = spans.filter(({ kind }) => kind === 'phase').map(({ start }) => Date.parse(start));
  const from = starts.toSorted((one, other) => other - one)[NEWEST - 1];
  return starts.length > NEWEST && from !== undefined ? from : null;
}

const BAR_HEIGHT = 20;

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
    // No space for its label: the bar alone, in a last row without labels.
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
  // A longer name is truncated when rendered.
  const wide = Math.min(name.length, LONGEST_LABEL) * LETTER_WIDTH + LABEL_SLACK;
  if (wide + 2 * LABEL_PADDING <= bar.width)
    return { text: name, x: bar.x + LABEL_PADDING, width: wide, inside: true };
  const right = bar.x + bar.width + 4;
  if (right + wide <= width) return { text: name, x: right, width: wide, inside: false };
  return { text: name, x: Math.max(0, bar.x - 4 - wide), width: wide, inside: false };
}

/** Below this width the panel scrolls instead, because a day would be unreadable. */
const LEAST_WIDTH = 640;

export function TraceChart({ trace, isProven }: { trace: Trace; isProven: boolean }) {
  const frame = useRef<HTMLDivElement>(null);
  const width = Math.max(LEAST_WIDTH, useWidth(frame) - 1);
  const layout = useMemo(
    () => layoutTrace(trace, width, (span) => shownText(spanLabel(span, isProven))),
    [trace, width, isProven],
  );
  const now = Date.parse(trace.now);
  const scroller = useRef<HTMLElement>(null);
  const isLive = layout.nowX !== null;
  useShowEnd(scroller, isLive, width);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls must be reachable by keyboard.
    <section ref={scroller} aria-label="Trace as bars" tabIndex={0} className="flex overflow-x-auto">
      <div
        className="sticky left-0 z-10 w-28 shrink-0 border-line border-r bg-surface max-wide:w-22"
        aria-hidden="true"
      >
        {layout.lanes.map(({ kind, height }) => (
          <div
            key={kind}
            style={{ height }}
            className="border-line border-b pt-2.5 pr-2 pl-4 text-tiny text-muted max-wide:pl-3"
          >
            {laneNames[kind]}
          </div>
        ))}
      </div>
      <div ref={frame} className="min-w-0 flex-1 px-2">
        <div className="relative" style={{ width, height: layout.height + AXIS_HEIGHT }}>
          {layout.lanes.map(({ kind, y, height }) => (
            <div key={kind} className="absolute -inset-x-2 border-line border-b" style={{ top: y, height }} />
          ))}
          <AxisMarks axis={layout} height={layout.height} />
          {layout.lanes.flatMap(({ bars }) =>
            bars.map((bar) => <Bar key={bar.span.id} bar={bar} now={now} isProven={isProven} />),
          )}
          <WiderMark x={layout.widerX} height={layout.height} />
          <NowLine x={layout.nowX} height={layout.height} width={width} />
        </div>
      </div>
    </section>
  );
}

const barClasses: Record<SpanMeaning, string> = {
  motion: 'bg-motion-soft border-motion-mark',
  you: 'bg-you-soft border-you-mark',
  broken: 'bg-broken-soft border-broken-mark',
  proven: 'bg-proven-soft border-proven-mark',
  review: 'bg-review-soft border-review-mark',
  unknown: 'bg-unknown-soft border-unknown-mark border-dashed',
  plain: 'bg-sunken border-line-strong',
};

function Bar({
  bar: { span, x, y, width, label },
  now,
  isProven,
}: {
  bar: PlacedBar;
  now: number;
  isProven: boolean;
}) {
  const meaning = spanMeaning(span, isProven);
  const name = shownText(spanLabel(span, isProven));
  const words = spanWords(span, now);
  return (
    <>
      <Tip
        note={
          <div className="flex flex-col gap-0.5">
            <span className="from-outside font-medium text-ink">{name}</span>
            <span>{words}</span>
            {span.reason !== null && (
              <span className="from-outside text-muted">{shownText(span.reason)}</span>
            )}
            <span className="text-muted">From {exactWords(Date.parse(span.start))}</span>
            {span.end !== null && <span className="text-muted">To {exactWords(Date.parse(span.end))}</span>}
            <span className="font-mono text-tiny text-muted">
              {span.endSeq === null || span.endSeq === span.startSeq ? 'Event' : 'Events'} #{span.startSeq}
              {span.endSeq !== null && span.endSeq !== span.startSeq && ` to #${span.endSeq}`}
            </span>
          </div>
        }
      >
        <Link
          to="/events"
          search={{ seq: String(span.startSeq) }}
          aria-label={`${laneNames[span.kind]}: ${name}, ${words}. Opens event ${span.startSeq}`}
          className={classNames(
            'absolute rounded-control border',
            barClasses[meaning],
            // A span in progress has no right edge.
            span.end === null && 'rounded-r-none border-r-0',
          )}
          style={{ left: x, top: y, width, height: BAR_HEIGHT }}
        >
          {label?.inside === true && (
            // It stays visible while a long bar scrolls under the lane names.
            <span
              aria-hidden="true"
              className={classNames(
                'sticky left-30 inline-block max-w-full truncate px-2 align-top text-tiny leading-4.5 whitespace-nowrap max-wide:left-24',
                meaning === 'plain' ? 'text-text' : textOf[meaning],
              )}
            >
              <bdi>{label.text}</bdi>
            </span>
          )}
        </Link>
      </Tip>
      {label !== null && !label.inside && (
        <span
          aria-hidden="true"
          className={classNames(
            'pointer-events-none absolute truncate text-tiny leading-5 text-text',
            label.x < x && 'text-right',
          )}
          style={{ left: label.x, top: y, width: label.width + (label.x < x ? 0 : 4) }}
        >
          <bdi>{label.text}</bdi>
        </span>
      )}
    </>
  );
}

export function TraceKey() {
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 px-4 py-2.5 text-tiny text-muted" aria-label="Legend">
      {keys.map(([meaning, words]) => (
        <li key={meaning} className="flex items-center gap-1.5">
          <span
            aria-hidden="true"
            className={classNames('h-2.5 w-4 rounded-xs border', barClasses[meaning])}
          />
          {words}
        </li>
      ))}
    </ul>
  );
}

const keys: readonly (readonly [SpanMeaning, string])[] = [
  ['motion', 'in progress'],
  ['proven', 'succeeded'],
  ['broken', 'failed'],
  ['review', 'in review'],
  ['you', 'waiting for a person'],
  ['plain', 'ended'],
];

// The meaning and text of a bar. A span that just ended has no meaning and is plain.

export type SpanMeaning = Meaning | 'plain';

export const laneNames: Record<TraceSpan['kind'], string> = {
  phase: 'Phases',
  wait: 'Waiting',
  'pull-request': 'Pull request',
  checks: 'Checks',
  review: 'Reviews',
  merge: 'Merge',
  deployment: 'Deployments',
  verification: 'Verification',
};

/** `isProven`: the worker is proven to be done. What only its signal file claims is never green. */
export function spanMeaning(span: TraceSpan, isProven: boolean): SpanMeaning {
  const { kind, state, label } = span;
  if (kind === 'wait') return waitMeaning(label);
  if (kind === 'phase' && state === 'succeeded') return isProven ? 'proven' : 'unknown';
  if (state === 'succeeded') return 'proven';
  // A review that requests changes is not a failure: it waits for a person.
  if (state === 'failed') return kind === 'review' ? 'you' : 'broken';
  if (state === 'ended') return 'plain';
  if (kind === 'phase') return statusMeaning(label);
  return kind === 'review' || kind === 'pull-request' ? 'review' : 'motion';
}

function waitMeaning(label: string): SpanMeaning {
  if (label.startsWith(NEEDS)) return 'you';
  if (label.startsWith('No process running')) return 'broken';
  return /review/i.test(label) ? 'review' : 'plain';
}

/** `09:14 to 09:40, 26 min, succeeded`. */
export function spanWords(span: TraceSpan, now: number): string {
  const start = Date.parse(span.start);
  if (span.end === span.start) return `${clockWords(start, now)}, ${spanStates[span.state]}`;
  const end = span.end === null ? null : Date.parse(span.end);
  const until = end === null ? 'now' : clockWords(end, now);
  return `${clockWords(start, now)} to ${until}, ${durationWords((end ?? now) - start)}, ${spanStates[span.state]}`;
}
