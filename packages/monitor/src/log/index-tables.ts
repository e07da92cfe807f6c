// The tables of the index. There are two sides, alike: one is in use, and a rebuild fills the other before
// they change places. Everything here can be made again from the log.
export type Side = 'a' | 'b';

export function otherSide(side: Side): Side {
  return side === 'a' ? 'b' : 'a';
}

function tablesOf(side: Side): string {
  return `
    CREATE TABLE log_block_${side} (
      first_seq INTEGER PRIMARY KEY,
      last_seq INTEGER NOT NULL,
      first_time INTEGER NOT NULL,
      last_time INTEGER NOT NULL,
      file TEXT NOT NULL,
      start INTEGER NOT NULL,
      lines BLOB NOT NULL
    ) STRICT;
    CREATE INDEX log_block_time_${side} ON log_block_${side} (last_time);
    CREATE TABLE log_posting_${side} (
      term INTEGER NOT NULL,
      first_seq INTEGER NOT NULL,
      lines BLOB NOT NULL,
      PRIMARY KEY (term, first_seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE log_delivery_${side} (
      hash INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      PRIMARY KEY (hash, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE log_delivery_run_${side} (first_seq INTEGER PRIMARY KEY, rows BLOB NOT NULL) STRICT;
    CREATE TABLE log_topic_${side} (topic TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    CREATE TABLE log_relay_${side} (
      channel TEXT PRIMARY KEY,
      id TEXT NOT NULL,
      seq INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;`;
}

export const indexMigrations: readonly string[] = [
  `CREATE TABLE log_index (one INTEGER PRIMARY KEY CHECK (one = 1), side TEXT NOT NULL) STRICT;
   INSERT INTO log_index (one, side) VALUES (1, 'a');
   ${tablesOf('a')}
   ${tablesOf('b')}`,
  // The highest seq that is known to have been given, where the log does not show it any more; and up to which line
  // a person has accepted that some are missing.
  `ALTER TABLE log_index ADD COLUMN given_to INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE log_index ADD COLUMN accepted_to INTEGER NOT NULL DEFAULT 0`,
];
