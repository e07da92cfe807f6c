// Opens SQLite files. Several areas share one database file: each opens it under its own name and brings its own
// migrations, so areas change their tables independently of each other.
import { renameSync, rmSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { Failure } from '../failure.ts';
import { ensurePrivateFile, narrow } from './private-file.ts';

const BUSY = 5;
const DISK_ERROR = 10;
const CORRUPT = 11;
const NOT_OPENED = 14;
const NOT_A_DATABASE = 26;
/** Four times the default: pages that change often are copied into the file less often. */
const CHECKPOINT_PAGES = 1_000;

export type Database = {
  prepare: (sql: string) => StatementSync;
  exec: (sql: string) => void;
  /** All of `work` or nothing. `work` must not wait: the lock on the file is held until it returns. */
  transaction: <T>(work: () => T) => T;
  close: () => void;
};

export type DatabaseOptions = {
  /** Whose migrations they are: `log`, `outbox`, … */
  area: string;
  /** SQL in order; the number of those that have run is kept per area. Never edit one that was released. */
  migrations: readonly string[];
  /** How long to wait for another process's transaction. */
  busyMs?: number;
  /** Memory for pages of the file. */
  cacheKib?: number;
  /** Every transaction is on the disk when it returns. Without it a power cut may undo the last ones, in order. */
  syncEach?: boolean;
};

/** Opens the file, makes it if need be, and brings the area's tables up to date. */
export function openDatabase(
  path: string,
  { area, migrations, busyMs = 5_000, cacheKib = 8_192, syncEach = false }: DatabaseOptions,
): Database {
  for (const suffix of ['-wal', '-shm']) narrow(path + suffix);
  ensurePrivateFile(path);
  const connection = connect(path, busyMs);
  try {
    connection.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${syncEach ? 'FULL' : 'NORMAL'}`);
    connection.exec(`PRAGMA cache_size = -${cacheKib}; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    const database = wrap(connection);
    migrate(database, area, migrations);
    return database;
  } catch (error) {
    connection.close();
    throw named(path, error);
  }
}

function connect(path: string, busyMs: number): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: busyMs });
  } catch (error) {
    throw named(path, error);
  }
}

/** SQLite does not say which file it could not open. */
function named(path: string, error: unknown): unknown {
  if (!isNotOpened(error) && resultOf(error) !== DISK_ERROR) return error;
  return new Failure(
    'file-unusable',
    `The database ${path} cannot be opened: ${(error as Error).message}.`,
    `Make it a file that you can read and write, or move it away; svc builds it again from the event log: mv ${path} ${path}.old`,
    { cause: error },
  );
}

function wrap(connection: DatabaseSync): Database {
  return {
    prepare: (sql) => connection.prepare(sql),
    exec: (sql) => connection.exec(sql),
    close: () => connection.close(),
    transaction(work) {
      if (connection.isTransaction) return work();
      connection.exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        connection.exec('COMMIT');
        return result;
      } catch (error) {
        // A full disk ends the transaction on its own.
        if (connection.isTransaction) connection.exec('ROLLBACK');
        throw error;
      }
    },
  };
}

/** Runs those migrations of an area that this file has not seen, each in a transaction of its own. */
function migrate(database: Database, area: string, migrations: readonly string[]): void {
  database.exec(
    'CREATE TABLE IF NOT EXISTS schema_versions (area TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT',
  );
  const versionOf = database.prepare('SELECT version FROM schema_versions WHERE area = ?');
  const setVersion = database.prepare('INSERT OR REPLACE INTO schema_versions (area, version) VALUES (?, ?)');
  const version = (): number => Number(versionOf.get(area)?.['version'] ?? 0);
  if (version() > migrations.length) throw new DatabaseFromNewerVersion(area);
  for (const [index, sql] of migrations.entries()) {
    if (version() > index) continue;
    database.transaction(() => {
      if (version() > index) return;
      database.exec(sql);
      setVersion.run(area, index + 1);
    });
  }
}

export class DatabaseFromNewerVersion extends Error {
  readonly code = 'database-newer';
  readonly remedy = 'Update svc, or set SVC_DB_FILE to another file.';

  constructor(area: string) {
    super(`The tables of "${area}" were made by a newer version of svc.`);
    this.name = 'DatabaseFromNewerVersion';
  }
}

/** Whether the error means that the file is damaged, or is not a database at all. */
export function isDamage(error: unknown): boolean {
  return [CORRUPT, NOT_A_DATABASE].includes(resultOf(error));
}

/** No permission, or what is no file: a folder, a link to nothing. */
export function isNotOpened(error: unknown): boolean {
  return resultOf(error) === NOT_OPENED;
}

/** Another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return resultOf(error) === BUSY;
}

/** SQLite's result code; 0 for another error. */
function resultOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
}

/** Moves a damaged file aside, for a person to inspect; returns its new path. */
export function setDatabaseAside(path: string, now: number): string {
  const aside = `${path}.damaged-${now}`;
  renameSync(path, aside);
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
  return aside;
}
