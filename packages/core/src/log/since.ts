// A starting point in the log as a person writes it: a seq, a time, or how long ago.
export type Since = { seq: number } | { time: number };

const units: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** `1234` is a seq (lines after it), `2026-01-02T03:04:05Z` a time, `90s`, `15m`, `2h`, `3d` a while ago. */
export function parseSince(text: string, now: number): Since | undefined {
  if (/^\d{1,15}$/.test(text)) return { seq: Number(text) };
  const ago = durationMs(text);
  if (ago !== undefined) return { time: now - ago };
  const isDate = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?)?$/.test(text);
  const time = isDate ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : { time };
}

/** `90s`, `15m`, `2h`, `3d`, `1w` in milliseconds; undefined for anything else. */
export function durationMs(text: string): number | undefined {
  const match = /^(\d{1,9})(s|m|h|d|w)$/.exec(text);
  const unit = units[match?.[2] ?? ''];
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}
