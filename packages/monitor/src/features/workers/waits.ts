// How long an agent has waited for people, over all its attempts: kept as a sum with the newest days, so a wait that has
// ended still counts, and a worker never grows with the number of its questions.
import type { Waited } from './agent-fields.ts';

const DAY_MS = 86_400_000;
const MOST_DAYS = 7;
export const neverWaited: Waited = { since: null, ms: 0, days: [] };

/** The reasons for which an agent does nothing until a person acts. */
const waits: ReadonlySet<string> = new Set([
  'agent-needs-permission',
  'agent-needs-input',
  'agent-stopped',
  'agent-limit',
]);

/** `raised`: what its worker needs a person for, from the event of the time `at` on. */
export function waitedAfter(before: Waited, raised: readonly string[], at: string): Waited {
  const isWaiting = raised.some((reason) => waits.has(reason));
  if (isWaiting === (before.since !== null)) return before;
  if (before.since === null) return { ...before, since: at };
  const [from, to] = [Date.parse(before.since), Date.parse(at)];
  return { since: null, ms: before.ms + Math.max(0, to - from), days: withDays(before.days, from, to) };
}

function withDays(before: Waited['days'], from: number, to: number): Waited['days'] {
  const days = new Map(before.map(({ day, ms }) => [day, ms]));
  for (let start = Math.max(from, to - MOST_DAYS * DAY_MS); start < to; ) {
    const next = (Math.floor(start / DAY_MS) + 1) * DAY_MS;
    const day = dayOf(start);
    days.set(day, (days.get(day) ?? 0) + Math.min(next, to) - start);
    start = next;
  }
  return [...days].map(([day, ms]) => ({ day, ms })).slice(-MOST_DAYS);
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Until now, the wait that has not ended included. */
export function msWaited({ since, ms }: Waited, now: number): number {
  return ms + (since === null ? 0 : Math.max(0, now - Date.parse(since)));
}

/** On the day (UTC) of `now`. */
export function msWaitedToday({ since, days }: Waited, now: number): number {
  const ended = days.find(({ day }) => day === dayOf(now))?.ms ?? 0;
  if (since === null) return ended;
  const midnight = Math.floor(now / DAY_MS) * DAY_MS;
  return ended + Math.max(0, now - Math.max(Date.parse(since), midnight));
}
