// The index of an archive goes by the folder that the archive lies in: where that has moved, so does the index.
import { DatabaseSync } from 'node:sqlite';

export function moveArchiveRoot(databaseFile: string, from: string, to: string): void {
  if (from === to) return;
  const database = new DatabaseSync(databaseFile);
  try {
    const tables = database
      .prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN ('archive_runs', 'archive_files')",
      )
      .all();
    database.exec('BEGIN IMMEDIATE');
    for (const { name } of tables)
      database.prepare(`UPDATE OR REPLACE ${String(name)} SET root = ? WHERE root = ?`).run(to, from);
    database.exec('COMMIT');
  } finally {
    database.close();
  }
}
