// Updates the archive of one run: blobs first, each synced before it is renamed; then the manifest, in one step. Until
// that step the archive is the old one; the next sweep removes blobs that no manifest names. Files that are gone from the
// run's folder stay in the archive.
import { constants } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openFile } from '@svc/lib/paths';
import { findPositionOfSeq } from '../../../kernel/log/find-position.ts';
import { parseHead, parseLine } from '../../../kernel/log/log-entry.ts';
import { readLines } from '../../../kernel/log/read-lines.ts';
import { runOfLine, runStateAfter } from '../archive-rules.ts';
import {
  type ArchivedFile,
  type ArchivedRunState,
  type ArchiveManifest,
  blobName,
  EVENTS_PATH,
  sameArchive,
} from '../manifest.ts';
import type { Identities } from './archive-index.ts';
import { type BlobFolder, type Bytes, createBlobFolder, hashOf, type StoredBlob } from './blobs.ts';
import { writeManifest } from './manifest-file.ts';
import { type Found, type OpenSource, type SourceFile, withSource } from './source-files.ts';

export type ArchiveRunOptions = {
  root: string;
  orchestrator: string;
  found: Found;
  lines: LinesOfRun;
  /** The lines start after this one; 0 when they replace everything that is archived. */
  linesAfter: number;
  eventsDir: string;
  previous: ArchiveManifest | undefined;
  /** Identities of the archived files, when they were read. */
  identities: Identities;
  /** Reads every file and every blob again, even if they seem unchanged. */
  thorough: boolean;
  /** Only determines what would change. */
  dryRun: boolean;
  now: number;
  onBytes: (bytes: number) => void;
};

export type ArchivedRun = {
  outcome: 'new' | 'updated' | 'unchanged';
  manifest: ArchiveManifest;
  /** Hash of the manifest; null when none was written. */
  sha256: string | null;
  identities: Identities;
};

export async function archiveRun(options: ArchiveRunOptions): Promise<ArchivedRun> {
  const { root, orchestrator, found, lines, previous, dryRun, now } = options;
  const blobs = createBlobFolder(join(root, orchestrator));
  const files = new Map(previous?.files.map((file) => [file.path, file]));
  const skipped = new Map(found.skipped.map(({ path, reason }) => [path, reason]));
  const identities = new Map<string, string | null>();
  for (const source of found.files) {
    const known = files.get(source.path);
    const taken = await withSource(source, async (opened) => {
      identities.set(source.path, opened.identity);
      return takeFile(options, blobs, source, opened, known);
    });
    if (!('unreadable' in taken)) files.set(source.path, taken);
    else if (taken.unreadable !== null) skipped.set(source.path, taken.unreadable);
  }
  const events = await takeLines(options, blobs, files.get(EVENTS_PATH));
  if (events !== undefined) files.set(EVENTS_PATH, events);
  const manifest: ArchiveManifest = {
    version: 1,
    orchestrator,
    archivedAt: new Date(now).toISOString(),
    state: lines.state ?? previous?.state ?? 'unknown',
    project: lines.project ?? previous?.project ?? null,
    lastSeq: Math.max(lines.lastSeq, previous?.lastSeq ?? 0),
    files: sameSizes([...files.values()].toSorted(byPath)),
    skipped: [...skipped].map(([path, reason]) => ({ path, reason })).toSorted(byPath),
  };
  if (previous !== undefined && sameArchive(previous, manifest))
    return { outcome: 'unchanged', manifest: previous, sha256: null, identities };
  const outcome = previous === undefined ? 'new' : 'updated';
  if (dryRun) return { outcome, manifest, sha256: null, identities };
  await blobs.sync();
  return { outcome, manifest, sha256: await writeManifest(root, manifest), identities };
}

async function takeFile(
  { identities, thorough, dryRun, onBytes }: ArchiveRunOptions,
  blobs: BlobFolder,
  { path, source }: SourceFile,
  opened: OpenSource,
  known: ArchivedFile | undefined,
): Promise<ArchivedFile> {
  const { size, mode, mtime, identity } = opened;
  onBytes(size);
  if (known !== undefined && !thorough && identity !== null && identities.get(path) === identity)
    if (dryRun || (await blobs.holds(known))) return known;
  if (known?.size === size && (await hashOf(opened.bytes())).sha256 === known.sha256)
    if (dryRun || (await isStored(blobs, known, thorough))) return { ...known, mode, mtime, source };
  const stored = await keep(blobs, opened.bytes(), size, dryRun);
  return { path, size: stored.size, sha256: stored.sha256, mode, mtime, source, ...encodingOf(stored) };
}

/** The run's slice of the log with its new lines; undefined when there are none. */
async function takeLines(
  { lines, linesAfter, eventsDir, dryRun, onBytes }: ArchiveRunOptions,
  blobs: BlobFolder,
  known: ArchivedFile | undefined,
): Promise<ArchivedFile | undefined> {
  if (lines.count === 0) return undefined;
  const { file, bytes, lastAt } = lines;
  onBytes(bytes);
  const before = linesAfter > 0 ? known : undefined;
  const size = bytes + (before?.size ?? 0);
  const stored =
    file === null
      ? { size, sha256: '0'.repeat(64), encoding: 'identity' as const, storedSize: size }
      : await keep(
          blobs,
          joined(before && blobs.read(before), (await openFile(file)).createReadStream()),
          size,
          dryRun,
        );
  const mtime = lastAt ?? new Date(0).toISOString();
  const { sha256 } = stored;
  return {
    path: EVENTS_PATH,
    size: stored.size,
    sha256,
    mode: 0o600,
    mtime,
    source: eventsDir,
    ...encodingOf(stored),
  };
}

