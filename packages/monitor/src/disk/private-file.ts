// Files that SQLite would create with the umask are created here first, for their owner only: SQLite gives its other files
// (`-wal`, `-shm`) the mode of the database.
import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';
import { makeFolder } from './make-folder.ts';

/**
 * Creates an empty file of mode 600 if there is none, and removes other users' permissions from an existing one. An
 * existing file is never opened: closing it would release the locks that this process has on it.
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
