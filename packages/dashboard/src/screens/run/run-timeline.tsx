// The run over time: its waves, and the time of each worker in each status.

import { type AxisSegment, foldIdle } from '@svc/lib/time-axis';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useRef } from 'react';
import { waveLabel } from 'svc-monitor/src/features/runs/run-labels.ts';
import { statusMeaning, statusWords } from 'svc-monitor/src/features/workers/worker-label.ts';
import type { EventLine } from 'svc-monitor/src/kernel/log/event-line.ts';
import { client } from '../../api/client.ts';
import { useNow } from '../../live/live.tsx';
import { classNames } from '../../parts/class-names.ts';
import { clockWords, durationWords } from '../../parts/format.ts';
import { markOf } from '../../parts/meaning.ts';
import { Panel } from '../../parts/panel.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { AXIS_HEIGHT, AxisMarks, layoutAxis, NowLine, useShowEnd, useWidth } from '../../parts/time-axis.tsx';
import { Tip } from '../../parts/tip.tsx';
import type { RunModel, RunTicket } from './run-model.ts';

// The time axis of a run: from its first bar to its last, or to now while something is in progress. Idle hours are
// folded.

export function timelineAxis({ rows, waves }: Timeline, now: number): AxisSegment[] {
  const bars = [...rows.flatMap((row) => row.bars), ...waves];
  return foldIdle(
    bars.map(({ from, to }) => ({
      start: new Date(from).toISOString(),
      end: to === null ? null : new Date(to).toISOString(),
    })),
    now,
  );
}

const LEAST_WIDTH = 560;
const WAVE_ROW = 30;
const ROW = 24;
/** One page of events; a longer run shows its newest part. */
const MOST_LINES = 1_000;

export function RunTimeline({ model, moment }: { model: RunModel; moment: string | null }) {
  const { orchestrator } = model;
  const lastSeq = Math.max(0, ...model.tickets.map(({ worker }) => worker?.statusSeq ?? 0));
  const { data, error, refetch } = useQuery({
    queryKey: ['run-lines', orchestrator, moment, lastSeq],
    queryFn: async ({ signal }) => {
      const ask = (event: string) =>
        client.get('/api/events', {
          query: { orchestrator, event, limit: MOST_LINES, until: moment ?? undefined },
          signal,
        });
      const [statuses, dispatches, waves] = await Promise.all([
        ask('orchestrator.worker.status_changed'),
        ask('orchestrator.worker.dispatched'),
        ask('orchestrator.wave.*'),
      ]);
      return {
        lines: [...statuses.events, ...dispatches.events, ...waves.events].toSorted(
          (one, other) => one.seq - other.seq,
        ),
        isCut: statuses.next !== null,
      };
    },
    placeholderData: keepPreviousData,
  });
  return (
    <Panel
      title="Timeline"
      flush
      aside={<span className="text-tiny text-muted">Time per ticket and status</span>}
    >
      {data === undefined ? (
        <div className="p-4">
          {error === null ? (
            <Loading what="the events of the run" />
          ) : (
            <Failed error={error} again={() => void refetch()} />
          )}
        </div>
      ) : (
        <Chart model={model} lines={data.lines} isPast={moment !== null} />
      )}
      {data?.isCut === true && (
        <p className="border-line border-t px-4 py-2 text-tiny text-muted">
          Only the newest {MOST_LINES} status changes are shown.
        </p>
      )}
    </Panel>
  );
}

