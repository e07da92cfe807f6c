// Folders whose names survive a power cut: a durable file in a lost folder is lost too.
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';

/** Creates a folder and its parents if they do not exist. Their names are durable when it returns. */
export function makeFolder(folder: string, mode: number): void {
  const first = mkdirSync(resolve(folder), { recursive: true, mode });
  if (first === undefined) return;
  for (let made = resolve(folder); made.length >= first.length; made = dirname(made))
    syncParent(dirname(made));
}

/** Makes the names in a folder durable. */
export function syncFolderNow(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** A folder that may be written but not read cannot be synced. */
function syncParent(folder: string): void {
  try {
    syncFolderNow(folder);
  } catch (error) {
    if (systemErrorCode(error) !== 'EACCES') throw error;
  }
}
