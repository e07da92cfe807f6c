// Answers a query from the index: which lines, newest or oldest first, a page at a time. A query is a list of conditions
// that must all hold; a condition holds when a line has any of its terms.
import type { EventFilter, Since } from './event-filter.ts';
import {
  BLOCK_LINES,
  type BlockLines,
  locationAt,
  pullRequestTerm,
  seqAt,
  term,
  timeAt,
} from './index-block.ts';
import type { LineRange, SeqRange } from './index-store.ts';
import type { LogIndex } from './log-index.ts';
import type { LineLocation } from './read-lines.ts';

export type LineQuery = EventFilter & {
  /** After this line, or at this time or later. */
  since?: Since | undefined;
  /** Before this line, or before this time. */
  until?: Since | undefined;
  order?: 'newest-first' | 'oldest-first' | undefined;
  limit?: number | undefined;
};

/** Above this many blocks it is cheaper to scan all blocks in order than to list those with a term. */
const FEW_BLOCKS = 256;

/** Locations of lines that match the query, in its order. Terms are hashes, so the caller checks each line it reads. */
export function* findLines(index: LogIndex, query: LineQuery): Generator<LineLocation> {
  const range = rangeOf(index, query);
  const conditions = conditionsOf(index, query);
  if (range.low > range.high || conditions.some((terms) => terms.length === 0)) return;
  if (query.order === 'oldest-first') {
    yield* inStore(index, conditions, range, false);
    yield* inOpenBlock(index, conditions, range, false);
  } else {
    yield* inOpenBlock(index, conditions, range, true);
    yield* inStore(index, conditions, range, true);
  }
}

/** Each condition as the list of terms of which a line must have one. */
export function conditionsOf(index: LogIndex, query: LineQuery): number[][] {
  const conditions: number[][] = [];
  const { topics } = query;
  if (topics !== undefined) {
    const known = index.topics().filter((topic) => topics.has(topic));
    conditions.push(known.map((topic) => term('topic', topic)));
  }
  if (query.pr !== undefined) conditions.push([pullRequestTerm(query.pr, query.repo)]);
  else if (query.repo !== undefined) conditions.push([term('repo', query.repo)]);
  if (query.ticket !== undefined) conditions.push([term('ticket', query.ticket)]);
  if (query.sha !== undefined) conditions.push([term('sha', query.sha)]);
  if (query.orchestrator !== undefined) conditions.push([term('orchestrator', query.orchestrator)]);
  if (query.worker !== undefined) conditions.push([term('worker', query.worker)]);
  if (query.deploymentId !== undefined) conditions.push([term('deployment', String(query.deploymentId))]);
  return conditions;
}

/** A time is compared with each line's own time: after the clock was ahead, times are not in order. */
export function rangeOf(index: LogIndex, { since, until }: LineQuery): LineRange {
  const range = { low: 1, high: index.lastSeq(), from: -Infinity, before: Infinity };
  if (since !== undefined && 'seq' in since) range.low = since.seq + 1;
  else if (since !== undefined) {
    range.low = index.firstSeqFrom(since.time);
    range.from = since.time;
  }
  if (until !== undefined && 'seq' in until) range.high = Math.min(range.high, until.seq - 1);
  else if (until !== undefined) {
    range.high = index.lastSeqBefore(until.time);
    range.before = until.time;
  }
  return range;
}

export function isInRange(lines: BlockLines, position: number, range: LineRange): boolean {
  const seq = seqAt(lines, position);
  const time = timeAt(lines, position);
  return seq >= range.low && seq <= range.high && time >= range.from && time < range.before;
}

function* inOpenBlock(index: LogIndex, conditions: number[][], range: LineRange, newestFirst: boolean) {
  const block = index.openBlock();
  if (block === null) return;
  const positions = meeting(conditions, block.lines.count, (name) => block.terms.get(name) ?? []);
  yield* locations(block.lines, positions, range, newestFirst);
}

function* inStore(index: LogIndex, conditions: number[][], range: LineRange, newestFirst: boolean) {
  const { store } = index;
  const open = index.openBlock();
  const stored = { ...range, high: Math.min(range.high, (open?.lines.firstSeq ?? Infinity) - 1) };
  if (stored.low > stored.high) return;
  const blocks = blocksToVisit(index, conditions, stored).toSorted((left, right) => left - right);
  for (const firstSeq of newestFirst ? blocks.toReversed() : blocks) {
    const lines = conditions.length === 0 ? store.blockOf(firstSeq) : null;
    const positions = meeting(conditions, lines?.count ?? 0, (name) => store.positions(name, firstSeq));
    if (positions.length === 0) continue;
    const found = lines ?? store.blockOf(firstSeq);
    if (found !== null) yield* locations(found, positions, stored, newestFirst);
  }
}

/** The blocks of the rarest condition; all blocks when every condition is common. */
export function blocksToVisit({ store }: LogIndex, conditions: number[][], range: SeqRange): number[] {
  let fewest: number[] | null = null;
  for (const terms of conditions) {
    const blocks = new Set<number>();
    for (const name of terms) {
      for (const firstSeq of store.blocksWith(name, range, FEW_BLOCKS)) blocks.add(firstSeq);
      if (blocks.size >= FEW_BLOCKS) break;
    }
    if (blocks.size < FEW_BLOCKS && blocks.size < (fewest?.length ?? Infinity)) fewest = [...blocks];
  }
  return fewest ?? store.blocksIn(range);
}

/** The positions in a block that meet every condition, in order. */
export function meeting(
  conditions: number[][],
  count: number,
  of: (name: number) => readonly number[],
): number[] {
  if (conditions.length === 0) return Array.from({ length: count }, (_, position) => position);
  // Per line, how many conditions it has met so far: only a line that met all previous ones can meet the next.
  const met = new Uint8Array(BLOCK_LINES);
  let last: number[] = [];
  for (const [before, terms] of conditions.entries()) {
    last = [];
    for (const name of terms) {
      for (const position of of(name)) {
        if (met[position] !== before) continue;
        met[position] = before + 1;
        last.push(position);
      }
    }
    if (last.length === 0) return last;
  }
  return last.toSorted((left, right) => left - right);
}

function* locations(lines: BlockLines, positions: number[], range: LineRange, newestFirst: boolean) {
  for (const position of newestFirst ? positions.toReversed() : positions) {
    if (isInRange(lines, position, range)) yield locationAt(lines, position);
  }
}
