// The files of the log: one per UTC month, named so that sorting by name sorts by time.
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  ftruncateSync,
  readdirSync,
  readSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { systemErrorCode } from '@svc/lib/errors';
import { lookNow, openNow } from '@svc/lib/paths';
import { makeFolder, syncFolderNow } from '../disk/private-file.ts';
import type { LogTail } from './log-entry.ts';

const pattern = /^\d{4}-(?:0[1-9]|1[0-2])\.jsonl$/;

/** `2026-11.jsonl` for any millisecond of that month, UTC. */
export function monthFileName(time: number): string {
  return `${new Date(time).toISOString().slice(0, 7)}.jsonl`;
}

function isMonthFile(name: string): boolean {
  return pattern.test(name);
}

/** The first millisecond of the next month: until then `monthFileName` stays the same. */
export function endOfMonth(time: number): number {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}

/** Names of the month files in a folder, oldest first; none if the folder does not exist. */
export function listMonthFiles(folder: string): string[] {
  try {
    return readdirSync(folder).filter(isMonthFile).toSorted();
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** The same without empty files: a month without a line yet does not exist for a reader. */
export function listFilledMonthFiles(folder: string): string[] {
  return listMonthFiles(folder).filter((name) => {
    const look = lookNow(join(folder, name));
    return (
      look.state === 'unreadable' || (look.state === 'present' && (look.kind !== 'file' || look.size > 0))
    );
  });
}

export type MonthBytes = {
  /** Grows while the month is written. */
  size: () => number;
  /** Like `readSync`: the number of bytes read, 0 at the end. */
  read: (target: Buffer, start: number, length: number, position: number) => number;
  close: () => void;
};

/** Null when the month's file does not exist. */
export function openMonth(folder: string, file: string): MonthBytes | null {
  try {
    const descriptor = openNow(join(folder, file));
    return {
      size: () => fstatSync(descriptor).size,
      read: (target, start, length, position) => readSync(descriptor, target, start, length, position),
      close: () => closeSync(descriptor),
    };
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

// The open end of the log: bytes go directly after what is known to be durable, or are not written. Before and after
// each write the file of that name must be the open one, with the expected length: a line in a file that was removed,
// moved or replaced is not in the log. Its modes:
// - closed: no file is open; `ready` opens the month's file.
// - open: the file is exactly as long as what is durable.
// - unsure: a batch failed, and some of its bytes may follow what is durable. Entered when a write or sync fails; left
//   when they could be cut off. Nothing is written before that.

export type MonthWriter = {
  /**
   * Prepares the month's file for writing, or throws. Returns the log's end when it had to be found again, because the
   * file was not as we left it.
   */
  ready: (month: string) => LogTail | null;
  /** Writes and syncs; after an error nothing of it stays, as soon as the disk allows. */
  write: (bytes: Uint8Array) => Promise<void>;
  /** Whether the file is as we left it; true while none is open. Do not call it during a write. */
  isAsLeft: () => boolean;
  file: () => string;
  length: () => number;
  close: () => void;
};

export function createMonthWriter({
  folder,
  tail,
  recover,
  disk = realDisk,
}: {
  folder: string;
  tail: LogTail;
  /** Finds the log's end again when the file is not as we left it: removed, cut, or written to by another program. */
  recover: () => LogTail;
  disk?: LogDisk;
}): MonthWriter {
  let opened: { descriptor: number; id: string } | null = null;
  let file = tail.file ?? '';
  let length = tail.length;
  let unsure = false;

  function open(): number {
    const descriptor = disk.open(join(folder, file));
    try {
      disk.syncFolder(folder);
      opened = { descriptor, id: disk.status(descriptor).id };
    } catch (error) {
      disk.close(descriptor);
      throw error;
    }
    return descriptor;
  }

  function close(): void {
    if (opened === null) return;
    const { descriptor } = opened;
    opened = null;
    disk.close(descriptor);
  }

  /** Cuts off what a failed batch may have written. */
  function settle(): void {
    const descriptor = opened?.descriptor ?? open();
    if (disk.status(descriptor).length > length) disk.truncate(descriptor, length);
    unsure = false;
  }

  function hasLength(expected: number): boolean {
    const named = disk.statusOf(join(folder, file));
    return named !== null && named.id === opened?.id && named.length === expected;
  }

  /** Opens the month's file, or the last one if it belongs to a later month: months never go back. */
  function startAt(end: LogTail, month: string): void {
    close();
    const isLater = end.file === null || month > end.file;
    length = isLater ? 0 : end.length;
    file = isLater ? month : (end.file ?? month);
    open();
  }

  function prepare(month: string): LogTail | null {
    if (unsure) settle();
    const end: LogTail = { file: file === '' ? null : file, length, seq: 0, time: 0 };
    if (opened === null || month > file) startAt(end, month);
    if (hasLength(length)) return null;
    const found = recover();
    startAt(found, month);
    if (!hasLength(length)) throw changedByOthers();
    return found;
  }

  function changedByOthers(): Error {
    return new Error(`${file} is being removed or changed by another program`);
  }

  /** After a failure the file is opened again by its name: the descriptor may be broken. */
  function letGo(): void {
    try {
      if (unsure) settle();
    } finally {
      close();
    }
  }

  /** The first failure is the one to report; if letting go fails as well, `ready` tries that again. */
  function afterLettingGo(error: unknown): unknown {
    try {
      letGo();
      return error;
    } catch {
      return error;
    }
  }

  return {
    file: () => file,
    length: () => length,
    close,
    isAsLeft: () => opened === null || hasLength(length),
    ready(month) {
      try {
        return prepare(month);
      } catch (error) {
        throw afterLettingGo(error);
      }
    },
    async write(bytes) {
      if (opened === null) throw new Error('The log file is not open');
      const { descriptor } = opened;
      try {
        writeAll(disk, descriptor, bytes, length);
        await disk.sync(descriptor);
        if (!hasLength(length + bytes.byteLength)) throw changedByOthers();
        length += bytes.byteLength;
      } catch (error) {
        unsure = true;
        throw afterLettingGo(error);
      }
    },
  };
}

function writeAll(disk: LogDisk, descriptor: number, bytes: Uint8Array, position: number): void {
  let done = 0;
  while (done < bytes.byteLength) {
    const written = disk.write(descriptor, bytes.subarray(done), position + done);
    if (written === 0) throw new Error('No bytes were written to the disk');
    done += written;
  }
}

// The few operations the writer needs from a disk, so tests can simulate a full, slow or failing one.

type FileStatus = { length: number; id: string };

export type LogDisk = {
  /** Opens for writing, and creates the file and its folder if necessary. */
  open: (path: string) => number;
  /** `id` distinguishes a file from any other, even one with the same name. */
  status: (descriptor: number) => FileStatus;
  /** Status of the file that currently has this name; null if none does. */
  statusOf: (path: string) => FileStatus | null;
  /** May write less than requested, like the system call; returns how much. */
  write: (descriptor: number, bytes: Uint8Array, position: number) => number;
  /** Resolves when all written bytes, and the length, would survive a power cut. */
  sync: (descriptor: number) => Promise<void>;
  truncate: (descriptor: number, length: number) => void;
  close: (descriptor: number) => void;
  /** Makes new names in a folder survive a power cut. */
  syncFolder: (folder: string) => void;
};

const flush = promisify(fdatasync);

function statusIn({ size, dev, ino }: Stats): FileStatus {
  return { length: size, id: `${dev}:${ino}` };
}

export const realDisk: LogDisk = {
  open(path) {
    makeFolder(dirname(path), 0o700);
    return openNow(path, { flags: constants.O_RDWR | constants.O_CREAT, mode: 0o600 });
  },
  status: (descriptor) => statusIn(fstatSync(descriptor)),
  statusOf(path) {
    const look = lookNow(path);
    return look.state === 'present' ? { length: look.size, id: look.inode } : null;
  },
  write: (descriptor, bytes, position) => writeSync(descriptor, bytes, 0, bytes.byteLength, position),
  sync: (descriptor) => flush(descriptor),
  truncate: (descriptor, length) => ftruncateSync(descriptor, length),
  close: (descriptor) => closeSync(descriptor),
  syncFolder: syncFolderNow,
};
