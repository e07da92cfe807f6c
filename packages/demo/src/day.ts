// The day that `svc demo` plays, as it was recorded: day.jsonl, one record a line, in the order of time. Nothing in it
// belongs to a moment: `at` counts minutes from eight in the morning, and the times inside a record are written as if
// the day were 5 January 2026, in UTC. Whoever plays it opens it at a minute and gets records with shifted times.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventFields, SignalFile, WorkerStatus } from '@svc/core';

/** Minutes of the day: the demo starts at nine and ends at half past five. */
export const DAY_BEGINS = 60;
export const DAY_ENDS = 570;
/** The ticket whose deployments all failed: it waits for the person at the screen. */
export const WAITS_FOR_YOU = 'TID-106';

const RECORDED_EIGHT = Date.UTC(2026, 0, 5, 8);
const recordedTime = /^2026-01-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/;
/** Stands for a process that lives as long as the day is played. */
const LIVING_PID = '$pid';

type JsonObject = { [name: string]: unknown };

type Line = Pick<EventFields, 'event' | 'scope' | 'detail'>;
type OfWorker = { orchestrator: string; ticket: string };

/** A webhook. `found`: no webhook arrived, and polling found the change. */
export type Delivery = {
  at: number;
  kind: 'codehost' | 'tracker';
  type: string;
  payload: JsonObject;
  found?: true;
};

export type DayRecord =
  | Delivery
  | ({ at: number } & (
      | /** A change of a signal file; see `patchedSignal`. */
      ({ kind: 'signal'; patch: Partial<SignalFile> } & OfWorker)
      /** What an agent prints: lines of its stream file. */
      | ({ kind: 'output'; lines: readonly object[] } & OfWorker)
      /** The process of a worker ended. A running daemon notices that by itself. */
      | ({ kind: 'died' } & OfWorker)
      /** A line that the orchestrator reports. */
      | ({ kind: 'report' } & Line)
      /** A line of the daemon itself, for the past. A running daemon writes its own. */
      | ({ kind: 'daemon' } & Line)
      /** What the demo prints at that minute, and the state that the board then shows. */
      | { kind: 'scene'; says: string; shows: Readonly<Record<string, WorkerStatus>> }
    ));

/** `decision.jsonl` is what follows when the person decides about `WAITS_FOR_YOU`: minute 0 is the decision. */
export function readRecords(name: 'day.jsonl' | 'decision.jsonl'): DayRecord[] {
  // Beside this file, in a build too.
  const text = readFileSync(join(import.meta.dirname, name), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as DayRecord);
}

export type Day = {
  records: readonly DayRecord[];
  /** The minute up to which it is past. */
  nowIs: number;
  timeOf: (minute: number) => Date;
  /** Everything after `nowIs` happens from `from` on, a minute of the day in so many milliseconds. */
  goLive: (from: number, msPerMinute: number) => void;
  /** The record as it is when it happens at `at`; by default, at its own minute. */
  dated: <T extends DayRecord>(record: T, at?: Date) => T;
};

/** `nowIs` is the minute of the day that `now` stands for, `pid` a process that lives as long as the day is played. */
export function openDay(given: {
  records?: readonly DayRecord[];
  now: Date;
  nowIs: number;
  pid: number;
}): Day {
  const { records = readRecords('day.jsonl'), now, nowIs, pid } = given;
  const live = { from: now.getTime(), msPerMinute: 0 };

  function timeOf(minute: number): Date {
    const isPast = minute <= nowIs;
    const from = isPast ? now.getTime() : live.from;
    return new Date(Math.round(from + (minute - nowIs) * (isPast ? 60_000 : live.msPerMinute)));
  }

  return {
    records,
    nowIs,
    timeOf,
    goLive(from, msPerMinute) {
      live.from = from;
      live.msPerMinute = msPerMinute;
    },
    dated(record, at = timeOf(record.at)) {
      const happened = RECORDED_EIGHT + Math.round(record.at * 60_000);
      /** What lies ahead of the record keeps its distance, however fast the day is played. */
      const shift = (recorded: number): Date =>
        recorded >= happened
          ? new Date(at.getTime() + recorded - happened)
          : timeOf((recorded - RECORDED_EIGHT) / 60_000);
      return withTimes(record, shift, pid) as typeof record;
    },
  };
}

/** Times are text, milliseconds, or, as the code host writes some, seconds. */
function withTimes(value: unknown, shift: (recorded: number) => Date, pid: number): unknown {
  if (value === LIVING_PID) return pid;
  if (typeof value === 'number') {
    if (value > 1e12) return shift(value).getTime();
    return value > 1.7e9 ? Math.floor(shift(value * 1_000).getTime() / 1_000) : value;
  }
  if (typeof value === 'string') {
    const [time, fraction] = recordedTime.exec(value) ?? [];
    if (time === undefined) return value;
    const shifted = shift(Date.parse(time)).toISOString();
    return fraction === undefined ? `${shifted.slice(0, 19)}Z` : shifted;
  }
  if (Array.isArray(value)) return value.map((item) => withTimes(item, shift, pid));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, withTimes(field, shift, pid)]),
  );
}

/** How long a minute takes when the demo takes `lengthMs`. */
export function msPerMinuteOf(lengthMs: number): number {
  return lengthMs / (DAY_ENDS - DAY_BEGINS);
}

/** `clockText(97.2)` is `09:37`. */
export function clockText(minute: number): string {
  const whole = Math.floor(minute) + 8 * 60;
  return `${twoDigits(Math.floor(whole / 60))}:${twoDigits(whole % 60)}`;
}

function twoDigits(part: number): string {
  return String(part).padStart(2, '0');
}
