// Formats times, short for lists and exact for tooltips; and below, counts and sizes.
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long something took or has lasted: `4 min`, `2 h 10 min`, `3 d`. */
export function durationWords(milliseconds: number): string {
  const ms = Math.max(0, milliseconds);
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${Math.floor(ms / 1_000)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms >= 2 * DAY) return `${Math.floor(ms / DAY)} d`;
  const minutes = Math.floor((ms % HOUR) / MINUTE);
  const hours = Math.floor(ms / HOUR);
  return minutes === 0 || hours >= 10 ? `${hours} h` : `${hours} h ${minutes} min`;
}

/** How long somebody waited: `0 min` for not at all. */
export function waitedWords(ms: number): string {
  return ms < 1_000 ? '0 min' : durationWords(ms);
}

/** `14:05`, with the date if it is not the same day as `now`. */
export function clockWords(time: number, now: number): string {
  const date = new Date(time);
  const clock = date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  if (date.toDateString() === new Date(now).toDateString()) return clock;
  return `${date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })}, ${clock}`;
}

/** For texts that say when something happens. */
export function clockFromNow(time: string): string {
  return clockWords(Date.parse(time), Date.now());
}

/** Local and UTC with seconds, for tooltips. */
export function exactWords(time: number): string {
  const date = new Date(time);
  return `${date.toLocaleString('en-GB')} (${date.toISOString().slice(0, 19).replace('T', ' ')} UTC)`;
}

// Token counts and file sizes. An unknown amount is "unknown", never 0.

/** `340`, `12.4 k`, `1.2 M`. */
export function countWords(count: number | null | undefined): string {
  if (count === null || count === undefined) return 'unknown';
  if (count < 1_000) return String(count);
  if (count < 999_500) return `${short(count / 1_000)} k`;
  return `${short(count / 1_000_000)} M`;
}

function short(value: number): string {
  return value < 100 ? value.toFixed(1).replace(/\.0$/, '') : String(Math.round(value));
}

/** Bytes in units of 1024: `812 B`, `1.4 MiB`. */
export function sizeWords(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let size = bytes;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}
