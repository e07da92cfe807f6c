// Recovers the log after a crash: finds the last whole line of the newest file, from its end and in chunks, and moves
// everything after it into quarantine. Nothing there was acknowledged. A power cut may lose one page of the last commit
// and keep the next one: whole lines after such a hole go with it.
import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openNow } from '@svc/lib/paths';
import { makeFolder, syncFolderNow } from '../disk/private-file.ts';
import { LARGEST_COMMIT_BYTES, LONGEST_LINE_BYTES, type LogTail, parseLine } from './log-entry.ts';
import { listFilledMonthFiles } from './month-file.ts';

/** Bytes after the last whole line, and where they are now. */
export type TornTail = { file: string; offset: number; bytes: number; quarantine: string };

export type Recovery = { tail: LogTail; torn: TornTail[] };

const CHUNK = 64 * 1024;
/** The last commit, and the line before it. */
const REACH = LARGEST_COMMIT_BYTES + LONGEST_LINE_BYTES;
/** More than a crash can leave was written by another program: the beginning shows what it is. */
const MOST_KEPT = 2 * REACH;
const NEWLINE = 0x0a;

/** The end of the log, repaired if necessary. Files without a line are skipped. */
export function recoverTail({ folder, now }: { folder: string; now: number }): Recovery {
  const torn: TornTail[] = [];
  for (const file of listFilledMonthFiles(folder).toReversed()) {
    const path = join(folder, file);
    const descriptor = openNow(path, { flags: constants.O_RDWR });
    try {
      const size = fstatSync(descriptor).size;
      const last = findLastLine(descriptor, findHole(descriptor, size));
      const end = last?.end ?? 0;
      if (end < size) torn.push(quarantine({ folder, file, descriptor, offset: end, size, now }));
      // A killed daemon may have left lines that are not on the disk yet; from now on they count.
      fsyncSync(descriptor);
      if (last !== null) return { tail: { file, length: end, seq: last.seq, time: last.time }, torn };
    } finally {
      closeSync(descriptor);
    }
  }
  return { tail: { file: null, length: 0, seq: 0, time: 0 }, torn };
}

type LastLine = { seq: number; time: number; end: number };

function findLastLine(descriptor: number, size: number): LastLine | null {
  const newlineBefore = createBackwardSearch(descriptor);
  let before = size;
  for (;;) {
    const newline = newlineBefore(before);
    if (newline < 0) return null;
    const start = newlineBefore(newline) + 1;
    const found = readLastLine(descriptor, start, newline);
    if (found !== null) return found;
    before = start;
  }
}

/**
 * The start of the first line that lost a page of the last commit, which then reads as zeros; the size if there is none.
 * The lines of a commit share one time: zeros before lines of another time are older damage, and stay.
 */
function findHole(descriptor: number, size: number): number {
  const start = Math.max(0, size - REACH);
  const target = Buffer.allocUnsafe(size - start);
  const bytes = target.subarray(0, readSync(descriptor, target, 0, target.length, start));
  if (!bytes.includes(0)) return size;
  let hole = size;
  let time: string | undefined;
  for (let end = bytes.length; end > 0; ) {
    const begin = bytes.lastIndexOf(NEWLINE, end - 1) + 1;
    const line = bytes.subarray(begin, end);
    end = begin - 1;
    if (line.includes(0)) {
      hole = start + begin;
      continue;
    }
    const ts = parseLine(line.toString('utf8'))?.ts;
    if (ts === undefined) continue;
    time ??= ts;
    if (ts !== time) break;
  }
  return hole;
}

function readLastLine(descriptor: number, start: number, newline: number): LastLine | null {
  if (newline - start > LONGEST_LINE_BYTES) return null;
  const bytes = Buffer.allocUnsafe(newline - start);
  const line = parseLine(bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, start)));
  if (line === null) return null;
  const time = Date.parse(line.ts);
  return Number.isNaN(time) ? null : { seq: line.seq, time, end: newline + 1 };
}

/** Returns a search for the last newline before a byte, or -1. Keeps the chunk that it read last. */
function createBackwardSearch(descriptor: number): (before: number) => number {
  const chunk = Buffer.allocUnsafe(CHUNK);
  let start = 0;
  let end = 0;
  return (before) => {
    let limit = before;
    while (limit > 0) {
      if (limit <= start || limit > end) {
        start = Math.max(0, limit - CHUNK);
        end = start + readSync(descriptor, chunk, 0, limit - start, start);
        if (end < limit) return -1;
      }
      const found = chunk.subarray(0, limit - start).lastIndexOf(NEWLINE);
      if (found >= 0) return start + found;
      limit = start;
    }
    return -1;
  };
}

/** Copies the bytes durably before cutting them off, so a crash in between loses nothing that it can have left. */
function quarantine({
  folder,
  file,
  descriptor,
  offset,
  size,
  now,
}: {
  folder: string;
  file: string;
  descriptor: number;
  offset: number;
  size: number;
  now: number;
}): TornTail {
  const quarantineFolder = join(folder, 'quarantine');
  makeFolder(quarantineFolder, 0o700);
  const path = join(quarantineFolder, `${file}-${offset}-${now}.torn`);
  const copy = openNow(path, {
    flags: constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC,
    mode: 0o600,
  });
  try {
    const chunk = Buffer.allocUnsafe(CHUNK);
    const end = Math.min(size, offset + MOST_KEPT);
    for (let at = offset; at < end; ) {
      const bytes = readSync(descriptor, chunk, 0, Math.min(CHUNK, end - at), at);
      if (bytes === 0) break;
      writeSync(copy, chunk, 0, bytes);
      at += bytes;
    }
    fsyncSync(copy);
  } finally {
    closeSync(copy);
  }
  syncFolderNow(quarantineFolder);
  ftruncateSync(descriptor, offset);
  fsyncSync(descriptor);
  return { file, offset, bytes: size - offset, quarantine: path };
}
