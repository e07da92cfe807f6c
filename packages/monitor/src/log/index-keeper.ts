// Looks after the index: opens it, throws it away when it does not fit the log, and rebuilds it beside the
// one in use. The index can always be made again, so whatever is wrong with it ends in a rebuild.
import type { Database } from '../disk/sqlite.ts';
import { isDamage, openDatabase, setDatabaseAside } from '../disk/sqlite.ts';
import { placeAt } from './index-block.ts';
import { createIndexStore, type IndexStore } from './index-store.ts';
import { indexMigrations, otherSide, type Side } from './index-tables.ts';
import type { LineReader } from './line-reader.ts';
import type { LiveTail } from './live-tail.ts';
import { messageOf } from './log-errors.ts';
import { createLogIndex, type LogIndex } from './log-index.ts';
import type { LogNotice } from './log-notice.ts';
import type { Clock } from './writer.ts';

export type IndexKeeper = {
  index: () => LogIndex;
  /** Makes the index anew from the log, while the old one answers; then they change places. */
  rebuild: (onProgress?: (done: { seq: number; of: number }) => void) => Promise<void>;
  rebuilding: () => boolean;
  close: () => Promise<void>;
};

export type IndexKeeperOptions = {
  path: string;
  clock: Clock;
  tail: LiveTail;
  reader: LineReader;
  notice: (notice: LogNotice) => void;
  onProgress: (lastSeq: number) => void;
};

export function createIndexKeeper(options: IndexKeeperOptions): IndexKeeper {
  const { tail, notice } = options;
  const { database, side: firstSide } = openFitting(options);
  let side = firstSide;
  let index = createIndex(createIndexStore(database, side), (seq) => options.onProgress(seq));
  let rebuild: Promise<void> | null = null;
  let next: LogIndex | null = null;

  function createIndex(store: IndexStore, onProgress: (seq: number) => void): LogIndex {
    return createLogIndex({
      store,
      subscribe: tail.subscribe,
      onProgress,
      onFailing: (reason) =>
        notice(reason === null ? { kind: 'index-works-again' } : { kind: 'index-failing', reason }),
    });
  }

  async function build(onProgress?: (done: { seq: number; of: number }) => void): Promise<void> {
    const fresh = createIndexStore(database, otherSide(side));
    fresh.clear();
    let inUse = false;
    const building = createIndex(fresh, (seq) => {
      if (inUse) options.onProgress(seq);
      else onProgress?.({ seq, of: tail.lastSeq() });
    });
    next = building;
    while (building.lastSeq() < tail.lastSeq()) await building.reached(tail.lastSeq());
    const old = index;
    database.prepare('UPDATE log_index SET side = ?').run(otherSide(side));
    side = otherSide(side);
    index = building;
    next = null;
    inUse = true;
    await old.close();
    old.store.clear();
  }

  return {
    index: () => index,
    rebuilding: () => rebuild !== null,
    rebuild(onProgress) {
      rebuild ??= build(onProgress).finally(() => {
        rebuild = null;
      });
      return rebuild;
    },
    async close() {
      await next?.close();
      await rebuild?.catch(() => undefined);
      await index.close();
      database.close();
    },
  };
}

/** Opens the database; a damaged one is set aside, and an index that does not fit the log is emptied. */
function openFitting(options: IndexKeeperOptions): { database: Database; side: Side } {
  try {
    return openChecked(options);
  } catch (error) {
    if (!isDamage(error)) throw error;
    const path = setDatabaseAside(options.path, options.clock.now());
    options.notice({ kind: 'database-set-aside', path, reason: messageOf(error) });
    return openChecked(options);
  }
}

function openChecked({ path, tail, reader, notice }: IndexKeeperOptions): { database: Database; side: Side } {
  const database = openDatabase(path, { room: 'log', migrations: indexMigrations });
  try {
    const side: Side = database.prepare('SELECT side FROM log_index').get()?.['side'] === 'b' ? 'b' : 'a';
    const store = createIndexStore(database, side);
    const last = store.lastBlock();
    const place = last === null ? null : placeAt(last, last.count - 1);
    if (place !== null && (place.seq > tail.lastSeq() || reader.read(place) === null)) {
      notice({ kind: 'index-rebuilding', reason: `line ${place.seq} is not where the index has it` });
      store.clear();
    }
    return { database, side };
  } catch (error) {
    database.close();
    throw error;
  }
}
