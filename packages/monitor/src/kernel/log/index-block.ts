// The index consists of blocks: some thousand neighbouring lines of one month file, the location of each, and for every
// term the lines of the block that have it. Within a block times never go back; where they do (a start with another
// clock), another block begins. One small row per term and block, instead of one per term and line, keeps indexing
// cheap. The newest block is open, in memory; a full one is stored.
import type { EventDraft, EventLine } from './event-line.ts';
import type { LogEntry } from './log-entry.ts';
import type { LineLocation } from './read-lines.ts';

export const BLOCK_LINES = 4096;
/** Numbers kept per line: seq, offset and time (relative to the block's first), and length. */
const WIDTH = 4;
const BITMAP_BYTES = BLOCK_LINES / 8;
const MAX_DELTA = 2 ** 32 - 1;

/** The locations of a block's lines; the same for the open block and a stored one. */
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

  /** A time that cannot be parsed is that of the line before. */
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

export function locationAt(lines: BlockLines, index: number): LineLocation {
  return {
    seq: seqAt(lines, index),
    file: lines.file,
    offset: lines.start + (lines.numbers[index * WIDTH + 1] ?? 0),
    length: lines.numbers[index * WIDTH + 3] ?? 0,
  };
}

/** The first line of a block for which the test holds, given that it holds for all that follow; otherwise `count`. */
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

/** The number of lines packed in this many bytes. */
export function linesIn(bytes: number): number {
  return bytes / (WIDTH * 4);
}

export function unpackLines(bytes: Uint8Array): { numbers: Uint32Array; count: number } {
  const numbers = new Uint32Array(bytes.slice().buffer);
  return { numbers, count: numbers.length / WIDTH };
}

/** A few positions as a list, many as a bitmap with one bit per line: at most 512 bytes either way. */
export function packPositions(positions: readonly number[]): Uint8Array {
  if (positions.length * 2 < BITMAP_BYTES) return new Uint8Array(Uint16Array.from(positions).buffer);
  const bits = new Uint8Array(BITMAP_BYTES);
  for (const position of positions) bits[position >> 3] = (bits[position >> 3] ?? 0) | (1 << (position & 7));
  return bits;
}

/** The number of positions, without unpacking them. */
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

/** Visits every position in order, without building a list. */
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

// What a line can be found by. A term is a number made from a kind and a value (53 bits of a hash), small and of fixed
// size; two values may share a term, so the caller checks each line that it finds by one.

/** Each kind has its own seed, so equal values of two kinds differ. */
const kinds = {
  topic: 1,
  repo: 2,
  pr: 3,
  ticket: 4,
  sha: 5,
  orchestrator: 6,
  worker: 7,
  deployment: 8,
  delivery: 9,
} as const;

export function term(kind: keyof typeof kinds, value: string): number {
  return hash53(value, kinds[kind]);
}

/** A pull request is found by its number alone, and by repository and number. */
export function pullRequestTerm(pr: number, repo?: string): number {
  return term('pr', repo === undefined ? `#${pr}` : `${repo}#${pr}`);
}

/** The terms of a line, except its delivery. A commit is found under both `sha` and `mergeSha`. */
function termsOf({ event, scope }: EventLine): number[] {
  const terms = [term('topic', event)];
  if (scope.repo !== undefined) terms.push(term('repo', scope.repo));
  if (scope.pr !== undefined) {
    terms.push(pullRequestTerm(scope.pr));
    if (scope.repo !== undefined) terms.push(pullRequestTerm(scope.pr, scope.repo));
  }
  if (scope.ticket !== undefined) terms.push(term('ticket', scope.ticket));
  if (scope.orchestrator !== undefined) terms.push(term('orchestrator', scope.orchestrator));
  if (scope.worker !== undefined) terms.push(term('worker', scope.worker));
  if (scope.sha !== undefined) terms.push(term('sha', scope.sha));
  if (scope.mergeSha !== undefined && scope.mergeSha !== scope.sha) terms.push(term('sha', scope.mergeSha));
  if (scope.deploymentId !== undefined) terms.push(term('deployment', String(scope.deploymentId)));
  return terms;
}

/**
 * The key that identifies a delivery by whatever route it came: live, replayed or polled. Undefined for an event that
 * was not delivered.
 */
export function deliveryKey({
  source,
  deliveryId,
}: Pick<EventDraft, 'source' | 'deliveryId'>): string | undefined {
  if (deliveryId === undefined) return undefined;
  const dot = source.indexOf('.');
  return `${dot < 0 ? source : source.slice(0, dot)}:${deliveryId}`;
}

/**
 * The key that identifies the same signed bytes, whatever id they come with. Repeats have none: every repeat refers to
 * the first.
 */
export function signedKey({
  source,
  signed,
  repeatOf,
}: Pick<EventDraft, 'source' | 'signed' | 'repeatOf'>): string | undefined {
  return signed === undefined || repeatOf !== undefined ? undefined : `${source} signed:${signed}`;
}

/** Two 32-bit lanes similar to FNV-1a, joined to 53 bits: fast, and spread well enough. Not for secrets. */
function hash53(text: string, seed: number): number {
  let low = 0x811c9dc5 ^ seed;
  let high = 0x2f0b4c47 ^ seed;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x01000193) ^ (high >>> 15);
  }
  // FNV spreads its last characters only upwards: fold the high bits down once more.
  low ^= low >>> 16;
  high ^= high >>> 13;
  // Never zero: that marks an empty slot.
  return (high & 0x1fffff) * 0x1_0000_0000 + (low >>> 0) || 1;
}
