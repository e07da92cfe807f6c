// Follows the log from another process: whole lines as they are written, over the ends of months, none
// missed. The daemon may be down, and the folder need not exist yet.
// A follower can see a line some microseconds before it is durable. If the disk then fails, the writer
// takes that line back and gives its `seq` to another. The follower notices, because the last line that it
// handed out is no longer where it was; it goes back to the last one that is, and hands out what stands
// there now. So after a failed write a `seq` may come twice, with different ids; the second one counts.
import { findEnd, findPositionOfSeq, findPositionOfTime } from './find-position.ts';
import type { LogEntry, Position } from './log-entry.ts';
import { listFilledMonthFiles } from './month-file.ts';
import { type CorruptLine, createLineReader, parseEntries, readFileLines } from './read-lines.ts';
import { watchFolder } from './watch-folder.ts';

/** After a line, from a moment on, or only what is new. */
export type FollowFrom = { seq: number } | { time: number } | 'end';

export type FollowOptions = {
  folder: string;
  from: FollowFrom;
  signal?: AbortSignal | undefined;
  onCorrupt?: (corrupt: CorruptLine) => void;
  pollMs?: number;
};

/** Handed-out lines that are remembered: more than one batch of the writer. */
const REMEMBERED = 2_048;

type HandedOut = Position & { seq: number; id: string; length: number };

/** Batches of lines, for ever, until the signal. */
export async function* followLog(options: FollowOptions): AsyncGenerator<LogEntry[]> {
  const { folder, signal, pollMs, onCorrupt } = options;
  const changes = watchFolder({ folder, ...(pollMs !== undefined && { pollMs }) });
  const stop = (): void => changes.close();
  signal?.addEventListener('abort', stop);
  try {
    let place = startOf(options);
    const handedOut: HandedOut[] = [];
    reading: for (;;) {
      if (signal?.aborted === true) return;
      place = place === null ? firstPlace(folder) : stillThere(folder, place, handedOut);
      let moved = false;
      const isLast = place === null || nextFile(folder, place.file) === null;
      if (place !== null) {
        for await (const lines of readFileLines({ folder, signal, onCorrupt, ...place })) {
          const last = lines.at(-1);
          if (last === undefined) continue;
          moved = true;
          // The writer may have taken lines back since the look: then these do not follow on what was handed out.
          const there = stillThere(folder, place, handedOut);
          if (there !== place) {
            place = there;
            continue reading;
          }
          place = { file: last.file, offset: last.offset + last.length + 1 };
          const entries = parseEntries(lines, onCorrupt).filter((entry) => isWanted(entry, options.from));
          remember(handedOut, entries);
          if (entries.length > 0) yield entries;
        }
        // The writer finishes a month before it begins the next: once that exists, nothing is added here.
        const next = isLast ? null : nextFile(folder, place.file);
        if (next !== null) {
          place = { file: next, offset: 0 };
          moved = true;
        }
      }
      if (!moved) await changes.next();
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    changes.close();
  }
}

function startOf({ folder, from }: FollowOptions): Position | null {
  if (from === 'end') return findEnd(folder);
  return 'seq' in from ? findPositionOfSeq(folder, from.seq + 1) : findPositionOfTime(folder, from.time);
}

/** A start by `seq` that was not in the log yet may be found only when it is written. */
function isWanted({ line }: LogEntry, from: FollowFrom): boolean {
  return from === 'end' || !('seq' in from) || line.seq > from.seq;
}

function firstPlace(folder: string): Position | null {
  const [file] = listFilledMonthFiles(folder);
  return file === undefined ? null : { file, offset: 0 };
}

/** Only files with something in them count: the writer may still be in the month before an empty one. */
function nextFile(folder: string, file: string): string | null {
  return listFilledMonthFiles(folder).find((name) => name > file) ?? null;
}

function remember(handedOut: HandedOut[], entries: readonly LogEntry[]): void {
  for (const { file, offset, length, line } of entries) {
    handedOut.push({ file, offset, length, seq: line.seq, id: line.id });
  }
  if (handedOut.length > 2 * REMEMBERED) handedOut.splice(0, handedOut.length - REMEMBERED);
}

/** Where to read on: behind the last line handed out that still stands where it stood. */
function stillThere(folder: string, place: Position, handedOut: HandedOut[]): Position {
  const oldest = handedOut[0];
  if (oldest === undefined) return place;
  const reader = createLineReader({ folder });
  try {
    let taken = false;
    for (;;) {
      const last = handedOut.at(-1);
      if (last === undefined) return findPositionOfSeq(folder, oldest.seq) ?? place;
      if (reader.read(last)?.line.id === last.id) {
        return taken ? { file: last.file, offset: last.offset + last.length + 1 } : place;
      }
      taken = true;
      handedOut.pop();
    }
  } finally {
    reader.close();
  }
}
