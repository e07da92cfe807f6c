// Reads the log forwards from any position, across months, in chunks: memory use does not depend on the size of the
// files. Only whole lines are returned; anything else is skipped and reported.
import { closeSync, read } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ifPresentSync } from '@svc/lib/files';
import { openNow } from '@svc/lib/paths';
import { LONGEST_LINE_BYTES, type LogEntry, type Position, parseEntry, type RawLine } from './log-entry.ts';
import { listMonthFiles, type MonthBytes, openMonth } from './month-file.ts';

const readAt = promisify(read);

const CHUNK = 256 * 1024;
const NEWLINE = 0x0a;

export type CorruptLine = Position & { length: number };

export type ReadOptions = {
  folder: string;
  /** Where to start: the start of a line. Without it, at the oldest line. */
  from?: Position;
  signal?: AbortSignal | undefined;
  onCorrupt?: ((corrupt: CorruptLine) => void) | undefined;
  chunkBytes?: number;
};

/** Lines in order, in batches of about one chunk; ends at the end of the newest file. */
export async function* readLines(options: ReadOptions): AsyncGenerator<RawLine[]> {
  const { folder, from } = options;
  const files = listMonthFiles(folder).filter((file) => from === undefined || file >= from.file);
  for (const file of files) {
    const offset = file === from?.file ? from.offset : 0;
    yield* readFileLines({ ...options, file, offset });
  }
}

/** The same, parsed. A line that is not an event is reported as corrupt. */
export async function* readEntries(options: ReadOptions): AsyncGenerator<LogEntry[]> {
  for await (const lines of readLines(options)) yield parseEntries(lines, options.onCorrupt);
}

export function parseEntries(lines: RawLine[], onCorrupt?: (corrupt: CorruptLine) => void): LogEntry[] {
  const entries: LogEntry[] = [];
  for (const raw of lines) {
    const entry = parseEntry(raw);
    if (entry !== null) entries.push(entry);
    else onCorrupt?.({ file: raw.file, offset: raw.offset, length: raw.length });
  }
  return entries;
}

/** The whole lines of one file from a byte on. A missing file has none. */
export async function* readFileLines(
  options: ReadOptions & { file: string; offset: number },
): AsyncGenerator<RawLine[]> {
  const { folder, file, offset, signal, onCorrupt, chunkBytes = CHUNK } = options;
  const month = ifPresentSync(() => openNow(join(folder, file)));
  if (month === undefined) return;
  try {
    const splitter = createLineSplitter({ file, offset, chunkBytes, onCorrupt });
    for (;;) {
      if (signal?.aborted === true) return;
      const { target, free, position } = splitter.space();
      const { bytesRead } = await readAt(month, target, free.start, free.length, position);
      if (bytesRead === 0) return;
      const lines = splitter.take(bytesRead);
      if (lines.length > 0) yield lines;
    }
  } finally {
    closeSync(month);
  }
}

/**
 * Splits bytes into lines. Holds an unfinished line until its end arrives, up to the longest possible line; a longer one
 * is skipped to its newline without holding it.
 */
function createLineSplitter({
  file,
  offset,
  chunkBytes,
  onCorrupt,
}: {
  file: string;
  offset: number;
  chunkBytes: number;
  onCorrupt: ((corrupt: CorruptLine) => void) | undefined;
}) {
  let buffer = Buffer.allocUnsafe(chunkBytes);
  let held = 0;
  /** Offset in the file of the first byte held, or of the line that is being skipped. */
  let start = offset;
  let position = offset;
  let skipping = false;

  function finishLine(begin: number, end: number): RawLine | null {
    const length = end - begin + (skipping ? position - held - start : 0);
    if (!skipping) return { text: buffer.toString('utf8', begin, end), file, offset: start, length };
    skipping = false;
    onCorrupt?.({ file, offset: start, length });
    return null;
  }

  function keepRest(begin: number): void {
    const rest = held - begin;
    if (skipping || rest > LONGEST_LINE_BYTES) {
      skipping = true;
      held = 0;
      return;
    }
    buffer.copyWithin(0, begin, held);
    held = rest;
  }

  return {
    space() {
      if (buffer.length - held < chunkBytes / 2) {
        const larger = Buffer.allocUnsafe(buffer.length * 2);
        buffer.copy(larger, 0, 0, held);
        buffer = larger;
      }
      return { target: buffer, free: { start: held, length: buffer.length - held }, position };
    },
    take(bytes: number): RawLine[] {
      const lines: RawLine[] = [];
      let search = held;
      held += bytes;
      position += bytes;
      let begin = 0;
      for (;;) {
        const newline = buffer.subarray(0, held).indexOf(NEWLINE, search);
        if (newline < 0) break;
        const line = finishLine(begin, newline);
        if (line !== null) lines.push(line);
        begin = newline + 1;
        search = begin;
        start = position - held + begin;
      }
      keepRest(begin);
      return lines;
    },
  };
}

// Reads single lines by their location, with one open descriptor per month file, for the most recently used months.

export type LineLocation = { seq: number; file: string; offset: number; length: number };

export type LineReader = {
  /** Null when the line is no longer there, or another is at its location. */
  read: (location: LineLocation) => LogEntry | null;
  close: () => void;
};

export function createLineReader({ folder, maxOpen = 8 }: { folder: string; maxOpen?: number }): LineReader {
  const openMonths = new Map<string, MonthBytes>();

  function monthOf(file: string): MonthBytes | null {
    const known = openMonths.get(file);
    if (known !== undefined) {
      openMonths.delete(file);
      openMonths.set(file, known);
      return known;
    }
    const month = openMonth(folder, file);
    if (month === null) return null;
    openMonths.set(file, month);
    const [oldest] = openMonths.keys();
    if (openMonths.size > maxOpen && oldest !== undefined) forget(oldest);
    return month;
  }

  function forget(file: string): void {
    const month = openMonths.get(file);
    if (month === undefined) return;
    openMonths.delete(file);
    month.close();
  }

  function readOnce({ seq, file, offset, length }: LineLocation): LogEntry | null {
    const month = monthOf(file);
    if (month === null) return null;
    const bytes = Buffer.allocUnsafe(length);
    const text = bytes.toString('utf8', 0, month.read(bytes, 0, length, offset));
    const entry = parseEntry({ text, file, offset, length });
    return entry?.line.seq === seq ? entry : null;
  }

  return {
    read(location) {
      const wasOpen = openMonths.has(location.file);
      const entry = readOnce(location);
      if (entry !== null || !wasOpen) return entry;
      // The open file may have been replaced by another with the same name.
      forget(location.file);
      return readOnce(location);
    },
    close() {
      for (const file of openMonths.keys()) forget(file);
    },
  };
}
