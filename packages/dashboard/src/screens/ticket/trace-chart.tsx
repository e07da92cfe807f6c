// The trace as bars on a time axis. Idle nights are folded to a hatched break; the names of the lanes stay while
// the chart scrolls sideways.

import type { Trace } from '@svc/core';
import { Link } from '@tanstack/react-router';
import { useMemo, useRef } from 'react';
import { AXIS_HEIGHT, AxisMarks, NowLine } from '../../parts/axis-marks.tsx';
import { classNames } from '../../parts/class-names.ts';
import { textOf } from '../../parts/meaning.ts';
import { exactWords } from '../../parts/time-words.ts';
import { Tip } from '../../parts/tip.tsx';
import { useShowEnd } from '../../parts/use-show-end.ts';
import { useWidth } from '../../parts/use-width.ts';
import { BAR_HEIGHT, layoutTrace, type PlacedBar } from './trace-layout.ts';
import { laneNames, type SpanMeaning, spanLabel, spanMeaning, spanWords } from './trace-meaning.ts';

/** Narrower than this a day cannot be read; the panel scrolls instead. */
const LEAST_WIDTH = 640;

export function TraceChart({ trace, isProven }: { trace: Trace; isProven: boolean }) {
  const frame = useRef<HTMLDivElement>(null);
  const width = Math.max(LEAST_WIDTH, useWidth(frame) - 1);
  const layout = useMemo(
    () => layoutTrace(trace, width, (span) => spanLabel(span, isProven)),
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
  const name = spanLabel(span, isProven);
  const words = spanWords(span, now);
  return (
    <>
      <Tip
        note={
          <div className="flex flex-col gap-0.5">
            <span className="from-outside font-medium text-ink">{name}</span>
            <span>{words}</span>
            {span.reason !== null && <span className="from-outside text-muted">{span.reason}</span>}
            <span className="text-muted">From {exactWords(Date.parse(span.start))}</span>
            {span.end !== null && <span className="text-muted">To {exactWords(Date.parse(span.end))}</span>}
            <span className="font-mono text-tiny text-muted">
              Event lines #{span.startSeq}
              {span.endSeq !== null && span.endSeq !== span.startSeq && ` to #${span.endSeq}`}
            </span>
          </div>
        }
      >
        <Link
          to="/events"
          search={{ seq: String(span.startSeq) }}
          aria-label={`${laneNames[span.kind]}: ${name}, ${words}. Opens event line ${span.startSeq}`}
          className={classNames(
            'absolute rounded-control border',
            barClasses[meaning],
            // What goes on is open at its end.
            span.end === null && 'rounded-r-none border-r-0',
          )}
          style={{ left: x, top: y, width, height: BAR_HEIGHT }}
        >
          {label?.inside === true && (
            // It stays in sight while a long bar scrolls under the names of the lanes.
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

/** The colours in words, under the bars. */
export function TraceKey() {
  return (
    <ul
      className="flex flex-wrap gap-x-4 gap-y-1 px-4 py-2.5 text-tiny text-muted"
      aria-label="What the colours mean"
    >
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
  ['motion', 'goes on'],
  ['proven', 'succeeded'],
  ['broken', 'failed'],
  ['review', 'with reviewers'],
  ['you', 'waits for a person'],
  ['plain', 'ended'],
];
