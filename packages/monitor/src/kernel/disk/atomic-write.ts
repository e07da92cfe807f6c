// Replaces a file atomically: a reader sees the old or the new content, never a part, even after a power cut. Every step ends
// in time: the file may be in a project, on a disk that does not answer.
import { basename, dirname, join, resolve } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import {
  close,
  createFile,
  makeFolders,
  readText,
  realpath,
  rename,
  stat,
  syncFolder,
  unlink,
  writeDurably,
} from '@svc/lib/paths';

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
  await makeDurableFolder(folder, options.folderMode ?? 0o755);
  const mode = options.mode ?? (await modeOf(target)) ?? 0o644;
  const temporary = join(folder, `.${basename(target)}.${process.pid}.${crypto.randomUUID()}.tmp`);
  try {
    await writeNew(temporary, content, mode);
    await rename(temporary, target);
  } catch (error) {
    // Why it failed matters, and not that this fails too.
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await syncFolder(folder);
}

async function writeNew(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  const handle = await createFile(path, mode);
  try {
    await writeDurably(path, handle, content, mode);
  } finally {
    await close(path, handle);
  }
}

/** Creates a folder and its parents if they do not exist. Their names are durable when it ends. */
export async function makeDurableFolder(folder: string, mode: number): Promise<void> {
  const first = await makeFolders(resolve(folder), mode);
  if (first === undefined) return;
  for (let made = resolve(folder); made.length >= first.length; made = dirname(made))
    await syncFolder(dirname(made)).catch((error: unknown) => {
      // A folder that may be written but not read cannot be synced.
      if (systemErrorCode(error) !== 'EACCES') throw error;
    });
}

/** A linked file is replaced at its real location, so the link stays a link. */
async function throughLinks(path: string): Promise<string> {
  return (await ifPresent(realpath(path))) ?? path;
}

async function modeOf(path: string): Promise<number | undefined> {
  return ifPresent(stat(path).then((stats) => stats.mode & 0o777));
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
    await unlink(path);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
  await syncFolder(dirname(path));
  return true;
}
