// The tables of the outbox, in the same file as the log's index and on a connection of its own.
import { type Database, openDatabase } from '../disk/sqlite.ts';

const outboxMigrations = [
  `CREATE TABLE outbox_effect (
    key TEXT PRIMARY KEY NOT NULL,
    seq INTEGER NOT NULL,
    -- The place among the effects of its line.
    place INTEGER NOT NULL,
    kind TEXT NOT NULL,
    order_key TEXT,
    payload TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'done', 'given-up')),
    attempts INTEGER NOT NULL,
    next_at INTEGER NOT NULL,
    last_error TEXT,
    created_at INTEGER NOT NULL,
    finished_at INTEGER,
    outcome TEXT,
    -- 1 from giving up until the attention for it is in the log.
    untold INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX outbox_order ON outbox_effect (order_key, seq, place) WHERE state = 'pending';
  CREATE INDEX outbox_next ON outbox_effect (next_at) WHERE state = 'pending';
  CREATE INDEX outbox_state ON outbox_effect (state, seq, place);
  CREATE INDEX outbox_untold ON outbox_effect (seq, place) WHERE untold = 1;
  CREATE TABLE outbox_cursor (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL) STRICT`,
];

/** Open the log first: it sets a damaged file aside, and the outbox then begins in the new one. */
export function openOutboxDatabase(path: string): Database {
  return openDatabase(path, {
    room: 'outbox',
    migrations: outboxMigrations,
    cacheKib: 1_024,
    syncEach: true,
  });
}
