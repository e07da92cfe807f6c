// Formats times: short for lists, exact for tooltips.
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

/** `14:05`, with the date if it is not the same day as `now`. */
export function clockWords(time: number, now: number): string {
  const date = new Date(time);
  const clock = date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  if (date.toDateString() === new Date(now).toDateString()) return clock;
  return `${date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })}, ${clock}`;
}

/** Local and UTC with seconds, for tooltips. */
export function exactWords(time: number): string {
  const date = new Date(time);
  return `${date.toLocaleString('en-GB')} (${date.toISOString().slice(0, 19).replace('T', ' ')} UTC)`;
}
