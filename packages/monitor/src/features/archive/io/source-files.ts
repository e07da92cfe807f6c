// The files in a run's folder. Workers wrote them, so nothing there is trusted: links are never followed, only regular
// files are read, never beyond the size that a file had when it was opened, and only if it really is at its path.
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';
import { exactLstat, lstat, namesIn, openFile, realpath } from '@svc/lib/paths';
import { isTemporaryName, runOfChannel } from '../archive-rules.ts';
import { isArchivePath, type SkippedFile } from '../manifest.ts';

const MAX_FILES = 100_000;
const MAX_DEPTH = 64;

/** `path` is the name in the archive, `source` the file's location, `top` the configured folder that contains it. */
export type SourceFile = { path: string; source: string; top: string; size: number; mtimeMs: number };
export type Found = { files: SourceFile[]; skipped: SkippedFile[] };
type Search = Found & { top: string };

/** The files of a run and of its channels, sorted by name. Missing folders have none. */
export async function findSources({
  runsDir,
  commsDir,
  orchestrator,
  runs,
}: {
  runsDir: string;
  commsDir: string;
  orchestrator: string;
  /** All runs: a channel belongs to the run with the best matching name. */
  runs: ReadonlySet<string>;
}): Promise<Found> {
  const found: Found = { files: [], skipped: [] };
  await walk(join(runsDir, orchestrator), 'run', { ...found, top: runsDir }, 0);
  for (const name of await namesIn(commsDir))
    if (runOfChannel(name, runs) === orchestrator)
      await take(join(commsDir, name), `channels/${name}`, { ...found, top: commsDir }, 0);
  return found;
}

async function walk(folder: string, path: string, found: Search, depth: number): Promise<void> {
  if (depth > MAX_DEPTH) return skip(found, path, 'is nested too deeply');
  let names: string[];
  try {
    names = await namesIn(folder);
  } catch (error) {
    return skip(found, path, reasonOf(error));
  }
  for (const name of names) await take(join(folder, name), `${path}/${name}`, found, depth);
}

async function take(source: string, path: string, found: Search, depth: number): Promise<void> {
  if (isTemporaryName(basename(source))) return;
  if (!isArchivePath(path)) return skip(found, JSON.stringify(path), 'has a name that cannot be archived');
  let stats: Awaited<ReturnType<typeof lstat>>;
  try {
    stats = await lstat(source);
  } catch (error) {
    // It disappeared after its folder was listed.
    return systemErrorCode(error) === 'ENOENT' ? undefined : skip(found, path, reasonOf(error));
  }
  if (stats.isDirectory()) return walk(source, path, found, depth + 1);
  if (!stats.isFile())
    return skip(found, path, stats.isSymbolicLink() ? 'is a link' : 'is not a regular file');
  if (found.files.length >= MAX_FILES) return skip(found, path, `is beyond the first ${MAX_FILES} files`);
  const { size, mtimeMs } = stats;
  found.files.push({ path, source, top: found.top, size, mtimeMs });
}

export type OpenSource = {
  size: number;
  mode: number;
  mtime: string;
  /** Changes whenever the file is written; null when it was written too recently to be sure. */
  identity: string | null;
  bytes: () => AsyncIterable<Buffer>;
};

/** Opens a file for the duration of `work`. Otherwise returns why it cannot be read; null when it is gone. */
export async function withSource<T>(
  { source, top }: SourceFile,
  work: (open: OpenSource) => Promise<T>,
): Promise<T | { unreadable: string | null }> {
  let handle: FileHandle;
  try {
    handle = await openFile(source, { links: 'keep' });
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return { unreadable: null };
    return { unreadable: reasonOf(error) };
  }
  try {
    const stats = await handle.stat({ bigint: true });
    if (!(await isAtPath(source, top, stats))) return { unreadable: 'is behind a link' };
    return await work(opened(handle, stats));
  } finally {
    await handle.close();
  }
}

/** A parent folder may have become a link since it was listed: then the opened file is elsewhere. */
async function isAtPath(source: string, top: string, { dev, ino }: BigIntStats): Promise<boolean> {
  const [real, realTop] = await Promise.all([realpath(source), realpath(top)]);
  if (real !== join(realTop, relative(top, source))) return false;
  const now = await exactLstat(real);
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

/** File systems may have clocks as coarse as this. */
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
  if (code === 'ELOOP') return 'is a link';
  return code === 'ENXIO' || code === 'EISDIR' ? 'is not a regular file' : `cannot be read (${code})`;
}
