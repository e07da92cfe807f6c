// The index of the archive in SQLite: which runs are archived, and their files. All of it can be made again from the
// manifests, except which runs were pruned.
import { type ArchiveList, type ArchiveManifest, archiveSizes } from '@svc/core';
import { openDatabase } from '../disk/sqlite.ts';

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
  /** When its archive was removed; null while it is there. */
  prunedAt: string | null;
};

/** `identity` is that of the file that was read: while it is the same, so are the bytes. */
export type IndexedFile = { path: string; size: number; sha256: string; identity: string | null };

export type Identities = ReadonlyMap<string, string | null>;

export type ArchiveIndex = ReturnType<typeof openArchiveIndex>;

const columns = `orchestrator, archived_at AS archivedAt, state, files, bytes, stored_bytes AS storedBytes,
  manifest_sha256 AS manifestSha256, scanned_seq AS scannedSeq, pruned_at AS prunedAt`;

/** The index of one archive root. */
export function openArchiveIndex({ databaseFile, root }: { databaseFile: string; root: string }) {
  const database = openDatabase(databaseFile, { room: 'archive', migrations });
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
    /** Also those that were pruned. */
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
    /** What a sweep that changed nothing has learned: it makes the next one quicker. */
    note(orchestrator: string, scannedSeq: number, identities: Identities): void {
      const known = run.get(root, orchestrator) as IndexedRun | undefined;
      const news = this.files(orchestrator).flatMap(({ path, identity }) => {
        const now = identities.get(path) ?? null;
        return now === null || now === identity ? [] : [{ path, now }];
      });
      if (news.length === 0 && known?.scannedSeq === scannedSeq) return;
      database.transaction(() => {
        setScanned.run(scannedSeq, root, orchestrator);
        for (const { path, now } of news) setIdentity.run(now, root, orchestrator, path);
      });
    },
    /** The run is remembered, so that the next sweep does not bring it back. */
    markPruned(orchestrator: string, at: string): void {
      database.transaction(() => {
        setPruned.run(at, root, orchestrator);
        dropFiles.run(root, orchestrator);
      });
    },
    close: () => database.close(),
  };
}
