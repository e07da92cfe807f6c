// Serves the log to readers inside the daemon: one shared ring holds the newest lines, and each reader is only a number,
// the `seq` it wants next. So a reader costs nothing while it waits. A reader's modes:
// - from file: what it wants is older than the ring; it streams at its own pace, in bounded memory.
//   Ends when the ring holds what it wants next.
// - live: it takes lines from the ring, and waits when it has all. Ends when it falls behind the ring: it is then cut
//   off with the last `seq` it got (`TailTooSlow`), or goes back to the file if it asked for that.
// Readers get only durable lines, each once, in order.
import { findPositionOfSeq } from './find-position.ts';
import { type LogEntry, parseEntry, type RawLine, TailTooSlow } from './log-entry.ts';

import { type CorruptLine, readEntries } from './read-lines.ts';

export type TailOptions = {
  /** The last line that the reader has; beyond the log's end, or absent, means only new lines. 0 means all. */
  after?: number | undefined;
  signal?: AbortSignal | undefined;
  whenSlow?: 'disconnect' | 'read-file';
};

export type LiveTail = {
  push: (entries: readonly LogEntry[]) => void;
  subscribe: (options?: TailOptions) => AsyncGenerator<LogEntry[]>;
  /** Drops the lines in memory: readers no longer get lines that are not in the files. */
  forget: () => void;
  lastSeq: () => number;
  readers: () => number;
};

const BATCH = 256;
/** Newest lines that are also kept parsed, for readers that keep up. */
const KEPT_PARSED = 512;

/** A line in the ring. Parsed lines are many small objects, which cost most when they live long. */
type Kept = { raw: RawLine; entry: LogEntry | undefined };

export function createLiveTail({
  folder,
  lastSeq: startSeq,
  maxLines = 4_096,
  maxBytes = 4 * 1024 * 1024,
  onCorrupt,
}: {
  folder: string;
  lastSeq: number;
  maxLines?: number;
  maxBytes?: number;
  onCorrupt?: (corrupt: CorruptLine) => void;
}): LiveTail {
  const ring = Array<Kept | undefined>(maxLines).fill(undefined);
  let firstSeq = startSeq + 1;
  let lastSeq = startSeq;
  let bytes = 0;
  let readers = 0;
  const waiting = new Set<() => void>();

  function dropOldest(): void {
    const slot = firstSeq % maxLines;
    bytes -= ring[slot]?.raw.length ?? 0;
    ring[slot] = undefined;
    firstSeq += 1;
  }

  function add(entry: LogEntry): void {
    const { seq } = entry.line;
    if (seq !== lastSeq + 1) {
      while (firstSeq <= lastSeq) dropOldest();
      firstSeq = seq;
    }
    if (seq - firstSeq >= maxLines) dropOldest();
    const { text, file, offset, length } = entry;
    ring[seq % maxLines] = { raw: { text, file, offset, length }, entry };
    const aged = seq - firstSeq > KEPT_PARSED ? ring[(seq - KEPT_PARSED) % maxLines] : undefined;
    if (aged !== undefined) aged.entry = undefined;
    lastSeq = seq;
    bytes += entry.length;
    while (bytes > maxBytes && firstSeq < lastSeq) dropOldest();
  }

  function fromRing(next: number): LogEntry[] {
    const batch: LogEntry[] = [];
    for (let seq = next; seq <= lastSeq && batch.length < BATCH; seq += 1) {
      const kept = ring[seq % maxLines];
      const entry = kept && (kept.entry ?? parseEntry(kept.raw));
      if (entry) batch.push(entry);
    }
    return batch;
  }

  /** Resolves with the next line, or when the reader leaves. */
  function news(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        waiting.delete(wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      waiting.add(wake);
      signal?.addEventListener('abort', wake);
    });
  }

  /** Reads the file until the ring holds the next line. Returns the next `seq` wanted. */
  async function* fromFile(
    start: number,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<LogEntry[], number> {
    let next = start;
    const from = findPositionOfSeq(folder, next);
    if (from !== null) {
      for await (const read of readEntries({ folder, from, signal, onCorrupt })) {
        // Bytes after the last durable line may still be removed.
        const batch = read.filter(({ line }) => line.seq >= next && line.seq <= lastSeq);
        next = (batch.at(-1)?.line.seq ?? next - 1) + 1;
        if (batch.length > 0) yield batch;
        if (next >= firstSeq) return next;
      }
    }
    // These lines no longer exist: a file was removed or damaged.
    return Math.max(next, firstSeq);
  }

  async function* subscribe({ after, signal, whenSlow = 'disconnect' }: TailOptions = {}) {
    if (after !== undefined && !(after >= 0)) throw new RangeError(`${after} is not a position in the log`);
    let next = Math.min(after ?? lastSeq, lastSeq) + 1;
    let live = false;
    readers += 1;
    try {
      for (;;) {
        if (signal?.aborted === true) return;
        if (next > lastSeq) {
          live = true;
          await news(signal);
        } else if (next >= firstSeq) {
          live = true;
          const batch = fromRing(next);
          next = (batch.at(-1)?.line.seq ?? lastSeq) + 1;
          yield batch;
        } else if (live && whenSlow === 'disconnect') {
          throw new TailTooSlow(next - 1);
        } else {
          next = yield* fromFile(next, signal);
        }
      }
    } finally {
      readers -= 1;
    }
  }

  return {
    push(entries) {
      for (const entry of entries) add(entry);
      for (const wake of waiting) wake();
    },
    subscribe,
    forget() {
      while (firstSeq <= lastSeq) dropOldest();
    },
    lastSeq: () => lastSeq,
    readers: () => readers,
  };
}
