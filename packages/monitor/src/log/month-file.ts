// The files of the log: one per UTC month, named so that the order of the names is the order of time.
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { systemErrorCode } from '@svc/lib/errors';
import { makeFolder, syncFolderNow } from '../disk/make-folder.ts';
import type { LogTail } from './log-entry.ts';

const pattern = /^\d{4}-(?:0[1-9]|1[0-2])\.jsonl$/;

/** `2026-11.jsonl` for any millisecond of that month, UTC. */
export function monthFileName(time: number): string {
  return `${new Date(time).toISOString().slice(0, 7)}.jsonl`;
}

function isMonthFile(name: string): boolean {
  return pattern.test(name);
}

/** The first millisecond of the month after this one: until then `monthFileName` stays the same. */
export function endOfMonth(time: number): number {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}

/** Names of the month files in a folder, oldest first; none when there is no such folder. */
export function listMonthFiles(folder: string): string[] {
  try {
    return readdirSync(folder).filter(isMonthFile).toSorted();
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** The same without empty ones: a month that has begun but has no line yet is not there for a reader. */
export function listFilledMonthFiles(folder: string): string[] {
  return listMonthFiles(folder).filter(
    (name) => (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0) > 0,
  );
}

export type MonthBytes = {
  /** Grows while the month is written. */
  size: () => number;
  /** Like `readSync`: how many bytes were read, 0 at the end. */
  read: (target: Buffer, start: number, length: number, position: number) => number;
  close: () => void;
};

/** Null when the month is not there. */
export function openMonth(folder: string, file: string): MonthBytes | null {
  try {
    const descriptor = openSync(join(folder, file), 'r');
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

// The open end of the log: bytes go after what is known to be durable, or nowhere. Before and after each write the
// file of that name must be the one that is open, and as long as it should be: a line in a file that was removed,
// moved away or replaced is not in the log. Its modes:
// - closed: no file is open; `ready` opens the month's file.
// - open: the file is exactly as long as what is durable.
// - unsure: a batch failed, and bytes of it may stand behind what is durable. Entered when a write or sync
//   fails; left when they could be cut off. Nothing is written before.

export type MonthWriter = {
  /**
   * Makes the month's file ready for bytes, or throws. Returns the log's end when it had to be looked for
   * anew, because the file was not as we left it.
   */
  ready: (month: string) => LogTail | null;
  /** Writes and syncs; on an error nothing of it stays, as soon as the disk allows. */
  write: (bytes: Uint8Array) => Promise<void>;
  /** Whether the file is as it was left; true while none is open. Not to be asked while a write is under way. */
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
  /** Looks at the log anew, when the file is not as we left it: removed, cut or written to by others. */
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

  /** Cuts off what a failed batch may have left. */
  function settle(): void {
    const descriptor = opened?.descriptor ?? open();
    if (disk.status(descriptor).length > length) disk.truncate(descriptor, length);
    unsure = false;
  }

  function hasLength(expected: number): boolean {
    const named = disk.statusOf(join(folder, file));
    return named !== null && named.id === opened?.id && named.length === expected;
  }

  /** Opens the month's file, or the last one if that is of a later month: months never go back. */
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

  /** After a failure the file is opened anew by its name: the descriptor may be what is broken. */
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
    if (written === 0) throw new Error('The disk took no bytes');
    done += written;
  }
}

// The few things the writer asks of a disk, so that tests can give it a full, slow or failing one.

type FileStatus = { length: number; id: string };

export type LogDisk = {
  /** Opens for writing, and makes the file and its folder if need be. */
  open: (path: string) => number;
  /** `id` tells a file from any other, also from one of the same name. */
  status: (descriptor: number) => FileStatus;
  /** Of the file that has this name now; null when none has. */
  statusOf: (path: string) => FileStatus | null;
  /** May write less than asked for, as the system call may; returns how much. */
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
    return openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  },
  status: (descriptor) => statusIn(fstatSync(descriptor)),
  statusOf(path) {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? null : statusIn(stats);
  },
  write: (descriptor, bytes, position) => writeSync(descriptor, bytes, 0, bytes.byteLength, position),
  sync: (descriptor) => flush(descriptor),
  truncate: (descriptor, length) => ftruncateSync(descriptor, length),
  close: (descriptor) => closeSync(descriptor),
  syncFolder: syncFolderNow,
};
