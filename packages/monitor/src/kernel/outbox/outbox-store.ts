// The durable rows of the outbox: one per effect, and the cursor, the last line whose effects are in. Both change in one
// transaction, so after a kill the lines beyond the cursor are exactly those whose effects are still missing. A row is
// pending until it is done or given up.
//
// The rows are in a file that can be lost, and the cursor with them. A fresh outbox on an existing log therefore starts at
// the log's end: executing months of old effects again would be far worse than leaving the last few to reconciliation,
// which finds on its own what still differs. `started` reports that.
import type { SQLOutputValue } from 'node:sqlite';
import type { WallClock } from '@svc/lib/clock';
import { cutText } from '@svc/lib/cut-text';
import { type Database, openDatabase } from '../disk/sqlite.ts';
import type { Effect, EffectKinds, Lane } from './effect.ts';
import { LONGEST_RETRY_WAIT_MS, orderKeyOf } from './outbox-rules.ts';

type OutboxCounts = {
  pending: number;
  /** Pending with at least one failed attempt. */
  retrying: number;
  done: number;
  givenUp: number;
  /** Given up, and the attention event for it is not in the log yet. */
  unsent: number;
  /** When the oldest pending row was accepted. */
  oldestPendingAt: number | null;
};

export type OutboxStore = {
  kinds: EffectKinds;
  /** `fresh`: started at the log's end, without memory of what came before. */
  started: 'fresh' | 'resumed';
  /** Rows of lines that the log no longer has; they were removed when the store was opened. */
  dropped: number;
  cursor: () => number;
  /** All effects of the lines up to `cursor`, and the cursor, or nothing. Returns the number of new rows. */
  accept: (effects: readonly Effect[], cursor: number) => number;
  /** Rows of a lane that may be tried now, in order; only the first pending one of each order key. */
  due: (lane: Lane, now: number, limit: number) => OutboxRow[];
  /** The next time after `now` at which a row is due; null when none is. */
  nextDueAfter: (now: number) => number | null;
  finish: (key: string, outcome: string) => void;
  retry: (key: string, error: string, nextAt: number) => void;
  /** Later, without counting it as an attempt. */
  hold: (key: string, reason: string, nextAt: number) => void;
  giveUp: (key: string, error: string) => void;
  /** Makes a given-up row due again; false when it was not given up. */
  revive: (key: string) => boolean;
  /** Given-up rows whose attention event is not in the log yet; and a mark that it is. */
  unsent: (limit: number) => OutboxRow[];
  sent: (key: string) => void;
  find: (key: string) => OutboxRow | null;
  counts: () => OutboxCounts;
  /** Newest first, at most 1,000. */
  list: (query?: { state?: OutboxState | undefined; limit?: number | undefined }) => OutboxRow[];
  /** Pending rows that have failed, in order. */
  retrying: (limit: number) => OutboxRow[];
  /** Removes what was done before a time; returns how many. What was given up stays. */
  prune: (olderThan: number) => number;
  close: () => void;
};

const MAX_LIST = 1_000;
const MAX_TEXT = 500;
/** The row `effect` of a query, if no earlier one with its order key is pending. */
const IS_FIRST = `(effect.order_key IS NULL OR NOT EXISTS (
  SELECT 1 FROM outbox_effect AS earlier
  WHERE earlier.state = 'pending' AND earlier.order_key = effect.order_key
    AND (earlier.seq, earlier.position) < (effect.seq, effect.position)))`;

/** The lane of a row, as `laneOf` returns it. */
function laneColumn(kinds: EffectKinds): string {
  const cases = Object.entries(kinds).map(([kind, { lane }]) => `WHEN '${kind}' THEN '${lane}'`);
  return `CASE kind ${cases.join(' ')} ELSE 'local' END`;
}

/** What is due in a lane; exported for the test of its index. */
export function dueQuery(kinds: EffectKinds): string {
  return `SELECT * FROM outbox_effect AS effect
    WHERE state = 'pending' AND ${laneColumn(kinds)} = ? AND (next_at <= ? OR next_at > ?) AND ${IS_FIRST}
    ORDER BY seq, position LIMIT ?`;
}

