// The index of the log, and its tables in SQLite. It finds the lines of a topic, repository, pull request, ticket,
// commit or run, the line of a delivery, and the location of a line, so nothing has to scan a month file of 2 GB.
// Everything in it can be rebuilt from the log.
//
// Storage. A plain table with one row per line and seven indexes took 130 to 190 µs per line; this takes
// about 10, because it writes one row per term and block instead of one per term and line.
// - Block (`log_block`, index-block.ts): up to 4096 neighbouring lines of one month file. Its row has the first and
//   last seq and time, the file, and a blob of four 32-bit numbers per line: seq, offset and time as distances from
//   the block's first line, and length. Within a block seqs go up and times never go back; where they do, or where
//   a distance does not fit, another block begins. So two binary searches find a line by seq or time.
// - Term: what a line can be found by, 53 bits of a hash of a kind and a value. Two values may share a term, so the
//   caller checks each line that it finds by one.
// - Posting (`log_posting`): the lines of one block that have one term, as positions in the block: a list of 16-bit
//   numbers if they are few, a bitmap of 512 bytes if they are many. The key is term and block, so a query
//   reads the postings of its terms block by block, newest or oldest first, and stops when its page is full.
// - Delivery (`log_delivery`, delivery-store.ts): hash of a delivery id or of signed bytes to seq. Hashes are
//   scattered over the table, and each would rewrite a page of it. They are therefore stored as one run per block
//   (`log_delivery_run`), held in memory, and merged into the table in its own order when there are 262,144.
// - `log_topic`: the topics that occur. `log_relay`: the newest position of each relay channel, where the tunnel
//   continues after a restart.
// - `log_index`: which side is in use, the highest seq ever assigned, and up to which line a person accepted that lines
//   are missing. Each table exists for two sides: a rebuild fills the other side, and one transaction then swaps them.
//
// Adding lines. The newest block is open, in memory (log-index.ts), and follows the live tail, outside the path of the
// acknowledgement. index-store.ts stores a full block: its postings first, then its own row together with its run of
// deliveries, so a block counts only when it is complete. After a crash the index continues after its last block and
// reads the rest from the files. A mismatch with the log (another file, a line that is not at its position, a damaged
// database) ends in a rebuild: index-keeper.ts.
//
// Queries: find-lines.ts (pages of lines), count-lines.ts (counts over time), dedupe.ts (whether a delivery has a line).
// find-position.ts finds a position by binary search in the files themselves, without an index.
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

// `given_to`: the highest seq known to have been assigned, in case the log no longer shows it. `accepted_to`: up to which
// line a person has accepted that some are missing.
export const indexMigrations: readonly string[] = [
  `CREATE TABLE log_index (
     one INTEGER PRIMARY KEY CHECK (one = 1),
     side TEXT NOT NULL,
     given_to INTEGER NOT NULL DEFAULT 0,
     accepted_to INTEGER NOT NULL DEFAULT 0
   ) STRICT;
   INSERT INTO log_index (one, side) VALUES (1, 'a');
   ${tablesOf('a')}
   ${tablesOf('b')}`,
];
