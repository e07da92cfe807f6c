// Paths that others control: projects, agents, other programs and other users may put anything there, at any time. A look
// or a read ends within two seconds, whatever is there: a loop of links, a pipe, a socket, a device without end, a folder,
// a file that is too large or that nobody may read, a network disk that is gone. Nothing but regular files is opened.
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs';
import * as disk from 'node:fs/promises';
import { diskCalls, Unreadable } from './disk-calls.ts';
import { messageOf, systemErrorCode } from './errors.ts';
import { ifAllowed, ifPresent, isMissing } from './files.ts';

// The system does not open what it watches, so that a pipe or a device blocks nothing. Only folders and files of the
// daemon's own data are watched: on a disk that does not answer, nothing works anyway.
export { watch } from 'node:fs';
export { Unreadable } from './disk-calls.ts';

type Kind = 'file' | 'folder' | 'link' | 'pipe' | 'socket' | 'device';

/** `identity` changes whenever the file is written or replaced, `inode` only when it is replaced. */
export type Look =
  | {
      state: 'present';
      kind: Kind;
      identity: string;
      inode: string;
      size: number;
      modifiedAt: number;
      owner: number;
    }
  | { state: 'absent' }
  /** `reason` continues a sentence that begins with the path. */
  | { state: 'unreadable'; reason: string };

/** `keep`: a link itself is meant, and is not opened. */
type Links = 'follow' | 'keep';

/** Never rejects: what the system answers, whatever it is, is one of the three states. */
export async function lookAt(path: string, links: Links = 'follow'): Promise<Look> {
  try {
    const examine = links === 'follow' ? disk.stat : disk.lstat;
    return present(await diskCalls.call(path, () => examine(path, { bigint: true })));
  } catch (error) {
    return failed(error);
  }
}

function present(stats: BigIntStats): Look {
  const { dev, ino, size, mtimeMs, uid } = stats;
  return {
    state: 'present',
    kind: kindOf(stats),
    identity: identityOf(stats),
    inode: `${dev}:${ino}`,
    size: Number(size),
    modifiedAt: Number(mtimeMs),
    owner: Number(uid),
  };
}

function failed(error: unknown): Look {
  return isMissing(error) ? { state: 'absent' } : { state: 'unreadable', reason: reasonOf(error) };
}

/** Something is there; also if it cannot be examined. */
export async function isThere(path: string): Promise<boolean> {
  return (await lookAt(path, 'keep')).state !== 'absent';
}

export async function isFolder(path: string): Promise<boolean> {
  const look = await lookAt(path);
  return look.state === 'present' && look.kind === 'folder';
}

/** A file that this user may start. */
export async function isExecutable(path: string): Promise<boolean> {
  const stats = await ifAllowed(
    diskCalls.call(path, async () => {
      await disk.access(path, constants.X_OK);
      return disk.stat(path);
    }),
  );
  return stats?.isFile() === true;
}

export function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

/** Why a call failed; it continues a sentence that begins with the path. */
export function reasonOf(error: unknown): string {
  if (error instanceof Unreadable) return error.reason;
  const code = systemErrorCode(error);
  if (code === 'ELOOP') return 'is a link that leads in a circle (ELOOP).';
  if (code === 'ENOENT') return 'leads to nothing (ENOENT).';
  return `cannot be read (${code ?? messageOf(error)}).`;
}

// The calls of node:fs/promises, with a time limit.

export function stat(path: string): Promise<Stats> {
  return diskCalls.call(path, () => disk.stat(path));
}

export function lstat(path: string): Promise<Stats> {
  return diskCalls.call(path, () => disk.lstat(path));
}

export function exactLstat(path: string): Promise<BigIntStats> {
  return diskCalls.call(path, () => disk.lstat(path, { bigint: true }));
}

export function realpath(path: string): Promise<string> {
  return diskCalls.call(path, () => disk.realpath(path));
}

export function readlink(path: string): Promise<string> {
  return diskCalls.call(path, () => disk.readlink(path));
}

export function statfs(path: string) {
  return diskCalls.call(path, () => disk.statfs(path));
}