/** Made again when a version has other kinds. */
function indexLanes(database: Database, kinds: EffectKinds): void {
  const wanted = `CREATE INDEX outbox_lane ON outbox_effect ((${laneColumn(kinds)}), seq, position) WHERE state = 'pending'`;
  const made = database.prepare("SELECT sql FROM sqlite_master WHERE name = 'outbox_lane'").get()?.['sql'];
  if (made === wanted) return;
  database.prepare('DROP INDEX IF EXISTS outbox_lane').run();
  database.prepare(wanted).run();
}

/** `lastSeq` is the log's last line now; see above for how a fresh outbox uses it. */
export function createOutboxStore({
  database,
  kinds,
  lastSeq,
  clock,
}: {
  database: Database;
  kinds: EffectKinds;
  lastSeq: number;
  clock: WallClock;
}): OutboxStore {
  const opened = begin(database, lastSeq);
  indexLanes(database, kinds);
  const sql = {
    add: database.prepare(
      `INSERT OR IGNORE INTO outbox_effect VALUES (?, ?, ?, ?, ?, ?, 'pending', 0, ?, NULL, ?, NULL, NULL, 0)`,
    ),
    move: database.prepare('UPDATE outbox_cursor SET seq = max(seq, ?)'),
    cursor: database.prepare('SELECT seq FROM outbox_cursor'),
    due: database.prepare(dueQuery(kinds)),
    next: database.prepare(
      `SELECT min(next_at) AS at FROM outbox_effect INDEXED BY outbox_next
       WHERE state = 'pending' AND next_at > ?`,
    ),
    finish: database.prepare(
      `UPDATE outbox_effect SET state = 'done', attempts = attempts + 1, finished_at = ?, outcome = ?
       WHERE key = ? AND state = 'pending'`,
    ),
    retry: database.prepare(
      `UPDATE outbox_effect SET attempts = attempts + 1, next_at = ?, last_error = ?
       WHERE key = ? AND state = 'pending'`,
    ),
    hold: database.prepare(
      `UPDATE outbox_effect SET next_at = ?, last_error = ? WHERE key = ? AND state = 'pending'`,
    ),
    giveUp: database.prepare(
      `UPDATE outbox_effect SET state = 'given-up', attempts = attempts + 1, finished_at = ?, last_error = ?,
       unsent = 1 WHERE key = ? AND state = 'pending'`,
    ),
    revive: database.prepare(
      `UPDATE outbox_effect SET state = 'pending', attempts = 0, next_at = ?, created_at = ?, finished_at = NULL
       WHERE key = ? AND state = 'given-up' AND unsent = 0`,
    ),
    unsent: database.prepare('SELECT * FROM outbox_effect WHERE unsent = 1 ORDER BY seq, position LIMIT ?'),
    sent: database.prepare('UPDATE outbox_effect SET unsent = 0 WHERE key = ?'),
    find: database.prepare('SELECT * FROM outbox_effect WHERE key = ?'),
    states: database.prepare('SELECT state, count(*) AS count FROM outbox_effect GROUP BY state'),
    pending: database.prepare(
      `SELECT min(created_at) AS oldest, count(*) FILTER (WHERE attempts > 0) AS retrying
       FROM outbox_effect WHERE state = 'pending'`,
    ),
    countUnsent: database.prepare('SELECT count(*) AS count FROM outbox_effect WHERE unsent = 1'),
    list: database.prepare('SELECT * FROM outbox_effect ORDER BY seq DESC, position DESC LIMIT ?'),
    listState: database.prepare(
      'SELECT * FROM outbox_effect WHERE state = ? ORDER BY seq DESC, position DESC LIMIT ?',
    ),
    retrying: database.prepare(
      `SELECT * FROM outbox_effect WHERE state = 'pending' AND attempts > 0 ORDER BY seq, position LIMIT ?`,
    ),
    prune: database.prepare(`DELETE FROM outbox_effect WHERE state = 'done' AND finished_at < ?`),
  };

  /**
   * A cursor that moves alone need not be synced immediately: the lines that it passed have no effects, and would have
   * none again. So a busy log without effects costs no sync.
   */
  function moveAlone(cursor: number): void {
    database.exec('PRAGMA synchronous = NORMAL');
    try {
      sql.move.run(cursor);
    } finally {
      database.exec('PRAGMA synchronous = FULL');
    }
  }

  return {
    kinds,
    ...opened,
    cursor: () => Number(sql.cursor.get()?.['seq']),
    accept(effects, cursor) {
      if (effects.length === 0) {
        moveAlone(cursor);
        return 0;
      }
      const now = clock.now();
      return database.transaction(() => {
        let added = 0;
        for (const [position, effect] of effects.entries()) {
          const { key, seq, kind } = effect;
          const payload = JSON.stringify(effect);
          const { changes } = sql.add.run(
            key,
            seq,
            position,
            kind,
            orderKeyOf(kinds, effect),
            payload,
            now,
            now,
          );
          added += Number(changes);
        }
        sql.move.run(cursor);
        return added;
      });
    },
    due: (lane, now, limit) => sql.due.all(lane, now, now + LONGEST_RETRY_WAIT_MS, limit).map(toRow),
    nextDueAfter(now) {
      const at = sql.next.get(now)?.['at'];
      return typeof at === 'number' ? at : null;
    },
    finish: (key, outcome) => void sql.finish.run(clock.now(), cutText(outcome, MAX_TEXT), key),
    retry: (key, error, nextAt) => void sql.retry.run(Math.round(nextAt), cutText(error, MAX_TEXT), key),
    hold: (key, reason, nextAt) => void sql.hold.run(Math.round(nextAt), cutText(reason, MAX_TEXT), key),
    giveUp: (key, error) => void sql.giveUp.run(clock.now(), cutText(error, MAX_TEXT), key),
    revive: (key) => sql.revive.run(clock.now(), clock.now(), key).changes > 0,
    unsent: (limit) => sql.unsent.all(limit).map(toRow),
    sent: (key) => void sql.sent.run(key),
    find(key) {
      const stored = sql.find.get(key);
      return stored === undefined ? null : toRow(stored);
    },
    counts() {
      const states = new Map(sql.states.all().map(({ state, count }) => [state, Number(count)]));
      const pending = sql.pending.get();
      return {
        pending: states.get('pending') ?? 0,
        retrying: Number(pending?.['retrying'] ?? 0),
        done: states.get('done') ?? 0,
        givenUp: states.get('given-up') ?? 0,
        unsent: Number(sql.countUnsent.get()?.['count'] ?? 0),
        oldestPendingAt: typeof pending?.['oldest'] === 'number' ? pending['oldest'] : null,
      };
    },
    list({ state, limit = 100 } = {}) {
      const most = Math.min(Math.max(limit, 0), MAX_LIST);
      return (state === undefined ? sql.list.all(most) : sql.listState.all(state, most)).map(toRow);
    },
    retrying: (limit) => sql.retrying.all(limit).map(toRow),
    prune: (olderThan) => Number(sql.prune.run(olderThan).changes),
    close: () => database.close(),
  };
}

