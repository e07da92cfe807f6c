// Counts the lines that match a query, over time and by topic family, from the index alone: no line is read. A block
// inside one bucket is counted by its postings. For a block that a bucket border cuts, or of which only some lines
// count, the time and family of each line are looked up and cached. Newest blocks first, yielding to other work in
// between, and for a limited time.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventCounts } from './event-counts.ts';
import { type EventFamily, eventFamilies, familyOf } from './event-families.ts';
import { blocksToVisit, conditionsOf, isInRange, type LineQuery, meeting, rangeOf } from './find-lines.ts';
import { type BlockLines, term, timeAt } from './index-block.ts';
import type { BlockSpan, IndexStore, LineRange, SeqRange } from './index-store.ts';
import type { LogIndex } from './log-index.ts';

export type CountQuery = Omit<LineQuery, 'order' | 'limit'> & {
  /** Start of the first bucket and end of the last. */
  from: number;
  to: number;
  buckets: number;
};

/** Work before it yields to the event loop, and in total. */
const YIELD_AFTER_MS = 5;
const ENOUGH_MS = 2_000;

/** Blocks whose sketch is cached, 20 KB each. */
const MOST_KEPT = 512;
const NO_FAMILY = eventFamilies.length;

type FamilyTerms = readonly { family: number; term: number }[];
/** When each line of a block was accepted, relative to `firstTime`, and its family. */
type Sketch = { firstTime: number; times: Uint32Array; families: Uint8Array };

export function createLineCounter({ enoughMs = ENOUGH_MS }: { enoughMs?: number } = {}) {
  /** A rebuilt index has other blocks. */
  const sketches = new WeakMap<IndexStore, Map<number, Sketch>>();

  function sketchOf({ store }: LogIndex, firstSeq: number, families: FamilyTerms): Sketch | null {
    const kept = sketches.get(store) ?? new Map<number, Sketch>();
    sketches.set(store, kept);
    const known = kept.get(firstSeq);
    kept.delete(firstSeq);
    const lines = known === undefined ? store.blockOf(firstSeq) : null;
    const sketch = known ?? (lines && sketched(lines, families, store.eachPosition));
    if (sketch === null) return null;
    kept.set(firstSeq, sketch);
    const [oldest] = kept.keys();
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
    return sketch;
  }

  return async function countLines(index: LogIndex, query: CountQuery): Promise<EventCounts> {
    const { from, to } = query;
    const bucketMs = Math.max(1, Math.ceil((to - from) / query.buckets));
    const counts = Array.from({ length: query.buckets }, () => new Uint32Array(NO_FAMILY + 1));
    const bucketOf = (time: number): number =>
      Math.min(query.buckets - 1, Math.max(0, Math.floor((time - from) / bucketMs)));
    const add = ({ firstTime, times, families }: Sketch, positions: Iterable<number>): void => {
      for (const position of positions) {
        const bucket = counts[bucketOf(firstTime + (times[position] ?? 0))];
        const family = families[position] ?? NO_FAMILY;
        if (bucket !== undefined) bucket[family] = (bucket[family] ?? 0) + 1;
      }
    };
    const conditions = conditionsOf(index, query);
    const range = rangeOf(index, query);
    const indexedTo = index.lastSeq();
    const families = familyTerms(index);
    const isNone = range.low > range.high || conditions.some((terms) => terms.length === 0);
    const open = index.openBlock();
    if (!isNone && open !== null && open.lines.count > 0) {
      const positionsOf = (name: number): readonly number[] => open.terms.get(name) ?? [];
      const sketch = sketched(open.lines, families, (name, _, visit) => positionsOf(name).forEach(visit));
      add(sketch, inRange(open.lines, meeting(conditions, open.lines.count, positionsOf), range));
    }

    function addStored(span: BlockSpan): void {
      const { firstSeq, lastSeq, count } = span;
      const isWhole =
        firstSeq >= range.low &&
        lastSeq <= range.high &&
        span.firstTime >= range.from &&
        span.lastTime < range.before;
      const bucket = bucketOf(span.firstTime);
      if (conditions.length === 0 && isWhole && bucket === bucketOf(span.lastTime))
        return addBlock(counts[bucket], span, families, (name) => index.store.countOf(name, firstSeq));
      const found = meeting(conditions, count, (name) => index.store.positions(name, firstSeq));
      const sketch = found.length === 0 ? null : sketchOf(index, firstSeq, families);
      if (sketch === null) return;
      const lines = isWhole ? null : index.store.blockOf(firstSeq);
      add(sketch, lines === null ? found : inRange(lines, found, range));
    }

    const began = performance.now();
    let sliceBegan = began;
    let complete = true;
    for (const span of isNone ? [] : spansToVisit(index, conditions, range)) {
      addStored(span);
      const now = performance.now();
      if (now - began > enoughMs) {
        complete = false;
        break;
      }
      if (now - sliceBegan < YIELD_AFTER_MS) continue;
      await nextTurn();
      sliceBegan = performance.now();
    }

    const buckets = counts.map((byFamily, number) => ({
      at: new Date(from + number * bucketMs).toISOString(),
      count: byFamily.reduce((sum, count) => sum + count, 0),
      families: namedCounts(byFamily),
    }));
    return {
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      bucketMs,
      total: buckets.reduce((sum, { count }) => sum + count, 0),
      buckets,
      indexedTo,
      complete,
    };
  };
}

