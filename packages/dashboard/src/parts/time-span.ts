// A stretch of time that ends now, and places on it. Shares run from 0 (its begin) to 1 (now).
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

export type SpanName = '24h' | '7d';
export type TimeSpan = { from: number; to: number; step: number };

/** `step` is what an arrow key moves by. */
const lengths: Record<SpanName, { length: number; step: number }> = {
  '24h': { length: 24 * HOUR, step: 5 * MINUTE },
  '7d': { length: 7 * 24 * HOUR, step: 30 * MINUTE },
};

export function spanOf(name: SpanName, now: number): TimeSpan {
  const { length, step } = lengths[name];
  return { from: now - length, to: now, step };
}

/** The shortest span that holds the time. */
export function spanFor(time: number, now: number): SpanName {
  return now - time <= lengths['24h'].length ? '24h' : '7d';
}

export function shareOf(time: number, { from, to }: TimeSpan): number {
  return Math.min(1, Math.max(0, (time - from) / (to - from)));
}

/** Null is now: the end is not a moment of the past. */
export function timeAt(share: number, { from, to, step }: TimeSpan): number | null {
  const time = from + Math.min(1, Math.max(0, share)) * (to - from);
  return time > to - step / 2 ? null : time;
}

/** Where a key leads from a time; undefined for a key that leads nowhere. */
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
