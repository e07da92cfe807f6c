// A slider over the last day or week with event counts behind it. Dragging it or the arrow keys put a past time into
// the URL (`?at=`); its right end is live.
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from 'react';
import { client } from '../api/client.ts';
import { MomentProvider, useBoard, useNow } from '../live/live.tsx';
import { momentOf } from '../live/moment.ts';
import { classNames } from './class-names.ts';
import { clockWords, durationWords } from './format.ts';

// A time span that ends now, and positions on it from 0 (start) to 1 (now).

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

export type SpanName = '24h' | '7d';
export type TimeSpan = { from: number; to: number; step: number };

/** `step` is how far an arrow key moves. */
const lengths: Record<SpanName, { length: number; step: number }> = {
  '24h': { length: 24 * HOUR, step: 5 * MINUTE },
  '7d': { length: 7 * 24 * HOUR, step: 30 * MINUTE },
};

export function spanOf(name: SpanName, now: number): TimeSpan {
  const { length, step } = lengths[name];
  return { from: now - length, to: now, step };
}

/** The shortest span that contains the time. */
export function spanFor(time: number, now: number): SpanName {
  return now - time <= lengths['24h'].length ? '24h' : '7d';
}

export function shareOf(time: number, { from, to }: TimeSpan): number {
  return Math.min(1, Math.max(0, (time - from) / (to - from)));
}

/** Null is live: the right end is not a past time. */
export function timeAt(share: number, { from, to, step }: TimeSpan): number | null {
  const time = from + Math.min(1, Math.max(0, share)) * (to - from);
  return time > to - step / 2 ? null : time;
}

/** The time after a key press; undefined if the key does nothing. */
export function afterKey(key: string, time: number | null, span: TimeSpan): number | null | undefined {
  const { from, to, step } = span;
  const steps: Record<string, number> = {
    ArrowLeft: -1,
    ArrowDown: -1,
    ArrowRight: 1,
    ArrowUp: 1,
    PageDown: -12,
    PageUp: 12,
  };
  if (key === 'Home') return from;
  if (key === 'End') return null;
  const by = steps[key];
  if (by === undefined) return undefined;
  const next = (time ?? to) + by * step;
  return next > to - step / 2 ? null : Math.max(from, next);
}

const BUCKETS = 96;
/** The least time between two board requests while dragging. */
const COMMIT_EVERY_MS = 150;

/** `orchestrator`: only the events of this run are drawn. */
export function TimeScrubber({ orchestrator }: { orchestrator?: string }) {
  const { moment } = useBoard();
  const shown = useNow();
  return (
    <MomentProvider time={null}>
      <Scrubber time={moment === null ? null : shown} orchestrator={orchestrator} />
    </MomentProvider>
  );
}

