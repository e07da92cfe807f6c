// Follows the log from another process: whole lines as they are written, across months, without missing any. The daemon
// may be down, and the folder need not exist yet.
// A follower can read a line some microseconds before it is durable. If the disk then fails, the writer removes that
// line and gives its `seq` to another. The follower notices, because the last line that it returned is no longer at its
// position; it goes back to the last one that is, and returns what follows now. So after a failed write a `seq` may
// come twice, with different ids; the second one counts.
import { findEnd, findPositionOfSeq, findPositionOfTime } from './find-position.ts';
import type { LogEntry, Position } from './log-entry.ts';
import { listFilledMonthFiles } from './month-file.ts';
import { type CorruptLine, createLineReader, parseEntries, readFileLines } from './read-lines.ts';
import { watchFolder } from './watch-folder.ts';

/** After a line, from a time on, or only new lines. */
export type FollowFrom = { seq: number } | { time: number } | 'end';

export type FollowOptions = {
  folder: string;
  from: FollowFrom;
  signal?: AbortSignal | undefined;
  onCorrupt?: (corrupt: CorruptLine) => void;
  pollMs?: number;
};

/** Returned lines that are remembered: more than one batch of the writer. */
const REMEMBERED = 2_048;

type HandedOut = Position & { seq: number; id: string; length: number };

/** Batches of lines, until the signal. */
export async function* followLog(options: FollowOptions): AsyncGenerator<LogEntry[]> {
  const { folder, signal, pollMs, onCorrupt } = options;
  const changes = watchFolder({ folder, ...(pollMs !== undefined && { pollMs }) });
  const stop = (): void => changes.close();
  signal?.addEventListener('abort', stop);
  try {
    let position = startOf(options);
    const handedOut: HandedOut[] = [];
    reading: for (;;) {
      if (signal?.aborted === true) return;
      position = position === null ? firstPosition(folder) : stillThere(folder, position, handedOut);
      let moved = false;
      const isLast = position === null || nextFile(folder, position.file) === null;
      if (position !== null) {
        for await (const lines of readFileLines({ folder, signal, onCorrupt, ...position })) {
          const last = lines.at(-1);
          if (last === undefined) continue;
          moved = true;
          // The writer may have removed lines since the check: then these do not follow what was returned.
          const current = stillThere(folder, position, handedOut);
          if (current !== position) {
            position = current;
            continue reading;
          }
          position = { file: last.file, offset: last.offset + last.length + 1 };
          const entries = parseEntries(lines, onCorrupt).filter((entry) => isWanted(entry, options.from));
          remember(handedOut, entries);
          if (entries.length > 0) yield entries;
        }
        // The writer finishes a month before it starts the next: once that exists, nothing is added here.
        const next = isLast ? null : nextFile(folder, position.file);
        if (next !== null) {
          position = { file: next, offset: 0 };
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

/** A `seq` that was not in the log at the start is found only when it is written. */
function isWanted({ line }: LogEntry, from: FollowFrom): boolean {
  return from === 'end' || !('seq' in from) || line.seq > from.seq;
}

function firstPosition(folder: string): Position | null {
  const [file] = listFilledMonthFiles(folder);
  return file === undefined ? null : { file, offset: 0 };
}

/** Only files with content count: the writer may still be in the month before an empty one. */
function nextFile(folder: string, file: string): string | null {
  return listFilledMonthFiles(folder).find((name) => name > file) ?? null;
}

function remember(handedOut: HandedOut[], entries: readonly LogEntry[]): void {
  for (const { file, offset, length, line } of entries) {
    handedOut.push({ file, offset, length, seq: line.seq, id: line.id });
  }
  if (handedOut.length > 2 * REMEMBERED) handedOut.splice(0, handedOut.length - REMEMBERED);
}

/** Where to continue: after the last returned line that is still at its position. */
function stillThere(folder: string, position: Position, handedOut: HandedOut[]): Position {
  const oldest = handedOut[0];
  if (oldest === undefined) return position;
  const reader = createLineReader({ folder });
  try {
    let taken = false;
    for (;;) {
      const last = handedOut.at(-1);
      if (last === undefined) return findPositionOfSeq(folder, oldest.seq) ?? position;
      if (reader.read(last)?.line.id === last.id) {
        return taken ? { file: last.file, offset: last.offset + last.length + 1 } : position;
      }
      taken = true;
      handedOut.pop();
    }
  } finally {
    reader.close();
  }
}