function sketched(
  lines: BlockLines,
  families: FamilyTerms,
  eachPosition: (name: number, firstSeq: number, visit: (position: number) => void) => void,
): Sketch {
  const familyAt = new Uint8Array(lines.count).fill(NO_FAMILY);
  for (const { family, term: name } of families)
    eachPosition(name, lines.firstSeq, (position) => {
      familyAt[position] = family;
    });
  const times = Uint32Array.from(
    { length: lines.count },
    (_, index) => timeAt(lines, index) - lines.firstTime,
  );
  return { firstTime: lines.firstTime, times, families: familyAt };
}

function inRange(lines: BlockLines, positions: readonly number[], range: LineRange): number[] {
  return positions.filter((position) => isInRange(lines, position, range));
}

function spansToVisit(index: LogIndex, conditions: number[][], range: SeqRange): BlockSpan[] {
  const open = index.openBlock();
  const stored = { low: range.low, high: Math.min(range.high, (open?.lines.firstSeq ?? Infinity) - 1) };
  if (stored.low > stored.high) return [];
  const spans = index.store.spansIn(stored);
  if (conditions.length === 0) return spans.toReversed();
  const wanted = new Set(blocksToVisit(index, conditions, stored));
  return spans.filter(({ firstSeq }) => wanted.has(firstSeq)).toReversed();
}

/** The last count is for topics without a family. */
function familyTerms(index: LogIndex): FamilyTerms {
  return index.topics().flatMap((topic) => {
    const family = familyOf(topic);
    return family === undefined
      ? []
      : [{ family: eventFamilies.indexOf(family), term: term('topic', topic) }];
  });
}

function addBlock(
  counts: Uint32Array | undefined,
  { count }: BlockSpan,
  families: FamilyTerms,
  countOf: (name: number) => number,
): void {
  if (counts === undefined) return;
  let known = 0;
  for (const { family, term: name } of families) {
    const found = countOf(name);
    counts[family] = (counts[family] ?? 0) + found;
    known += found;
  }
  counts[NO_FAMILY] = (counts[NO_FAMILY] ?? 0) + Math.max(0, count - known);
}

function namedCounts(byFamily: Uint32Array): Partial<Record<EventFamily, number>> {
  return Object.fromEntries(
    eventFamilies.flatMap((family, index) => {
      const count = byFamily[index] ?? 0;
      return count === 0 ? [] : [[family, count]];
    }),
  );
}
