// The recorded day that `svc demo` plays: day.jsonl, one record per line, in order of time. `at` counts minutes from
// 8:00, and the times inside a record are written as if the day were 5 January 2026, in UTC. A caller opens the day at
// a minute and gets records with shifted times.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SignalFile, WorkerStatus } from '@svc/contract/signal-file';
import type { EventFields } from 'svc-monitor/src/kernel/log/event-line.ts';

/** Minutes of the day: the demo starts at 9:00 and ends at 17:30. */
export const DAY_BEGINS = 60;
export const DAY_ENDS = 570;
/** The ticket whose deployments all failed: it waits for the user. */
export const WAITS_FOR_YOU = 'TID-106';

const RECORDED_EIGHT = Date.UTC(2026, 0, 5, 8);
const recordedTime = /^2026-01-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/;
/** Placeholder for a process that runs as long as the day is played. */
const RUNNING_PID = '$pid';

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
      /** Output of an agent: lines of its stream file. */
      | ({ kind: 'output'; lines: readonly object[] } & OfWorker)
      /** The process of a worker ended. A running daemon detects that itself. */
      | ({ kind: 'died' } & OfWorker)
      /** An event that the orchestrator reports. */
      | ({ kind: 'report' } & Line)
      /** An event of the daemon itself, for the past. A running daemon writes its own. */
      | ({ kind: 'daemon' } & Line)
      /** The text that the demo prints at that minute, and the states that the board then shows. */
      | { kind: 'scene'; text: string; shows: Readonly<Record<string, WorkerStatus>> }
    ));

/** `decision.jsonl` is what follows the user's decision about `WAITS_FOR_YOU`: minute 0 is the decision. */
export function readRecords(name: 'day.jsonl' | 'decision.jsonl'): DayRecord[] {
  // Next to this file, also in a build.
  const text = readFileSync(join(import.meta.dirname, name), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as DayRecord);
}

export type Day = {
  records: readonly DayRecord[];
  /** Records up to this minute are past. */
  nowIs: number;
  timeOf: (minute: number) => Date;
  /** Plays everything after `nowIs` from the time `from` on, at `msPerMinute` per minute of the day. */
  goLive: (from: number, msPerMinute: number) => void;
  /** The record with its times shifted to `at`; by default, to its own minute. */
  dated: <T extends DayRecord>(record: T, at?: Date) => T;
};

/** `nowIs` is the minute of the day at `now`, `pid` a process that runs as long as the day is played. */
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
      /** Times after the record keep their distance, however fast the day is played. */
      const shift = (recorded: number): Date =>
        recorded >= happened
          ? new Date(at.getTime() + recorded - happened)
          : timeOf((recorded - RECORDED_EIGHT) / 60_000);
      return withTimes(record, shift, pid) as typeof record;
    },
  };
}

/** Times are text, milliseconds or, in some payloads of the code host, seconds. */
function withTimes(value: unknown, shift: (recorded: number) => Date, pid: number): unknown {
  if (value === RUNNING_PID) return pid;
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

/** The length of a minute if the demo takes `lengthMs`. */
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