export function readdir(folder: string): Promise<string[]> {
  return diskCalls.call(folder, () => disk.readdir(folder));
}

export function entriesIn(folder: string) {
  return diskCalls.call(folder, () => disk.readdir(folder, { withFileTypes: true }));
}

/** The sorted names in a folder; empty if it does not exist. */
export async function namesIn(folder: string): Promise<string[]> {
  return ((await ifPresent(readdir(folder))) ?? []).toSorted();
}

// Opening and reading. A pipe or a device is opened without waiting, then refused.

const SAFELY = constants.O_NONBLOCK | constants.O_NOCTTY;

/** `flags` beside those that make it safe; for reading unless they say otherwise. */
export type OpenOptions = { links?: Links; flags?: number; mode?: number };

/** A regular file. The caller closes it. */
export async function openFile(path: string, options: OpenOptions = {}): Promise<disk.FileHandle> {
  return diskCalls.call(
    path,
    async () => {
      const handle = await disk.open(path, flagsOf(options), options.mode).catch((error: unknown) => {
        throw refusal(path, error, options);
      });
      try {
        refuseOthers(path, await handle.stat());
        return handle;
      } catch (error) {
        await handle.close();
        throw error;
      }
    },
    (late) => late.close(),
  );
}

/** A new file for writing; nothing may be there before. */
export function createFile(path: string, mode = 0o600): Promise<disk.FileHandle> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  return openFile(path, { flags, mode });
}

export type ReadOptions = { links?: Links; most?: number };
export type Reading = { bytes: Buffer; stats: BigIntStats };

/** Larger files are refused, unless the caller sets another limit. */
const MOST_BYTES = 16 * 1024 * 1024;
const COPIED_AT_ONCE = 1024 * 1024;

/** The content of a regular file, at most `most` bytes. */
export function readFile(path: string, options: ReadOptions = {}): Promise<Reading> {
  const { most = MOST_BYTES } = options;
  return diskCalls.call(path, async () => {
    const handle = await disk.open(path, flagsOf(options)).catch((error: unknown) => {
      throw refusal(path, error, options);
    });
    try {
      const stats = await handle.stat({ bigint: true });
      refuseOthers(path, stats);
      if (stats.size > most) throw tooLarge(path, stats.size, most);
      // One byte more shows that it has grown.
      const bytes = await startOf(handle, Number(stats.size), most + 1);
      if (bytes.length > most) throw tooLarge(path, bytes.length, most);
      return { bytes, stats };
    } finally {
      await handle.close();
    }
  });
}

/** The first bytes of an open file, at most `most`. */
export function readStart(path: string, handle: disk.FileHandle, most: number): Promise<Buffer> {
  return diskCalls.call(path, async () => startOf(handle, (await handle.stat()).size, most));
}

/** Files of the kernel have no size, so the end is found by reading. */
async function startOf(handle: disk.FileHandle, size: number, most: number): Promise<Buffer> {
  const buffer = Buffer.alloc(Math.min(Math.max(size, 4096) + 1, most));
  const parts: Buffer[] = [];
  let length = 0;
  while (length < most) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, most - length), length);
    if (bytesRead === 0) break;
    length += bytesRead;
    parts.push(Buffer.from(buffer.subarray(0, bytesRead)));
  }
  return Buffer.concat(parts);
}

/** Copies a regular file of any size, with its permissions. Nothing may be at `to` before. */
export async function copyFile(from: string, to: string, links: Links = 'follow'): Promise<void> {
  const source = await openFile(from, { links });
  try {
    const { mode } = await diskCalls.call(from, () => source.stat());
    const copy = await createFile(to, mode & 0o777);
    try {
      const buffer = Buffer.alloc(COPIED_AT_ONCE);
      for (;;) {
        const { bytesRead } = await diskCalls.call(from, () => source.read(buffer, 0, buffer.length, null));
        if (bytesRead === 0) return;
        await diskCalls.call(to, () => copy.writeFile(buffer.subarray(0, bytesRead)));
      }
    } finally {
      await copy.close();
    }
  } finally {
    await source.close();
  }
}

