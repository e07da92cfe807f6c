// The few things the writer asks of a disk, so that tests can give it a full, slow or failing one.
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

export type LogDisk = {
  /** Opens for writing, and makes the file and its folder if need be. */
  open: (path: string) => number;
  /** `linked` is false when the name was removed: what is written would be lost with the descriptor. */
  status: (descriptor: number) => { length: number; linked: boolean };
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

export const realDisk: LogDisk = {
  open(path) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  },
  status(descriptor) {
    const stats = fstatSync(descriptor);
    return { length: stats.size, linked: stats.nlink > 0 };
  },
  write: (descriptor, bytes, position) => writeSync(descriptor, bytes, 0, bytes.byteLength, position),
  sync: (descriptor) => flush(descriptor),
  truncate: (descriptor, length) => ftruncateSync(descriptor, length),
  close: (descriptor) => closeSync(descriptor),
  syncFolder(folder) {
    const descriptor = openSync(folder, 'r');
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  },
};
