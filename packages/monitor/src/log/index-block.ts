// The index is made of blocks: some thousand neighbouring lines of one month file, where each stands, and
// for every term the lines of the block that have it. Within a block times never go back: where they do, at a
// start with another clock, another block begins. One small row per term and block, instead of one per
// term and line, is what keeps indexing cheap. The newest block is open, in memory; a full one is stored.

import type { LinePlace } from './line-reader.ts';
import type { LogEntry } from './log-entry.ts';
import { deliveryKey, signedKey, term, termsOf } from './terms.ts';

export const BLOCK_LINES = 4096;
/** Numbers kept per line: seq, offset and time (relative to the block's first), and length. */
const WIDTH = 4;
const BITMAP_BYTES = BLOCK_LINES / 8;
const MAX_DELTA = 2 ** 32 - 1;

/** Where the lines of a block stand; the same for the open block and a stored one. */
export type BlockLines = {
  firstSeq: number;
  firstTime: number;
  file: string;
  start: number;
  count: number;
  numbers: Uint32Array;
};

export type OpenBlock = {
  lines: BlockLines;
  /** False when the line has to go into another block. */
  add: (entry: LogEntry) => boolean;
  lastSeq: () => number;
  lastTime: () => number;
  terms: ReadonlyMap<number, readonly number[]>;
  /** Delivery term → seq. */
  deliveries: ReadonlyMap<number, number>;
  topics: ReadonlySet<string>;
  relay: ReadonlyMap<string, { id: string; seq: number }>;
};

export function createOpenBlock(first: LogEntry): OpenBlock {
  const terms = new Map<number, number[]>();
  const deliveries = new Map<number, number>();
  const topics = new Set<string>();
  const relay = new Map<string, { id: string; seq: number }>();
  const lines: BlockLines = {
    firstSeq: first.line.seq,
    firstTime: Date.parse(first.line.ts) || 0,
    file: first.file,
    start: first.offset,
    count: 0,
    numbers: new Uint32Array(BLOCK_LINES * WIDTH),
  };
  let lastTime = lines.firstTime;
  let lastTs = first.line.ts;

  /** A time that cannot be read is that of the line before. */
  function timeIn(ts: string): number {
    return ts === lastTs ? lastTime : Date.parse(ts) || lastTime;
  }

  function note(entry: LogEntry, index: number): void {
    const { line } = entry;
    for (const name of termsOf(line)) {
      const list = terms.get(name);
      if (list === undefined) terms.set(name, [index]);
      else if (list.at(-1) !== index) list.push(index);
    }
    topics.add(line.event);
    for (const key of [deliveryKey(line), signedKey(line)]) {
      if (key === undefined) continue;
      const name = term('delivery', key);
      if (!deliveries.has(name)) deliveries.set(name, line.seq);
    }
    if (line.relay !== undefined) relay.set(line.relay.channel, { id: line.relay.id, seq: line.seq });
  }

  return {
    lines,
    terms,
    deliveries,
    topics,
    relay,
    lastSeq: () => lines.firstSeq + (lines.numbers[(lines.count - 1) * WIDTH] ?? 0),
    lastTime: () => lastTime,
    add(entry) {
      const { count, numbers } = lines;
      const at = timeIn(entry.line.ts);
      const seq = entry.line.seq - lines.firstSeq;
      const offset = entry.offset - lines.start;
      const time = at - lines.firstTime;
      const fits =
        seq >= 0 &&
        seq <= MAX_DELTA &&
        offset >= 0 &&
        offset <= MAX_DELTA &&
        at >= lastTime &&
        time <= MAX_DELTA;
      if (count === BLOCK_LINES || entry.file !== lines.file || !fits) return false;
      numbers[count * WIDTH] = seq;
      numbers[count * WIDTH + 1] = offset;
      numbers[count * WIDTH + 2] = time;
      numbers[count * WIDTH + 3] = entry.length;
      lines.count += 1;
      lastTime = at;
      lastTs = entry.line.ts;
      note(entry, count);
      return true;
    },
  };
}

export function seqAt(lines: BlockLines, index: number): number {
  return lines.firstSeq + (lines.numbers[index * WIDTH] ?? 0);
}

export function timeAt(lines: BlockLines, index: number): number {
  return lines.firstTime + (lines.numbers[index * WIDTH + 2] ?? 0);
}

export function placeAt(lines: BlockLines, index: number): LinePlace {
  return {
    seq: seqAt(lines, index),
    file: lines.file,
    offset: lines.start + (lines.numbers[index * WIDTH + 1] ?? 0),
    length: lines.numbers[index * WIDTH + 3] ?? 0,
  };
}

/** The first line of a block for which the test holds, where it holds for all that follow; else `count`. */
export function firstIndex(lines: BlockLines, holds: (index: number) => boolean): number {
  let low = 0;
  let high = lines.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function packLines({ numbers, count }: BlockLines): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, count * WIDTH * 4);
}

/** How many lines are packed in so many bytes. */
export function linesIn(bytes: number): number {
  return bytes / (WIDTH * 4);
}

export function unpackLines(bytes: Uint8Array): { numbers: Uint32Array; count: number } {
  const numbers = new Uint32Array(bytes.slice().buffer);
  return { numbers, count: numbers.length / WIDTH };
}

/** A few positions as a list, many as one bit per line of the block: at most 512 bytes either way. */
export function packPositions(positions: readonly number[]): Uint8Array {
  if (positions.length * 2 < BITMAP_BYTES) return new Uint8Array(Uint16Array.from(positions).buffer);
  const bits = new Uint8Array(BITMAP_BYTES);
  for (const position of positions) bits[position >> 3] = (bits[position >> 3] ?? 0) | (1 << (position & 7));
  return bits;
}

/** How many positions there are, without unpacking them. */
export function countPositions(bytes: Uint8Array): number {
  if (bytes.byteLength !== BITMAP_BYTES) return bytes.byteLength / 2;
  let count = 0;
  for (const byte of bytes) for (let bits = byte; bits > 0; bits &= bits - 1) count += 1;
  return count;
}

export function unpackPositions(bytes: Uint8Array): number[] {
  if (bytes.byteLength !== BITMAP_BYTES) return Array.from(new Uint16Array(bytes.slice().buffer));
  const positions: number[] = [];
  eachPosition(bytes, (position) => positions.push(position));
  return positions;
}

/** Every position in order, without a list of them. */
export function eachPosition(bytes: Uint8Array, visit: (position: number) => void): void {
  if (bytes.byteLength !== BITMAP_BYTES) {
    for (let index = 0; index + 1 < bytes.byteLength; index += 2)
      visit((bytes[index] ?? 0) | ((bytes[index + 1] ?? 0) << 8));
    return;
  }
  for (let index = 0; index < BITMAP_BYTES; index += 1) {
    let bits = bytes[index] ?? 0;
    for (let position = index * 8; bits > 0; position += 1) {
      if ((bits & 1) === 1) visit(position);
      bits >>= 1;
    }
  }
}
