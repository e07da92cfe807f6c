// Reads single lines back by their place, with one descriptor per month file, the few used last.
import { type LogEntry, parseEntry } from './log-entry.ts';
import { type MonthBytes, openMonth } from './month-file.ts';

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
