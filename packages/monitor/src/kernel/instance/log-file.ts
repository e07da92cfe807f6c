// The daemon's log file as a destination for the logger. At 10 MiB it becomes monitor.log.1, replacing the previous
// one. Only the daemon that holds the data root writes and rotates. Each line is written at once, so a crash loses
// none; on a full disk lines are lost and counted, and the daemon continues.
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemErrorCode } from '@svc/lib/errors';
import { ifPresentSync } from '@svc/lib/files';
import { lookNow, openNow } from '@svc/lib/paths';

// Reads the daemon's log from its end: the last lines, and new lines. Never the whole file.

const CHUNK = 64 * 1024;
const POLL_MS = 200;
const NEWLINE = 0x0a;

export type LogEnd = { inode: number; offset: number };
export type LastLines = { lines: string[]; end: LogEnd };

/** The last lines, including those of the rotated file; undefined if there is no log. */
export function lastLines(path: string, count: number): LastLines | undefined {
  const recent = lastLinesOfFile(path, count);
  if (recent === undefined || recent.lines.length >= count) return recent;
  const older = lastLinesOfFile(rotatedFile(path), count - recent.lines.length);
  return { lines: [...(older?.lines ?? []), ...recent.lines], end: recent.end };
}

/** Passes on each line added after `end`, through rotations, until the signal. */
export async function followLines(
  path: string,
  end: LogEnd | undefined,
  hand: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  let file = openBehind(path, end);
  try {
    while (!signal.aborted) {
      file?.readNew(hand);
      const there = inodeOf(path);
      if (there !== undefined && there !== file?.inode) {
        // Lines written between the last read and the rotation are in the old file.
        file?.readNew(hand);
        file?.close();
        file = openBehind(path, undefined);
        continue;
      }
      await sleep(POLL_MS, undefined, { signal }).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
  } finally {
    file?.close();
  }
}

/** The last `count` lines after `offset`. */
export function linesBehind(fd: number, offset: number, count: number): string[] {
  return linesBetween(fd, offset, fstatSync(fd).size, count);
}

function linesBetween(fd: number, offset: number, size: number, count: number): string[] {
  if (count <= 0 || size <= offset) return [];
  const chunks: Buffer[] = [];
  let newlines = 0;
  let position = size;
  // One newline more than lines, because the last line ends with one.
  while (position > offset && newlines <= count) {
    const length = Math.min(CHUNK, position - offset);
    position -= length;
    const chunk = readAt(fd, position, length);
    for (const byte of chunk) if (byte === NEWLINE) newlines += 1;
    chunks.unshift(chunk);
  }
  return Buffer.concat(chunks).toString('utf8').replace(/\n$/, '').split('\n').slice(-count);
}

function lastLinesOfFile(path: string, count: number): LastLines | undefined {
  const fd = ifPresentSync(() => openNow(path));
  if (fd === undefined) return undefined;
  try {
    const { ino, size } = fstatSync(fd);
    return { lines: linesBetween(fd, 0, size, count), end: { inode: ino, offset: size } };
  } finally {
    closeSync(fd);
  }
}

type OpenFile = { inode: number; readNew: (hand: (line: string) => void) => void; close: () => void };

/** Opens the file at the end of what was read; a different file of that name is read from its start. */
function openBehind(path: string, end: LogEnd | undefined): OpenFile | undefined {
  const fd = ifPresentSync(() => openNow(path));
  if (fd === undefined) return undefined;
  const { ino } = fstatSync(fd);
  let offset = end?.inode === ino ? end.offset : 0;
  let partial: Buffer = Buffer.alloc(0);
  return {
    inode: ino,
    close: () => closeSync(fd),
    readNew(hand) {
      if (fstatSync(fd).size < offset) {
        // The file was truncated.
        offset = 0;
        partial = Buffer.alloc(0);
      }
      for (let chunk = readAt(fd, offset, CHUNK); chunk.length > 0; chunk = readAt(fd, offset, CHUNK)) {
        offset += chunk.length;
        const bytes = Buffer.concat([partial, chunk]);
        const newline = bytes.lastIndexOf(NEWLINE);
        partial = bytes.subarray(newline + 1);
        if (newline >= 0) for (const line of bytes.toString('utf8', 0, newline).split('\n')) hand(line);
      }
    },
  };
}

function readAt(fd: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(fd, buffer, 0, length, position));
}

const MAX_BYTES = 10 * 1024 * 1024;
const CHECK_EVERY_MS = 60_000;

export type LogFile = { write: (line: string) => void; close: () => void };

export function logFileOf(dataDir: string): string {
  return join(dataDir, 'logs', 'monitor.log');
}

function rotatedFile(path: string): string {
  return `${path}.1`;
}

export function openLogFile(path: string, now: () => Date, maxBytes = MAX_BYTES): LogFile {
  let file = openToAppend(path);
  let checkAt = 0;
  let lost = 0;

  const reopen = () => {
    const next = openToAppend(path);
    closeSync(file.fd);
    file = next;
  };
  const check = (time: number) => {
    checkAt = time + CHECK_EVERY_MS;
    // The file may have been moved away or truncated.
    if (inodeOf(path) !== file.inode) return reopen();
    file.size = fstatSync(file.fd).size;
    if (file.size < maxBytes) return;
    renameSync(path, rotatedFile(path));
    reopen();
  };
  const append = (line: string) => {
    const text = lost === 0 ? line : `${lostLine(now(), lost)}\n${line}`;
    file.size += writeSync(file.fd, text);
  };

  return {
    write(line) {
      const time = now().getTime();
      // A log that cannot be rotated keeps growing: that is better than losing lines.
      if (time >= checkAt || file.size >= maxBytes) succeeds(() => check(time));
      lost = succeeds(() => append(line)) ? 0 : lost + 1;
    },
    close: () => closeSync(file.fd),
  };
}

function succeeds(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return false;
  }
}

/** A pipe in its place takes what it can, and never blocks the daemon. */
const appending = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

/** Opens the log for appending, readable only by its owner. */
export function openToAppend(path: string): { fd: number; inode: number; size: number } {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const fd = openSync(path, appending, 0o600);
  const stats = fstatSync(fd);
  if (stats.isFile() && (stats.mode & 0o077) !== 0) fchmodSync(fd, 0o600);
  return { fd, inode: stats.ino, size: stats.size };
}

function inodeOf(path: string): number | undefined {
  const look = lookNow(path);
  return look.state === 'present' ? Number(look.inode.split(':')[1]) : undefined;
}

/** In the format of the logger's lines, level warn. */
function lostLine(time: Date, lost: number): string {
  return JSON.stringify({ level: 40, time: time.toISOString(), lost, msg: 'log lines could not be written' });
}