function Chart({ model, lines, isPast }: { model: RunModel; lines: readonly EventLine[]; isPast: boolean }) {
  const frame = useRef<HTMLDivElement>(null);
  const width = Math.max(LEAST_WIDTH, useWidth(frame) - 1);
  // Every ten seconds is enough for growing bars.
  const now = Math.floor(useNow() / 10_000) * 10_000;
  const timeline = useMemo(() => timelineOf(lines, model.tickets), [lines, model.tickets]);
  const axis = useMemo(() => layoutAxis(timelineAxis(timeline, now), now, width), [timeline, now, width]);
  const scroller = useRef<HTMLElement>(null);
  useShowEnd(scroller, axis.nowX !== null, width);
  if (timeline.rows.length === 0 && timeline.waves.length === 0)
    return <p className="p-4 text-small text-muted">No agent has started yet.</p>;
  const waves = Map.groupBy(timeline.waves, ({ wave }) => wave);
  const height = waves.size * WAVE_ROW + timeline.rows.length * ROW + 8;
  const positionOf = (from: number, to: number | null) => {
    const left = axis.xOf(from);
    return { left, width: Math.max(4, axis.xOf(to ?? now) - left) };
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls must be reachable by keyboard.
    <section
      ref={scroller}
      aria-label="Timeline of the run"
      tabIndex={0}
      className="flex max-h-[32rem] overflow-auto"
    >
      <div className="sticky left-0 z-10 h-fit w-28 shrink-0 border-line border-r bg-surface pt-1 max-wide:w-22">
        {[...waves.keys()].map((wave) => (
          <div
            key={wave}
            style={{ height: WAVE_ROW }}
            className="flex items-center pl-4 text-tiny font-medium text-ink max-wide:pl-3"
          >
            Wave {wave}
          </div>
        ))}
        {timeline.rows.map(({ ticket }) => (
          <div key={ticket} style={{ height: ROW }} className="flex items-center pl-4 max-wide:pl-3">
            <Link
              to="/tickets/$ticket"
              params={{ ticket }}
              search={{ run: model.orchestrator }}
              className="truncate font-mono text-tiny text-text underline decoration-line-strong underline-offset-2"
            >
              {ticket}
            </Link>
          </div>
        ))}
        <div style={{ height: AXIS_HEIGHT }} />
      </div>
      <div ref={frame} className="min-w-0 flex-1 px-2 pt-1">
        <div className="relative" style={{ width, height: height + AXIS_HEIGHT }}>
          <AxisMarks axis={axis} height={height} />
          {[...waves.values()].map((bars, index) =>
            bars.map((bar) => (
              <Wave
                key={bar.seq}
                bar={bar}
                now={now}
                style={{ ...positionOf(bar.from, bar.to), top: index * WAVE_ROW + 7 }}
              />
            )),
          )}
          {timeline.rows.map(({ ticket, bars }, index) =>
            bars.map((bar) => (
              <Status
                key={`${ticket}${bar.from}${bar.status}`}
                ticket={ticket}
                bar={bar}
                now={now}
                style={{ ...positionOf(bar.from, bar.to), top: waves.size * WAVE_ROW + index * ROW + 8 }}
              />
            )),
          )}
          <NowLine
            x={model.endedAt === null ? axis.nowX : null}
            height={height}
            width={width}
            words={isPast ? 'then' : 'now'}
          />
        </div>
      </div>
    </section>
  );
}

type Placed = { left: number; width: number; top: number };

function Status({ ticket, bar, now, style }: { ticket: string; bar: StatusBar; now: number; style: Placed }) {
  const meaning = statusMeaning(bar.status);
  const words = `${ticket}: ${statusWords(bar.status)}, ${spanWords(bar, now)}`;
  return (
    <Tip note={words}>
      <Link
        to="/events"
        search={{ seq: String(bar.seq) }}
        aria-label={`${words}. Opens event ${bar.seq}`}
        className={classNames(
          'absolute h-2 border-surface border-r',
          meaning === 'unknown' ? 'border border-unknown-mark border-dashed' : markOf[meaning],
          // The steps of the agent's own work have different shades, in their order.
          shades[bar.status],
        )}
        style={style}
      />
    </Tip>
  );
}

const shades: Record<string, string> = {
  dispatched: 'opacity-30',
  researching: 'opacity-45',
  planning: 'opacity-60',
  implementing: 'opacity-100',
  validating: 'opacity-75',
  shipping: 'opacity-60',
};

function Wave({ bar, now, style }: { bar: WaveBar; now: number; style: Placed }) {
  const { meaning, words } = waveLabel(bar.state);
  const text = `Wave ${bar.wave}: ${words.toLowerCase()}, ${spanWords(bar, now)}`;
  return (
    <Tip note={text}>
      <Link
        to="/events"
        search={{ seq: String(bar.seq) }}
        aria-label={`${text}. Opens event ${bar.seq}`}
        className={classNames('absolute h-4 rounded-xs border', waveClasses[meaning])}
        style={style}
      />
    </Tip>
  );
}