/** Nothing may be at `path` before. */
export async function writeNewFile(path: string, text: string, mode = 0o600): Promise<void> {
  const handle = await createFile(path, mode);
  try {
    await diskCalls.call(path, () => handle.writeFile(text));
  } finally {
    await handle.close();
  }
}

// Changing what is there. What was begun may still happen after it was given up.

/** With its parents; the first that did not exist before, if any. */
export function makeFolders(folder: string, mode: number): Promise<string | undefined> {
  return diskCalls.call(folder, () => disk.mkdir(folder, { recursive: true, mode }));
}

export function rename(from: string, to: string): Promise<void> {
  return diskCalls.call(to, () => disk.rename(from, to));
}

export function unlink(path: string): Promise<void> {
  return diskCalls.call(path, () => disk.unlink(path));
}

/** Into an open file, whatever the umask was when it was created. Durable when it ends. */
export async function writeDurably(
  path: string,
  handle: disk.FileHandle,
  content: string | Uint8Array,
  mode: number,
): Promise<void> {
  await diskCalls.call(path, () => handle.chmod(mode));
  await diskCalls.call(path, () => handle.writeFile(content));
  await diskCalls.call(path, () => handle.sync());
}

/** Makes the names in a folder durable: without it a new file may be gone after a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await diskCalls.call(
    folder,
    () => disk.open(folder, constants.O_RDONLY | constants.O_DIRECTORY | SAFELY),
    (late) => late.close(),
  );
  try {
    await diskCalls.call(folder, () => handle.sync());
  } finally {
    await close(folder, handle);
  }
}

/** A disk that does not answer closes it whenever it does. */
export async function close(path: string, handle: disk.FileHandle): Promise<void> {
  await diskCalls.call(path, () => handle.close());
}

export async function readText(path: string, options: ReadOptions = {}): Promise<string> {
  return (await readFile(path, options)).bytes.toString('utf8');
}

// The same without waiting, for the few files that are needed before anything can wait. They are in the folder of the
// daemon's own data: if that disk does not answer, nothing works anyway.

export function lookNow(path: string): Look {
  try {
    return present(statSync(path, { bigint: true }));
  } catch (error) {
    return failed(error);
  }
}

/** A regular file. The caller closes the descriptor. */
export function openNow(path: string, options: OpenOptions = {}): number {
  let descriptor: number;
  try {
    descriptor = openSync(path, flagsOf(options), options.mode);
  } catch (error) {
    throw refusal(path, error, options);
  }
  try {
    refuseOthers(path, fstatSync(descriptor));
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

export function readTextNow(path: string, { most = MOST_BYTES, ...options }: ReadOptions = {}): string {
  const descriptor = openNow(path, options);
  try {
    const { size } = fstatSync(descriptor);
    if (size > most) throw tooLarge(path, size, most);
    const buffer = Buffer.alloc(size);
    return buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, size, 0));
  } finally {
    closeSync(descriptor);
  }
}

function flagsOf({ links = 'follow', flags = constants.O_RDONLY }: OpenOptions): number {
  return flags | SAFELY | (links === 'keep' ? constants.O_NOFOLLOW : 0);
}

function refusal(path: string, error: unknown, { links }: OpenOptions): unknown {
  const code = systemErrorCode(error);
  if (code === 'ENXIO') return new Unreadable(path, code, 'is not a regular file.');
  if (code === 'ELOOP' && links === 'keep')
    return new Unreadable(path, code, 'is a link, which is not followed.');
  return error;
}

function refuseOthers(path: string, stats: Stats | BigIntStats): void {
  if (stats.isFile()) return;
  const kind = kindOf(stats);
  const code = kind === 'folder' ? 'EISDIR' : 'ENXIO';
  throw new Unreadable(path, code, `is a ${kind}, not a regular file.`);
}

function tooLarge(path: string, size: bigint | number, most: number): Unreadable {
  return new Unreadable(path, 'EFBIG', `has ${size} bytes; at most ${most} are read.`);
}

function kindOf(stats: Stats | BigIntStats): Kind {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'folder';
  if (stats.isSymbolicLink()) return 'link';
  if (stats.isFIFO()) return 'pipe';
  return stats.isSocket() ? 'socket' : 'device';
}
