// Files and folders that are created and removed safely. Files that SQLite would create with the umask are created here
// first, for their owner only: SQLite gives its other files (`-wal`, `-shm`) the mode of the database.
import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { entriesIn, isThere, lstat, realpath } from '@svc/lib/paths';
import { Failure } from '../failure.ts';

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

/** Only of a regular file: a link may lead to a device, which everybody needs. */
export function narrow(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() === true && (stats.mode & 0o077) !== 0) chmodSync(path, 0o600);
}

// Folders whose names survive a power cut: a durable file in a lost folder is lost too.

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

// Links that lead out of a checkout. A repository can contain one: reading or writing through it would access a file of
// the user that the repository has chosen.

/** Whether the file, or the location where it would be created, is outside the root. Rejects if that cannot be found out. */
export async function leadsOut(root: string, path: string): Promise<boolean> {
  const realRoot = await realpath(root);
  for (let at = path; ; at = dirname(at)) {
    const real = await ifPresent(realpath(at));
    if (real !== undefined) return real !== realRoot && !real.startsWith(realRoot + sep);
    // It does not exist yet, so its folder decides; or it is a dangling link.
    if ((await isThere(at)) || dirname(at) === at) return true;
  }
}

export async function refuseLeadingOut(root: string, path: string): Promise<void> {
  if (await leadsOut(root, path))
    throw new Failure(
      'file-unusable',
      `${path} is a link to a file outside ${root}, so it is not used.`,
      'Remove the link, or replace it with a copy of the file.',
    );
}

// Removes a folder with all its content, even if package managers or tests left read-only folders in it. Links are
// removed, never followed.

export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    const code = systemErrorCode(error);
    if (code !== 'EACCES' && code !== 'EPERM' && code !== 'ENOTEMPTY') throw error;
    await makeWritable(path);
    await rm(path, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function makeWritable(folder: string): Promise<void> {
  if (!(await lstat(folder)).isDirectory()) return;
  await chmod(folder, 0o700);
  for (const entry of await entriesIn(folder))
    if (entry.isDirectory()) await makeWritable(join(folder, entry.name));
}
