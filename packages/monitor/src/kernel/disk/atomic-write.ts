// Replaces a file atomically: a reader sees the old or the new content, never a part, even after a power cut.
import { open, rename, rm, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { createFile, readText, realpath, stat } from '@svc/lib/paths';
import { makeFolder } from './private-file.ts';

export type WriteOptions = {
  /** Mode of the file, even if it existed with another. Without it an existing file keeps its mode. */
  mode?: number;
  /** Mode of folders that have to be created. */
  folderMode?: number;
};

export async function writeFileAtomically(
  path: string,
  content: string | Uint8Array,
  options: WriteOptions = {},
): Promise<void> {
  const target = await throughLinks(path);
  const folder = dirname(target);
  makeFolder(folder, options.folderMode ?? 0o755);
  const mode = options.mode ?? (await modeOf(target)) ?? 0o644;
  const temporary = join(folder, `.${basename(target)}.${process.pid}.${crypto.randomUUID()}.tmp`);
  try {
    await writeDurably(temporary, content, mode);
    await rename(temporary, target);
  } catch (error) {
    await removeIfThere(temporary);
    throw error;
  }
  await syncFolder(folder);
}

async function writeDurably(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  const handle = await createFile(path, mode);
  try {
    await handle.chmod(mode);
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes the names in a folder durable: without it a new file may be gone after a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A linked file is replaced at its real location, so the link stays a link. */
async function throughLinks(path: string): Promise<string> {
  return (await ifPresent(realpath(path))) ?? path;
}

async function modeOf(path: string): Promise<number | undefined> {
  return ifPresent(stat(path).then((stats) => stats.mode & 0o777));
}

async function removeIfThere(path: string): Promise<void> {
  await ifPresent(unlink(path));
}

// A file that holds one secret: mode 600 in a folder of mode 700, replaced atomically.

/** The secret, or undefined when there is none. */
export async function readSecretFile(path: string): Promise<string | undefined> {
  const secret = (await ifPresent(readText(path)))?.trim();
  return secret === '' ? undefined : secret;
}

export async function writeSecretFile(path: string, secret: string): Promise<void> {
  await writeFileAtomically(path, `${secret}\n`, { mode: 0o600, folderMode: 0o700 });
}

/** False when it did not exist. */
export async function removeSecretFile(path: string): Promise<boolean> {
  try {
    await rm(path);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
  await syncFolder(dirname(path));
  return true;
}