async function* joined(first: Bytes | undefined, second: Bytes): AsyncGenerator<Buffer> {
  if (first !== undefined) yield* first;
  yield* second;
}

async function keep(blobs: BlobFolder, bytes: Bytes, size: number, dryRun: boolean): Promise<StoredBlob> {
  if (!dryRun) return blobs.write(bytes, size);
  const hashed = await hashOf(bytes);
  return { ...hashed, encoding: 'identity', storedSize: hashed.size };
}

async function isStored(blobs: BlobFolder, known: ArchivedFile, thorough: boolean): Promise<boolean> {
  return thorough ? (await blobs.check(known)) === 'ok' : blobs.holds(known);
}

function encodingOf({ encoding, storedSize }: StoredBlob): Pick<ArchivedFile, 'encoding' | 'storedSize'> {
  return { encoding, storedSize };
}

/** Files with the same content share a blob; rewritten by another version, it may be shorter or longer. */
function sameSizes(files: ArchivedFile[]): ArchivedFile[] {
  const written = new Map(files.map((file) => [blobName(file), file.storedSize]));
  return files.map((file) => ({ ...file, storedSize: written.get(blobName(file)) ?? file.storedSize }));
}

function byPath(left: { path: string }, right: { path: string }): number {
  return left.path < right.path ? -1 : left.path > right.path ? 1 : 0;
}

// The lines of runs in the event log. One pass over the log serves all runs, from the first line that any of them lacks;
// the lines go into one file per run, so memory use does not depend on the length of the log.

const FLUSH_BYTES = 4 * 1024 * 1024;
/** Cheaper than parsing: most lines of a log belong to no run. */
const MARK = '"orchestrator":"';

export type LinesOfRun = {
  count: number;
  bytes: number;
  /** 0 when there are none. */
  lastSeq: number;
  lastAt: string | null;
  /** The run's state according to the lines; undefined if they do not contain it. */
  state: ArchivedRunState | undefined;
  project: string | undefined;
  /** The file with the lines; null when they were only counted. */
  file: string | null;
};

export type CollectedLines = { of: (orchestrator: string) => LinesOfRun; scannedSeq: number };

const none: LinesOfRun = {
  count: 0,
  bytes: 0,
  lastSeq: 0,
  lastAt: null,
  state: undefined,
  project: undefined,
  file: null,
};

export async function collectRunLines({
  folder,
  after,
  into,
}: {
  folder: string;
  /** Per run, the last line that is not wanted. Other runs are left out. */
  after: ReadonlyMap<string, number>;
  /** The folder for the files; without it lines are only counted. */
  into: string | undefined;
}): Promise<CollectedLines> {
  const found = new Map<string, LinesOfRun>();
  const pending = createPending(into);
  let scannedSeq = 0;
  if (after.size > 0) {
    const from = findPositionOfSeq(folder, Math.min(...after.values()) + 1);
    for await (const lines of readLines({ folder, ...(from && { from }) })) {
      for (const { text } of lines) {
        if (!text.includes(MARK)) continue;
        const line = parseLine(text);
        const run = line === null ? undefined : runOfLine(line);
        if (line === null || run === undefined || line.seq <= (after.get(run) ?? Infinity)) continue;
        const before = found.get(run) ?? none;
        const project = runStateAfter(line) === 'running' ? line.detail['project'] : undefined;
        found.set(run, {
          count: before.count + 1,
          bytes: before.bytes + Buffer.byteLength(text) + 1,
          lastSeq: line.seq,
          lastAt: line.ts,
          state: runStateAfter(line) ?? before.state,
          project: typeof project === 'string' ? project : before.project,
          file: pending.add(run, text),
        });
      }
      scannedSeq = parseHead(lines.at(-1)?.text ?? '')?.seq ?? scannedSeq;
      await pending.flush(FLUSH_BYTES);
    }
  }
  await pending.flush(0);
  return { of: (orchestrator) => found.get(orchestrator) ?? none, scannedSeq };
}

const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;

async function append(path: string, text: string): Promise<void> {
  const handle = await openFile(path, { flags: APPEND, mode: 0o600 });
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}

function createPending(into: string | undefined) {
  const texts = new Map<string, string[]>();
  let size = 0;
  return {
    add(run: string, text: string): string | null {
      if (into === undefined) return null;
      const held = texts.get(run);
      if (held === undefined) texts.set(run, [text, '\n']);
      else held.push(text, '\n');
      size += text.length;
      return join(into, run);
    },
    async flush(above: number): Promise<void> {
      if (into === undefined || size <= above) return;
      await mkdir(into, { recursive: true, mode: 0o700 });
      for (const [run, held] of texts) await append(join(into, run), held.join(''));
      texts.clear();
      size = 0;
    },
  };
}
