// The index of the archive in SQLite: which runs are archived, and their files. It can be rebuilt from the manifests,
// except for which runs were pruned.
import { rename, rm } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { safeSegment } from '@svc/contract/signal-file';
import { systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { entriesIn } from '@svc/lib/paths';
import { removeTree } from '../../../kernel/disk/private-file.ts';
import { DatabaseFromNewerVersion, isBusy, isDamage, openDatabase } from '../../../kernel/disk/sqlite.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { ArchiveList } from '../api.ts';
import { isTemporaryName } from '../archive-rules.ts';
import { type ArchivedRunState, type ArchiveManifest, archiveSizes } from '../manifest.ts';
import { createBlobFolder } from './blobs.ts';
import { readManifest } from './manifest-file.ts';

const migrations = [
  `CREATE TABLE archive_runs (
     root TEXT NOT NULL,
     orchestrator TEXT NOT NULL,
     archived_at TEXT NOT NULL,
     state TEXT NOT NULL,
     files INTEGER NOT NULL,
     bytes INTEGER NOT NULL,
     stored_bytes INTEGER NOT NULL,
     manifest_sha256 TEXT NOT NULL,
     scanned_seq INTEGER NOT NULL,
     pruned_at TEXT,
     PRIMARY KEY (root, orchestrator)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE archive_files (
     root TEXT NOT NULL,
     orchestrator TEXT NOT NULL,
     path TEXT NOT NULL,
     size INTEGER NOT NULL,
     sha256 TEXT NOT NULL,
     identity TEXT,
     PRIMARY KEY (root, orchestrator, path)
   ) STRICT, WITHOUT ROWID`,
];

export type IndexedRun = ArchiveList['runs'][number] & {
  manifestSha256: string;
  /** Every line of the run up to this one is in the archive. */
  scannedSeq: number;
  /** When its archive was removed; null while it exists. */
  prunedAt: string | null;
};

/** `identity` of the file that was read: while it is the same, so is the content. */
export type IndexedFile = { path: string; size: number; sha256: string; identity: string | null };

export type Identities = ReadonlyMap<string, string | null>;

export type ArchiveIndex = ReturnType<typeof openArchiveIndex>;

const columns = `orchestrator, archived_at AS archivedAt, state, files, bytes, stored_bytes AS storedBytes,
  manifest_sha256 AS manifestSha256, scanned_seq AS scannedSeq, pruned_at AS prunedAt`;

/** The index of one archive root. */
function openArchiveIndex(databaseFile: string, root: string, busyMs: number) {
  const database = openDatabase(databaseFile, { area: 'archive', migrations, busyMs });
  const runs = database.prepare(`SELECT ${columns} FROM archive_runs WHERE root = ? ORDER BY orchestrator`);
  const run = database.prepare(`SELECT ${columns} FROM archive_runs WHERE root = ? AND orchestrator = ?`);
  const files = database.prepare(
    'SELECT path, size, sha256, identity FROM archive_files WHERE root = ? AND orchestrator = ? ORDER BY path',
  );
  const putRun = database.prepare(
    'INSERT OR REPLACE INTO archive_runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)',
  );
  const putFile = database.prepare('INSERT INTO archive_files VALUES (?, ?, ?, ?, ?, ?)');
  const dropFiles = database.prepare('DELETE FROM archive_files WHERE root = ? AND orchestrator = ?');
  const setIdentity = database.prepare(
    'UPDATE archive_files SET identity = ? WHERE root = ? AND orchestrator = ? AND path = ?',
  );
  const setScanned = database.prepare(
    'UPDATE archive_runs SET scanned_seq = ? WHERE root = ? AND orchestrator = ?',
  );
  const setPruned = database.prepare(
    'UPDATE archive_runs SET pruned_at = ? WHERE root = ? AND orchestrator = ?',
  );

  return {
    /** Including pruned runs. */
    runs: () => runs.all(root) as IndexedRun[],
    run: (orchestrator: string) => run.get(root, orchestrator) as IndexedRun | undefined,
    files: (orchestrator: string) => files.all(root, orchestrator) as IndexedFile[],
    /** The run and all its files, in one transaction. */
    put(manifest: ArchiveManifest, sha256: string, scannedSeq: number, identities: Identities): void {
      const { orchestrator, archivedAt, state } = manifest;
      const { bytes, storedBytes } = archiveSizes(manifest.files);
      database.transaction(() => {
        const count = manifest.files.length;
        putRun.run(root, orchestrator, archivedAt, state, count, bytes, storedBytes, sha256, scannedSeq);
        dropFiles.run(root, orchestrator);
        for (const file of manifest.files)
          putFile.run(
            root,
            orchestrator,
            file.path,
            file.size,
            file.sha256,
            identities.get(file.path) ?? null,
          );
      });
    },
    /** What a sweep without changes has learned; it makes the next one faster. */
    note(orchestrator: string, scannedSeq: number, identities: Identities): void {
      const known = run.get(root, orchestrator) as IndexedRun | undefined;
      const changes = this.files(orchestrator).flatMap(({ path, identity }) => {
        const now = identities.get(path) ?? null;
        return now === null || now === identity ? [] : [{ path, now }];
      });
      if (changes.length === 0 && known?.scannedSeq === scannedSeq) return;
      database.transaction(() => {
        setScanned.run(scannedSeq, root, orchestrator);
        for (const { path, now } of changes) setIdentity.run(now, root, orchestrator, path);
      });
    },
    /** The run is remembered, so the next sweep does not bring it back. */
    markPruned(orchestrator: string, at: string): void {
      database.transaction(() => {
        setPruned.run(at, root, orchestrator);
        dropFiles.run(root, orchestrator);
      });
    },
    close: () => database.close(),
  };
}

// Makes index and blobs agree again after an interrupted sweep or prune. The manifests define the archive: the index
// follows them, and what no manifest names is removed.

/** Names of folders in the root that can be archives; none if the root does not exist. */
export async function listArchives(root: string): Promise<string[]> {
  return (await entriesOf(root))
    .filter((entry) => entry.isDirectory() && safeSegment(entry.name))
    .map(({ name }) => name)
    .toSorted();
}

/** Only while the root's lock is held: no other process is in the middle of a change then. */
export async function repairArchives(root: string, index: ArchiveIndex): Promise<void> {
  for (const entry of await entriesOf(root))
    if (entry.name.startsWith(OURS)) await removeTree(join(root, entry.name));
  const known = new Map(index.runs().map((run) => [run.orchestrator, run]));
  for (const orchestrator of await listArchives(root)) {
    await removeHalves(join(root, orchestrator));
    const reading = await readManifest(root, orchestrator);
    // Without a manifest the next sweep of the run continues where the last one was interrupted.
    if (reading.state !== 'ok') continue;
    const { manifest, sha256 } = reading;
    const run = known.get(orchestrator);
    const isIndexed = run?.manifestSha256 === sha256;
    if (isIndexed && run.prunedAt !== null) {
      await removeArchive(root, orchestrator);
      continue;
    }
    if (!isIndexed) index.put(manifest, sha256, manifest.lastSeq, new Map());
    await createBlobFolder(join(root, orchestrator)).tidy(manifest.files);
  }
}

/** Removes manifests that were only partly written. */
async function removeHalves(archive: string): Promise<void> {
  for (const { name } of await entriesOf(archive))
    if (isTemporaryName(name)) await rm(join(archive, name), { force: true });
}

/** Prefix of everything that is in the root only during an operation. */
const OURS = '.svc-';

export function workFolder(root: string): string {
  return join(root, `${OURS}${crypto.randomUUID()}`);
}

/** Renamed first, so its name is gone immediately, then removed. */
export async function removeArchive(root: string, orchestrator: string): Promise<void> {
  const aside = workFolder(root);
  try {
    await rename(join(root, orchestrator), aside);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return;
    throw error;
  }
  await removeTree(aside);
}

async function entriesOf(root: string) {
  return (await ifPresent(entriesIn(root))) ?? [];
}

// The archived runs, from the index; and how many archives in the root are not indexed.

export async function listRuns({
  root,
  index,
  state,
  after,
  limit,
}: {
  root: string;
  index: Pick<ArchiveIndex, 'runs'>;
  state?: ArchivedRunState | undefined;
  /** The run to continue after, by name. */
  after?: string | undefined;
  limit?: number | undefined;
}): Promise<ArchiveList> {
  const indexed = index.runs().filter(({ prunedAt }) => prunedAt === null);
  const known = new Set(indexed.map(({ orchestrator }) => orchestrator));
  const unindexed = (await listArchives(root)).filter((name) => !known.has(name)).length;
  const wanted = indexed.filter(
    (run) =>
      (state === undefined || run.state === state) && (after === undefined || run.orchestrator > after),
  );
  const page = limit === undefined ? wanted : wanted.slice(0, limit);
  const next = page.length < wanted.length ? (page.at(-1)?.orchestrator ?? null) : null;
  return {
    root,
    runs: page.map(({ orchestrator, archivedAt, state: is, files, bytes, storedBytes }) => ({
      orchestrator,
      archivedAt,
      state: is,
      files,
      bytes,
      storedBytes,
    })),
    next,
    unindexed,
  };
}

// Opens the archive's root and index; for the CLI and the daemon.

export function rootFrom(configured: string, home: string): string {
  if (configured === '~') return home;
  if (configured.startsWith('~/')) return join(home, configured.slice(2));
  if (isAbsolute(configured)) return join(configured);
  throw new Failure(
    'config-invalid',
    `archive.root must be an absolute path, found ${JSON.stringify(configured)}.`,
    'Set it: svc config set archive.root ~/svc/archives',
  );
}

/** The daemon does nothing else while it waits for the lock of the file. */
const DAEMON_WAITS_MS = 250;

/** Opens the index for the duration of `work`. A file that cannot be used is a failure with its name. */
export async function withArchiveIndex<T>(
  databaseFile: string,
  root: string,
  work: (index: ArchiveIndex) => Promise<T>,
  /** How long to wait for another program's transaction. */
  busyMs = DAEMON_WAITS_MS,
): Promise<T> {
  const index = openIndex(databaseFile, root, busyMs);
  try {
    return await work(index);
  } catch (error) {
    throw asFailure(error);
  } finally {
    index.close();
  }
}

function openIndex(databaseFile: string, root: string, busyMs: number): ArchiveIndex {
  try {
    return openArchiveIndex(databaseFile, root, busyMs);
  } catch (error) {
    if (error instanceof DatabaseFromNewerVersion)
      throw new Failure('file-unusable', error.message, error.remedy);
    if (isBusy(error))
      throw new Failure(
        'file-unusable',
        `The index ${databaseFile} is locked by another program, or one of its files was replaced.`,
        'Try again in a moment. If it stays locked: svc monitor restart',
      );
    if (!isDamage(error)) throw asFailure(error);
    throw new Failure(
      'file-unusable',
      `The index ${databaseFile} is damaged.`,
      'Start the daemon to rebuild it: svc monitor start. Then: svc archive sweep',
    );
  }
}

function asFailure(error: unknown): unknown {
  if (error instanceof Failure || !(error instanceof Error) || systemErrorCode(error) === undefined)
    return error;
  return new Failure('file-unusable', error.message, undefined, { cause: error });
}