/**
 * Finds the cursor, or sets it to the log's end. A cursor beyond the log's end belongs to lines that are gone: their
 * numbers will be used by other lines, so their rows would block new ones.
 */
function begin(database: Database, lastSeq: number): Pick<OutboxStore, 'started' | 'dropped'> {
  return database.transaction(() => {
    const cursor = database.prepare('SELECT seq FROM outbox_cursor').get()?.['seq'];
    if (typeof cursor === 'number' && cursor <= lastSeq) return { started: 'resumed', dropped: 0 };
    database.prepare('INSERT OR REPLACE INTO outbox_cursor VALUES (1, ?)').run(lastSeq);
    const { changes } = database.prepare('DELETE FROM outbox_effect WHERE seq > ?').run(lastSeq);
    return { started: 'fresh', dropped: Number(changes) };
  });
}

// One effect as the outbox stores it.

type OutboxState = 'pending' | 'done' | 'given-up';

export type OutboxRow = {
  key: string;
  seq: number;
  kind: string;
  /** Effects of one order key are executed one after the other. */
  orderKey: string | null;
  /** Null when the stored effect cannot be parsed; such a row is given up. */
  effect: Effect | null;
  state: OutboxState;
  /** Attempts that have ended. */
  attempts: number;
  nextAt: number;
  /** Why the last attempt failed. */
  lastError: string | null;
  createdAt: number;
  finishedAt: number | null;
  /** The result of executing it: `written`, `already`, … */
  outcome: string | null;
};

