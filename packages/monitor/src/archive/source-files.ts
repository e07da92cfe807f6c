// What lies in a run's folder. Workers wrote it, so nothing there is trusted: links are never followed, only plain
// files are read, never more of one than it had when it was opened, and a file is read only when it really lies
// where its path says.

import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { isArchivePath, isTemporaryName, runOfChannel, type SkippedFile } from '@svc/core';
import { systemErrorCode } from '@svc/lib/errors';
import { namesIn } from '@svc/lib/files';

const MAX_FILES = 100_000;
const MAX_DEPTH = 64;
/** Neither through a link, nor waiting for somebody at the other end of a pipe. */
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** `path` is the name in the archive, `source` where it lies, `top` the configured folder that it lies in. */
export type SourceFile = { path: string; source: string; top: string; mtimeMs: number };
export type Found = { files: SourceFile[]; skipped: SkippedFile[] };
type Place = Found & { top: string };

/** The files of a run and of its channels, in the order of their names. Folders that are not there have none. */
export async function findSources({
  runsDir,
  commsDir,
  orchestrator,
  runs,
}: {
  runsDir: string;
  commsDir: string;
  orchestrator: string;
  /** All runs: a channel belongs to the one whose name fits best. */
  runs: ReadonlySet<string>;
}): Promise<Found> {
  const found: Found = { files: [], skipped: [] };
  await walk(join(runsDir, orchestrator), 'run', { ...found, top: runsDir }, 0);
  for (const name of await namesIn(commsDir))
    if (runOfChannel(name, runs) === orchestrator)
      await take(join(commsDir, name), `channels/${name}`, { ...found, top: commsDir }, 0);
  return found;
}

async function walk(folder: string, path: string, found: Place, depth: number): Promise<void> {
  if (depth > MAX_DEPTH) return skip(found, path, 'lies too deep');
  let names: string[];
  try {
    names = await namesIn(folder);
  } catch (error) {
    return skip(found, path, reasonOf(error));
  }
  for (const name of names) await take(join(folder, name), `${path}/${name}`, found, depth);
}

async function take(source: string, path: string, found: Place, depth: number): Promise<void> {
  if (isTemporaryName(basename(source))) return;
  if (!isArchivePath(path)) return skip(found, JSON.stringify(path), 'has a name that cannot be kept');
  let stats: Awaited<ReturnType<typeof lstat>>;
  try {
    stats = await lstat(source);
  } catch (error) {
    // It went away since its folder was listed.
    return systemErrorCode(error) === 'ENOENT' ? undefined : skip(found, path, reasonOf(error));
  }
  if (stats.isDirectory()) return walk(source, path, found, depth + 1);
  if (!stats.isFile()) return skip(found, path, stats.isSymbolicLink() ? 'is a link' : 'is not a plain file');
  if (found.files.length >= MAX_FILES) return skip(found, path, `is beyond the first ${MAX_FILES} files`);
  found.files.push({ path, source, top: found.top, mtimeMs: stats.mtimeMs });
}

export type OpenSource = {
  size: number;
  mode: number;
  mtime: string;
  /** Changes whenever the file is written; null when that was too short a time ago to tell. */
  identity: string | null;
  bytes: () => AsyncIterable<Buffer>;
};

/** Opens a file for as long as `work` takes. Else why it cannot be read as a plain file; null when it is gone. */
export async function withSource<T>(
  { source, top }: SourceFile,
  work: (open: OpenSource) => Promise<T>,
): Promise<T | { unreadable: string | null }> {
  let handle: FileHandle;
  try {
    handle = await open(source, flags);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return { unreadable: null };
    return { unreadable: reasonOf(error) };
  }
  try {
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) return { unreadable: 'is not a plain file' };
    if (!(await liesThere(source, top, stats))) return { unreadable: 'lies behind a link' };
    return await work(opened(handle, stats));
  } finally {
    await handle.close();
  }
}

/** A folder on the way may have become a link since it was listed: then what was opened lies elsewhere. */
async function liesThere(source: string, top: string, { dev, ino }: BigIntStats): Promise<boolean> {
  const [real, realTop] = await Promise.all([realpath(source), realpath(top)]);
  if (real !== join(realTop, relative(top, source))) return false;
  const now = await lstat(real, { bigint: true });
  return now.dev === dev && now.ino === ino;
}

function opened(handle: FileHandle, stats: BigIntStats): OpenSource {
  const size = Number(stats.size);
  return {
    size,
    mode: Number(stats.mode) & 0o777,
    mtime: new Date(Number(stats.mtimeMs)).toISOString(),
    identity: identityOf(stats),
    bytes: () =>
      size === 0
        ? (async function* () {})()
        : handle.createReadStream({ start: 0, end: size - 1, autoClose: false, highWaterMark: 256 * 1024 }),
  };
}

/** Clocks of file systems may tick as slowly as this. */
const SLOWEST_TICK_MS = 2_000;

function identityOf({ dev, ino, size, mtimeNs, ctimeNs, ctimeMs }: BigIntStats): string | null {
  if (Date.now() - Number(ctimeMs) <= SLOWEST_TICK_MS) return null;
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

function skip({ skipped }: Found, path: string, reason: string): void {
  if (skipped.length < MAX_FILES) skipped.push({ path, reason });
}

function reasonOf(error: unknown): string {
  const code = systemErrorCode(error);
  if (code === undefined) throw error;
  return code === 'ELOOP' ? 'is a link' : `cannot be read (${code})`;
}
