// The few things the writer asks of a disk, so that tests can give it a full, slow or failing one.
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  ftruncateSync,
  openSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { makeFolder, syncFolderNow } from '../disk/make-folder.ts';

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
