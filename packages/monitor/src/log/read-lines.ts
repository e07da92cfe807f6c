// Reads the log forwards from any place, over the ends of months, in pieces: memory stays the same however
// large the files are. Only whole lines come out; what cannot be a line is skipped and told.
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { ifPresent } from '@svc/lib/files';
import { LONGEST_LINE_BYTES, type LogEntry, type Position, parseEntry, type RawLine } from './log-entry.ts';
import { listMonthFiles, type MonthBytes, openMonth } from './month-file.ts';

const CHUNK = 256 * 1024;
const NEWLINE = 0x0a;

export type CorruptLine = Position & { length: number };

export type ReadOptions = {
  folder: string;
  /** Where to begin: the start of a line. Without it, at the oldest line there is. */
  from?: Position;
  signal?: AbortSignal | undefined;
  onCorrupt?: ((corrupt: CorruptLine) => void) | undefined;
  chunkBytes?: number;
};

/** Lines in order, in batches of about one piece of the file; ends at the end of the newest file. */
export async function* readLines(options: ReadOptions): AsyncGenerator<RawLine[]> {
  const { folder, from } = options;
  const files = listMonthFiles(folder).filter((file) => from === undefined || file >= from.file);
  for (const file of files) {
    const offset = file === from?.file ? from.offset : 0;
    yield* readFileLines({ ...options, file, offset });
  }
}

/** The same, parsed. A line that is not an event is told as corrupt. */
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

/** The whole lines of one file from a byte on. A file that is not there has none. */
export async function* readFileLines(
  options: ReadOptions & { file: string; offset: number },
): AsyncGenerator<RawLine[]> {
  const { folder, file, offset, signal, onCorrupt, chunkBytes = CHUNK } = options;
  const month = await ifPresent(open(join(folder, file), 'r'));
  if (month === undefined) return;
  try {
    const splitter = createLineSplitter({ file, offset, chunkBytes, onCorrupt });
    for (;;) {
      if (signal?.aborted === true) return;
      const { target, room, position } = splitter.space();
      const { bytesRead } = await month.read(target, room.start, room.length, position);
      if (bytesRead === 0) return;
      const lines = splitter.take(bytesRead);
      if (lines.length > 0) yield lines;
    }
  } finally {
    await month.close();
  }
}

/**
 * Cuts bytes into lines. Holds an unfinished line until its end arrives, up to the longest that a line can
 * be; of a longer one nothing is held: it is skipped to its newline.
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
      return { target: buffer, room: { start: held, length: buffer.length - held }, position };
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

// Reads single lines back by their place, with one descriptor per month file, the few used last.

export type LinePlace = { seq: number; file: string; offset: number; length: number };

export type LineReader = {
  /** Null when the line is no longer there, or another is in its place. */
  read: (place: LinePlace) => LogEntry | null;
  close: () => void;
};

export function createLineReader({ folder, maxOpen = 8 }: { folder: string; maxOpen?: number }): LineReader {
  const open = new Map<string, MonthBytes>();

  function monthOf(file: string): MonthBytes | null {
    const known = open.get(file);
    if (known !== undefined) {
      open.delete(file);
      open.set(file, known);
      return known;
    }
    const month = openMonth(folder, file);
    if (month === null) return null;
    open.set(file, month);
    const [oldest] = open.keys();
    if (open.size > maxOpen && oldest !== undefined) forget(oldest);
    return month;
  }

  function forget(file: string): void {
    const month = open.get(file);
    if (month === undefined) return;
    open.delete(file);
    month.close();
  }

  function readOnce({ seq, file, offset, length }: LinePlace): LogEntry | null {
    const month = monthOf(file);
    if (month === null) return null;
    const bytes = Buffer.allocUnsafe(length);
    const text = bytes.toString('utf8', 0, month.read(bytes, 0, length, offset));
    const entry = parseEntry({ text, file, offset, length });
    return entry?.line.seq === seq ? entry : null;
  }

  return {
    read(place) {
      const wasOpen = open.has(place.file);
      const entry = readOnce(place);
      if (entry !== null || !wasOpen) return entry;
      // The file that is open may have been replaced by another of its name.
      forget(place.file);
      return readOnce(place);
    },
    close() {
      for (const file of open.keys()) forget(file);
    },
  };
}