function toRow(stored: Record<string, SQLOutputValue>): OutboxRow {
  return {
    key: String(stored['key']),
    seq: Number(stored['seq']),
    kind: String(stored['kind']),
    orderKey: textOrNull(stored['order_key']),
    effect: readEffect(String(stored['payload'])),
    state: toState(stored['state']),
    attempts: Number(stored['attempts']),
    nextAt: Number(stored['next_at']),
    lastError: textOrNull(stored['last_error']),
    createdAt: Number(stored['created_at']),
    finishedAt: typeof stored['finished_at'] === 'number' ? stored['finished_at'] : null,
    outcome: textOrNull(stored['outcome']),
  };
}

function textOrNull(value: SQLOutputValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function toState(value: SQLOutputValue | undefined): OutboxState {
  return value === 'done' || value === 'given-up' ? value : 'pending';
}

/** The outbox wrote it itself; only damage makes it anything else. */
function readEffect(payload: string): Effect | null {
  try {
    const effect: unknown = JSON.parse(payload);
    return typeof effect === 'object' && effect !== null && 'kind' in effect ? (effect as Effect) : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

// The tables of the outbox, in the same file as the log's index and on a separate connection.

const outboxMigrations = [
  `CREATE TABLE outbox_effect (
    key TEXT PRIMARY KEY NOT NULL,
    seq INTEGER NOT NULL,
    -- Among the effects of its line.
    position INTEGER NOT NULL,
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
    unsent INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX outbox_order ON outbox_effect (order_key, seq, position) WHERE state = 'pending';
  CREATE INDEX outbox_next ON outbox_effect (next_at) WHERE state = 'pending';
  CREATE INDEX outbox_state ON outbox_effect (state, seq, position);
  CREATE INDEX outbox_unsent ON outbox_effect (seq, position) WHERE unsent = 1;
  CREATE TABLE outbox_cursor (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL) STRICT;`,
];

/** Open the log first: it sets a damaged file aside, and the outbox then starts in the new one. */
export function openOutboxDatabase(path: string): Database {
  return openDatabase(path, {
    area: 'outbox',
    migrations: outboxMigrations,
    cacheKib: 1_024,
    syncEach: true,
  });
}

// What health shows about the outbox.

export type OutboxFigures = {
  started: 'fresh' | 'resumed';
  pending: number;
  running: number;
  oldestPendingMs: number | null;
  retryingCount: number;
  /** The first of those that have failed, with the reason. */
  retrying: { key: string; kind: string; attempts: number; error: string; nextAt: number }[];
  givenUp: number;
  /** Why the outbox itself cannot work at the moment. */
  failing: string | null;
};

const RETRYING_SHOWN = 20;

/** Before any could be read. */
export const noFigures: Omit<OutboxFigures, 'failing'> = {
  started: 'resumed',
  pending: 0,
  running: 0,
  oldestPendingMs: null,
  retryingCount: 0,
  retrying: [],
  givenUp: 0,
};

export function outboxFigures(
  store: OutboxStore,
  { running, failing, now }: { running: number; failing: string | null; now: number },
): OutboxFigures {
  const { pending, retrying, givenUp, oldestPendingAt } = store.counts();
  return {
    started: store.started,
    pending,
    running,
    oldestPendingMs: oldestPendingAt === null ? null : Math.max(0, now - oldestPendingAt),
    retryingCount: retrying,
    retrying: store.retrying(RETRYING_SHOWN).map(({ key, kind, attempts, lastError, nextAt }) => ({
      key,
      kind,
      attempts,
      error: lastError ?? '',
      nextAt,
    })),
    givenUp,
    failing,
  };
}
