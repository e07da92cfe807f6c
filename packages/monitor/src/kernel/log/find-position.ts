// Finds a position in the log by binary search: lines are in the order of `seq`, so a few reads find one among millions,
// without an index and with the daemon down. A search by time is exact unless the clock was set back; then it returns
// one of the positions where the times cross the requested one.
import { LONGEST_LINE_BYTES, type Position, parseHead } from './log-entry.ts';
import { listFilledMonthFiles, type MonthBytes, openMonth } from './month-file.ts';

type Head = { seq: number; time: number };
type Found = Head & { start: number; end: number };
type IsBefore = (head: Head) => boolean;

const CHUNK = 16 * 1024;
const NEWLINE = 0x0a;

/** The position of the first line with this `seq` or a greater one; the log's end if there is none. */
export function findPositionOfSeq(folder: string, seq: number): Position | null {
  return findPosition(folder, (head) => head.seq < seq);
}

/** The position of the first line that was accepted at this time or later; the log's end if there is none. */
export function findPositionOfTime(folder: string, time: number): Position | null {
  return findPosition(folder, (head) => head.time < time);
}

/** The end of the last whole line; null for a log without files. */
export function findEnd(folder: string): Position | null {
  return findPosition(folder, () => true);
}

function findPosition(folder: string, isBefore: IsBefore): Position | null {
  const files = listFilledMonthFiles(folder);
  for (const file of files.toReversed()) {
    const offset = inFile(folder, file, isBefore, file === files[0]);
    if (offset === null) continue;
    const next = files[files.indexOf(file) + 1];
    return next !== undefined && offset.isEnd && firstSeqIn(folder, next) !== null
      ? { file: next, offset: 0 }
      : { file, offset: offset.at };
  }
  return null;
}

/** Null when the position is in an earlier file: no line here is before it. */
function inFile(
  folder: string,
  file: string,
  isBefore: IsBefore,
  isOldest: boolean,
): { at: number; isEnd: boolean } | null {
  const month = openMonth(folder, file);
  if (month === null) return null;
  try {
    const size = month.size();
    const first = firstLine(month, 0, size, size);
    if (!isOldest && (first === null || !isBefore(first))) return null;
    return halve(month, size, isBefore);
  } finally {
    month.close();
  }
}

/** The seq of a month's first readable line; null if there is none. */
export function firstSeqIn(folder: string, file: string): number | null {
  const month = openMonth(folder, file);
  if (month === null) return null;
  try {
    const size = month.size();
    return firstLine(month, 0, size, size)?.seq ?? null;
  } finally {
    month.close();
  }
}

/** Every line that starts below `low` is before the position; none that starts at `high` or above is. */
function halve(month: MonthBytes, size: number, isBefore: IsBefore): { at: number; isEnd: boolean } {
  let low = 0;
  let high = size;
  let position: number | null = null;
  let lastEnd = 0;
  while (low < high) {
    const middle = high - low <= CHUNK ? low : Math.floor((low + high) / 2);
    const begin = middle === low ? low : lineStartAfter(month, middle, high);
    const line = begin < high ? firstLine(month, begin, high, size) : null;
    if (line === null) {
      high = middle;
    } else if (isBefore(line)) {
      low = line.end;
      lastEnd = line.end;
    } else {
      position = line.start;
      high = middle;
    }
  }
  return { at: position ?? lastEnd, isEnd: position === null };
}

/** Where the next line starts at or after a byte; `high` if none starts below it. */
function lineStartAfter(month: MonthBytes, from: number, high: number): number {
  const newline = findNewline(month, from - 1, high);
  return newline < 0 ? high : newline + 1;
}

/** The first readable line that starts in `begin..high`. `begin` is the start of a line. */
function firstLine(month: MonthBytes, begin: number, high: number, size: number): Found | null {
  let start = begin;
  while (start < high) {
    const newline = findNewline(month, start, size);
    if (newline < 0) return null;
    const head = newline - start > LONGEST_LINE_BYTES ? null : parseHead(readText(month, start, newline));
    if (head !== null) return { ...head, start, end: newline + 1 };
    start = newline + 1;
  }
  return null;
}

function findNewline(month: MonthBytes, from: number, limit: number): number {
  const chunk = Buffer.allocUnsafe(CHUNK);
  for (let at = from; at < limit; ) {
    const bytes = month.read(chunk, 0, Math.min(CHUNK, limit - at), at);
    if (bytes === 0) return -1;
    const found = chunk.subarray(0, bytes).indexOf(NEWLINE);
    if (found >= 0) return at + found;
    at += bytes;
  }
  return -1;
}

function readText(month: MonthBytes, start: number, end: number): string {
  const bytes = Buffer.allocUnsafe(end - start);
  return bytes.toString('utf8', 0, month.read(bytes, 0, bytes.length, start));
}
