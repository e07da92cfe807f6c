// Files that SQLite makes by the umask are made here first, for their owner alone: beside a database, SQLite gives
// its other files (`-wal`, `-shm`) the mode of the database.
import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';
import { makeFolder } from './make-folder.ts';

/**
 * Makes an empty file of mode 600 where there is none, and takes away what others may do with one that is there. It
 * is never opened: closing a file gives up the locks that this process has on it.
 */
export function ensurePrivateFile(path: string): void {
  makeFolder(dirname(path), 0o700);
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
    narrow(path);
  }
}

export function narrow(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats !== undefined && (stats.mode & 0o077) !== 0) chmodSync(path, 0o600);
}
