// A disk for tests: the real one, but it can be full, write less than requested, fail to sync or to truncate, or
// block a sync until the test releases it.
import { type LogDisk, realDisk } from '../month-file.ts';

export type Faults = {
  open?: string;
  write?: string;
  sync?: string;
  truncate?: string;
  syncFolder?: string;
  /** A write takes at most this many bytes. */
  atMost?: number;
  /** Bytes left on the disk; a write beyond takes what fits, then fails. */
  space?: number;
};

export type FaultyDisk = LogDisk & {
  faults: Faults;
  counts: { writes: number; syncs: number; folderSyncs: number };
  /** Syncs wait from now on; the function releases them. */
  holdSyncs: () => () => void;
};

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: simulated`), { code });
}

export function createFaultyDisk(): FaultyDisk {
  const counts = { writes: 0, syncs: 0, folderSyncs: 0 };
  let held: Promise<void> = Promise.resolve();
  const disk: FaultyDisk = {
    ...realDisk,
    faults: {},
    counts,
    holdSyncs() {
      const gate = Promise.withResolvers<void>();
      held = gate.promise;
      return () => gate.resolve();
    },
    open(path) {
      if (disk.faults.open !== undefined) throw systemError(disk.faults.open);
      return realDisk.open(path);
    },
    write(descriptor, bytes, position) {
      const { write, atMost = Infinity, space = Infinity } = disk.faults;
      counts.writes += 1;
      if (write !== undefined) throw systemError(write);
      const length = Math.min(bytes.byteLength, atMost, space);
      if (length === 0) throw systemError('ENOSPC');
      if (disk.faults.space !== undefined) disk.faults.space -= length;
      return realDisk.write(descriptor, bytes.subarray(0, length), position);
    },
    async sync(descriptor) {
      counts.syncs += 1;
      await held;
      if (disk.faults.sync !== undefined) throw systemError(disk.faults.sync);
      await realDisk.sync(descriptor);
    },
    truncate(descriptor, length) {
      if (disk.faults.truncate !== undefined) throw systemError(disk.faults.truncate);
      realDisk.truncate(descriptor, length);
    },
    syncFolder(folder) {
      counts.folderSyncs += 1;
      if (disk.faults.syncFolder !== undefined) throw systemError(disk.faults.syncFolder);
      realDisk.syncFolder(folder);
    },
  };
  return disk;
}
