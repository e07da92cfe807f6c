// The manifest of an archived run, `<archive root>/<orchId>/manifest.json`: its files, and the blob of each. It is
// replaced as a whole, so an archive is always the result of one sweep.
import { z } from 'zod';

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const time = z.iso.datetime({ offset: true });

export const ArchivedFile = z.object({
  path: z
    .string()
    .refine(isArchivePath, 'leads out of the archive')
    .describe('run/…, channels/… or events.jsonl'),
  size: z.int().nonnegative().describe('bytes of the original'),
  sha256: Sha256.describe('of the original bytes; also names the blob'),
  mode: z.int().min(0).max(0o777),
  mtime: time,
  source: z.string().describe('where it was found'),
  encoding: z.enum(['identity', 'zstd']).describe('how the blob is stored'),
  storedSize: z.int().nonnegative().describe('bytes of the blob'),
});

/** Entries that are not readable plain files: a link, a pipe, an unreadable file. */
export const SkippedFile = z.object({ path: z.string(), reason: z.string() });

export const ArchiveManifest = z.object({
  version: z.literal(1),
  orchestrator: z.string(),
  archivedAt: time.describe('when the content of the archive last changed'),
  state: z
    .enum(['running', 'paused', 'completed', 'canceled', 'unknown'])
    .describe('state of the run according to the log'),
  project: z.string().nullable().describe('folder of the project, if the log has it'),
  lastSeq: z.int().nonnegative().describe('seq of the last event in events.jsonl; 0 if it is empty'),
  files: z.array(ArchivedFile),
  skipped: z.array(SkippedFile),
});

export type ArchivedFile = z.infer<typeof ArchivedFile>;
export type SkippedFile = z.infer<typeof SkippedFile>;
export type ArchiveManifest = z.infer<typeof ArchiveManifest>;
export type ArchivedRunState = ArchiveManifest['state'];

/** The file below `blobs/` that has the bytes. */
export function blobName({ sha256, encoding }: Pick<ArchivedFile, 'sha256' | 'encoding'>): string {
  return encoding === 'zstd' ? `${sha256}.zst` : sha256;
}

/** Bytes of the originals, and of the blobs; the same bytes are stored once. */
export function archiveSizes(files: readonly ArchivedFile[]): { bytes: number; storedBytes: number } {
  const blobs = new Map(files.map((file) => [blobName(file), file.storedSize]));
  return {
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    storedBytes: [...blobs.values()].reduce((sum, size) => sum + size, 0),
  };
}

/** Whether two sweeps found the same, apart from the time. */
export function sameArchive(left: ArchiveManifest, right: ArchiveManifest): boolean {
  return textOf(left) === textOf(right);
}

function textOf(manifest: ArchiveManifest): string {
  return JSON.stringify({ ...manifest, archivedAt: null });
}

// Names inside an archive. They come from a run's folder, where a worker may have created any name, and a restore
// writes them to disk: none may lead out of the folder that it is restored to.

const LONGEST = 4_096;
/** Lone surrogates, and the replacement character for bytes that are not UTF-8: such a name cannot be restored. */
const UNSPEAKABLE = /[\0\uFFFD]|\p{Surrogate}/u;

/** The run's events. */
export const EVENTS_PATH = 'events.jsonl';

/** `run/…`, `channels/…` or `events.jsonl`: relative, without `..`, with names that a disk can hold. */
export function isArchivePath(path: string): boolean {
  if (path === EVENTS_PATH) return true;
  if (path.length > LONGEST || UNSPEAKABLE.test(path)) return false;
  const [top, ...names] = path.split('/');
  if ((top !== 'run' && top !== 'channels') || names.length === 0) return false;
  return names.every((name) => name !== '' && name !== '.' && name !== '..');
}