const waveClasses = {
  motion: 'bg-motion-soft border-motion-mark',
  you: 'bg-you-soft border-you-mark',
  broken: 'bg-broken-soft border-broken-mark',
  proven: 'bg-proven-soft border-proven-mark',
  review: 'bg-review-soft border-review-mark',
  unknown: 'bg-unknown-soft border-unknown-mark border-dashed',
};

function spanWords({ from, to }: { from: number; to: number | null }, now: number): string {
  if (to === from) return `at ${clockWords(from, now)}`;
  return `${clockWords(from, now)} to ${to === null ? 'now' : clockWords(to, now)}, ${durationWords((to ?? now) - from)}`;
}

// The time of a run's workers in each status, from the events. The status on the board replaces the last reported one,
// because the two may differ.

type StatusBar = { status: string; from: number; to: number | null; seq: number };
type TimelineRow = { ticket: string; bars: StatusBar[] };
type WaveBar = { wave: number; state: string; from: number; to: number | null; seq: number };
export type Timeline = { rows: TimelineRow[]; waves: WaveBar[] };

const ended: readonly string[] = ['done', 'failed', 'canceled'];

/** `lines` oldest first; other topics are ignored. */
export function timelineOf(lines: readonly EventLine[], tickets: readonly RunTicket[]): Timeline {
  const reported = new Map<string, StatusBar[]>();
  const waves: WaveBar[] = [];
  for (const line of lines) {
    if (line.event.startsWith('orchestrator.wave.')) addWave(waves, line);
    const status = statusIn(line);
    const { ticket } = line.scope;
    if (status === null || ticket === undefined) continue;
    const bars = reported.get(ticket) ?? [];
    reported.set(ticket, bars);
    addBar(bars, { status, from: timeOf(line), to: null, seq: line.seq });
  }
  const rows = tickets.flatMap((one): TimelineRow[] => {
    const bars = reported.get(one.ticket) ?? [];
    applyBoardStatus(bars, one);
    const last = bars.at(-1);
    // A final status has no duration.
    if (last !== undefined && ended.includes(last.status)) last.to = last.from;
    return bars.length === 0 ? [] : [{ ticket: one.ticket, bars }];
  });
  return { rows, waves };
}

function statusIn({ event, detail }: EventLine): string | null {
  if (event === 'orchestrator.worker.dispatched') return 'dispatched';
  if (event !== 'orchestrator.worker.status_changed') return null;
  const { to } = detail;
  return typeof to === 'string' ? to : null;
}

function addBar(bars: StatusBar[], bar: StatusBar): void {
  const last = bars.at(-1);
  if (last?.status === bar.status) return;
  if (last !== undefined) last.to = Math.max(bar.from, last.from);
  bars.push(bar);
}

function applyBoardStatus(bars: StatusBar[], { status, since, worker }: RunTicket): void {
  if (status === null || since === null) return;
  const from = Date.parse(since);
  const last = bars.at(-1);
  if (last === undefined || last.status === status) {
    if (last === undefined) bars.push({ status, from, to: null, seq: worker?.statusSeq ?? 0 });
    return;
  }
  // The board does not accept what the signal file reported from here on.
  while (bars.length > 0 && (bars.at(-1)?.from ?? 0) >= from) bars.pop();
  addBar(bars, { status, from, to: null, seq: worker?.statusSeq ?? last.seq });
  const current = bars.at(-1);
  if (current !== undefined) current.to = null;
}

function addWave(waves: WaveBar[], line: EventLine): void {
  const { wave } = line.detail as { wave?: unknown };
  if (typeof wave !== 'number') return;
  const from = timeOf(line);
  const state = line.event.slice('orchestrator.wave.'.length);
  const open = waves.findLast((bar) => bar.wave === wave && bar.to === null);
  if (open !== undefined) {
    if (open.state === state) return;
    open.to = from;
  }
  if (state === 'completed') {
    if (open === undefined) waves.push({ wave, state, from, to: from, seq: line.seq });
    else waves.splice(waves.indexOf(open), 1, { ...open, state, to: from });
  } else waves.push({ wave, state, from, to: null, seq: line.seq });
}

/** When it happened, if known. */
function timeOf({ occurredAt, ts }: EventLine): number {
  const time = Date.parse(occurredAt ?? ts);
  return Number.isFinite(time) ? time : Date.parse(ts);
}
