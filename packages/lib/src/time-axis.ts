// A time axis: times without any event are folded, so nights take little space.

type Span = { start: string; end: string | null };

/** A longer time without an event is idle. */
const IDLE_MS = 3 * 3_600_000;
/** The largest share of the axis that all folded segments take together. */
const MOST_FOLDED = 0.5;

/** Segments are adjacent and cover the whole axis. */
export type AxisSegment = { from: string; to: string; folded: boolean };

/** `moments`: times of other events, which are not idle either. Running spans reach until `now`. */
export function foldIdle(
  spans: readonly Span[],
  now: number,
  moments: readonly string[] = [],
): AxisSegment[] {
  const times = momentsOn(spans, now, moments);
  const [first] = times;
  const last = times.at(-1);
  if (first === undefined || last === undefined) return [];
  const segments: AxisSegment[] = [];
  let from = first;
  const add = (to: number, folded: boolean): void => {
    if (to > from || (segments.length === 0 && to === last))
      segments.push({ from: new Date(from).toISOString(), to: new Date(to).toISOString(), folded });
    from = to;
  };
  for (const [index, time] of times.entries()) {
    const before = times[index - 1] ?? time;
    if (time - before <= IDLE_MS) continue;
    add(before, false);
    add(time, true);
  }
  add(last, false);
  return segments;
}

function momentsOn(spans: readonly Span[], now: number, moments: readonly string[]): number[] {
  const starts = spans.map(({ start }) => Date.parse(start));
  const begin = Math.min(...starts);
  const ends = spans.map(({ start, end }) =>
    end === null ? Math.max(now, Date.parse(start)) : Date.parse(end),
  );
  const finish = Math.max(...ends);
  const others = moments.map((moment) => Date.parse(moment));
  // An event outside all spans does not extend the axis.
  const inside = [...starts, ...ends, ...others].filter((time) => time >= begin && time <= finish);
  return inside.toSorted((a, b) => a - b);
}

/**
 * The position of a time on the axis, from 0 to 1. Each folded segment takes the same small share; the others share the
 * rest in proportion to their duration.
 *
 *     const x = axisScale(trace.axis); x(Date.parse(span.start)) * width
 */
export function axisScale(axis: readonly AxisSegment[], foldedShare = 0.03): (time: number) => number {
  const parts = axis.map(({ from, to, folded }) => ({ from: Date.parse(from), to: Date.parse(to), folded }));
  const folded = parts.filter((part) => part.folded).length;
  const open = parts.reduce((sum, part) => sum + (part.folded ? 0 : part.to - part.from), 0);
  const isAllFolded = open === 0;
  const share = folded === 0 ? 0 : isAllFolded ? 1 / folded : Math.min(foldedShare, MOST_FOLDED / folded);
  const perMs = isAllFolded ? 0 : (1 - share * folded) / open;
  let at = 0;
  const placed = parts.map((part) => {
    const width = part.folded ? share : (part.to - part.from) * perMs;
    const begin = at;
    at += width;
    return { ...part, begin, width };
  });
  return (time) => {
    const part = placed.find(({ to }) => time <= to) ?? placed.at(-1);
    if (part === undefined) return 0;
    const length = part.to - part.from;
    const along = length === 0 ? 0 : Math.min(1, Math.max(0, (time - part.from) / length));
    return Math.min(1, part.begin + along * part.width);
  };
}