function Scrubber({ time, orchestrator }: { time: number | null; orchestrator: string | undefined }) {
  // Rounded to a minute, so the bar does not move every second.
  const now = Math.floor(useNow() / 60_000) * 60_000;
  const [chosen, setChosen] = useState<SpanName | null>(null);
  const name = time !== null && spanFor(time, now) === '7d' ? '7d' : (chosen ?? '24h');
  const span = spanOf(name, now);
  const [held, setHeld] = useState<{ time: number | null } | null>(null);
  const go = useGoTo(time !== null);
  const at = held === null ? time : held.time;
  const track = useRef<HTMLDivElement>(null);

  const timeUnder = ({ clientX }: PointerEvent): number | null => {
    const { left = 0, width = 1 } = track.current?.getBoundingClientRect() ?? {};
    return timeAt((clientX - left) / width, span);
  };
  const hold = (event: PointerEvent): void => {
    const next = timeUnder(event);
    setHeld({ time: next });
    go(next, 'soon');
  };
  const press = (event: KeyboardEvent): void => {
    const next = afterKey(event.key, at, span);
    if (next === undefined) return;
    event.preventDefault();
    go(next, 'at-once');
  };
  const words = at === null ? 'Now' : clockWords(at, now);
  return (
    <div className="flex items-center gap-3">
      <fieldset className="flex shrink-0 rounded-control border border-line bg-surface p-0.5">
        <legend className="sr-only">Time range</legend>
        {(['24h', '7d'] as const).map((option) => (
          <button
            key={option}
            type="button"
            aria-pressed={option === name}
            onClick={() => setChosen(option)}
            className="rounded-sm px-1.5 text-tiny text-muted aria-pressed:bg-sunken aria-pressed:text-ink max-wide:min-h-10 max-wide:px-2.5"
          >
            {option === '24h' ? '24 h' : '7 d'}
          </button>
        ))}
      </fieldset>
      <div
        ref={track}
        className="relative h-9 min-w-0 flex-1 cursor-ew-resize touch-none select-none max-wide:h-11"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          hold(event);
        }}
        onPointerMove={(event) => {
          if (held !== null) hold(event);
        }}
        onPointerUp={(event) => {
          go(timeUnder(event), 'at-once');
          setHeld(null);
        }}
        onPointerCancel={() => setHeld(null)}
      >
        <Density span={span} name={name} orchestrator={orchestrator} />
        <div
          role="slider"
          tabIndex={0}
          aria-label="Time shown"
          aria-valuemin={span.from}
          aria-valuemax={span.to}
          aria-valuenow={at ?? span.to}
          aria-valuetext={at === null ? 'now' : `${words}, ${durationWords(now - at)} ago`}
          onKeyDown={press}
          className={classNames(
            'absolute inset-y-0 w-3 -translate-x-1/2 before:absolute before:inset-y-0 before:left-1/2 before:w-0.5 before:-translate-x-1/2 before:rounded-full after:absolute after:top-1/2 after:left-1/2 after:size-2.5 after:-translate-x-1/2 after:-translate-y-1/2 after:rounded-full',
            at === null ? 'before:bg-line-strong after:bg-line-strong' : 'before:bg-ink after:bg-ink',
          )}
          style={{ left: `${shareOf(at ?? span.to, span) * 100}%` }}
        />
      </div>
      <span className="w-24 shrink-0 text-tiny font-medium text-ink max-wide:w-auto" aria-hidden="true">
        {words}
      </span>
    </div>
  );
}

/** Puts the time into the URL; while dragging, at most every `COMMIT_EVERY_MS`. */
function useGoTo(isPast: boolean): (time: number | null, when: 'soon' | 'at-once') => void {
  const navigate = useNavigate();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const last = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (time, when) => {
    clearTimeout(timer.current);
    const set = (): void => {
      last.current = Date.now();
      void navigate({
        to: '.',
        search: (before) => ({ ...before, at: time === null ? undefined : momentOf(time) }),
        // Leaving the live view adds a history entry; moving within the past does not.
        replace: isPast,
      });
    };
    const wait = when === 'at-once' ? 0 : Math.max(0, COMMIT_EVERY_MS - (Date.now() - last.current));
    timer.current = setTimeout(set, wait);
  };
}

function Density({
  span,
  name,
  orchestrator,
}: {
  span: TimeSpan;
  name: SpanName;
  orchestrator: string | undefined;
}) {
  const { data } = useQuery({
    queryKey: ['event-counts', name, orchestrator, BUCKETS],
    queryFn: ({ signal }) =>
      client.get('/api/events/counts', { query: { since: name, buckets: BUCKETS, orchestrator }, signal }),
    refetchInterval: 60_000,
  });
  if (data === undefined) return <div className="absolute inset-x-0 bottom-0 h-px bg-line" />;
  const most = Math.max(1, ...data.buckets.map(({ count }) => count));
  return (
    <div className="absolute inset-0 border-line border-b" aria-hidden="true">
      {data.buckets.map(({ at, count }) => {
        const from = shareOf(Date.parse(at), span);
        const to = shareOf(Date.parse(at) + data.bucketMs, span);
        return count === 0 ? null : (
          <span
            key={at}
            className="absolute bottom-0 bg-line-strong opacity-35"
            style={{
              left: `${from * 100}%`,
              width: `calc(${(to - from) * 100}% - 1px)`,
              // A square root, so one event stays visible beside a burst of a thousand.
              height: `${Math.sqrt(count / most) * 85}%`,
            }}
          />
        );
      })}
    </div>
  );
}
