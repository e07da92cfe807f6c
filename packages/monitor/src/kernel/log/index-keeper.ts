// Maintains the index: opens it, discards it when it does not match the log, and rebuilds it beside the one in use. The
// index can always be rebuilt from the log, so any problem with it ends in a rebuild. It also remembers which lines
// existed: those that the log no longer has are missing.
import type { WallClock } from '@svc/lib/clock';
import { messageOf } from '@svc/lib/errors';
import { type Database, isDamage, openDatabase, setDatabaseAside } from '../disk/sqlite.ts';
import { firstSeqIn } from './find-position.ts';
import { locationAt } from './index-block.ts';
import { createIndexStore, type IndexStore } from './index-store.ts';
import { indexMigrations, otherSide, type Side } from './index-tables.ts';
import type { LiveTail } from './live-tail.ts';
import { createLogIndex, type LogIndex } from './log-index.ts';
import type { LogNotice } from './log-notice.ts';
import { joinMissing, type MissingLines } from './missing-lines.ts';
import { listFilledMonthFiles } from './month-file.ts';
import type { LineReader } from './read-lines.ts';

export type IndexKeeper = {
  index: () => LogIndex;
  /**
   * Rebuilds the index from the log while the old one answers, then swaps them. With `acceptMissing` the log counts as
   * complete from then on.
   */
  rebuild: (options?: RebuildOptions) => Promise<void>;
  rebuilding: () => boolean;
  /** The highest seq known to have been assigned; it is never assigned again. */
  givenTo: () => number;
  /** Lines that the log had and no longer has, unless a person has accepted that. */
  missing: () => MissingLines[];
  /** Why the index cannot be read or written, since `missing` was last asked for. */
  failing: () => string | null;
  /** These lines disappeared while the daemon was running. */
  noteMissing: (missing: MissingLines) => void;
  close: () => Promise<void>;
};

export type RebuildOptions = {
  onProgress?: (done: { seq: number; of: number }) => void;
  acceptMissing?: boolean;
};

export type IndexKeeperOptions = {
  folder: string;
  path: string;
  clock: WallClock;
  tail: LiveTail;
  reader: LineReader;
  notice: (notice: LogNotice) => void;
  onProgress: (lastSeq: number) => void;
};

export function createIndexKeeper(options: IndexKeeperOptions): IndexKeeper {
  const { folder, tail, notice } = options;
  const { database, side: firstSide, misfit } = openFitting(options);
  const remembered = database.prepare('SELECT given_to, accepted_to FROM log_index').get();
  let givenTo = Number(remembered?.['given_to'] ?? 0);
  let acceptedTo = Number(remembered?.['accepted_to'] ?? 0);
  /** Those that the index in use still has. */
  let gone: MissingLines[] = [];
  let side = firstSide;
  let index = createIndex(createIndexStore(database, side), (seq) => options.onProgress(seq));
  let rebuild: Promise<void> | null = null;
  let next: LogIndex | null = null;
  let unreadable: string | null = null;

  function createIndex(store: IndexStore, onProgress: (seq: number) => void): LogIndex {
    return createLogIndex({
      store,
      subscribe: tail.subscribe,
      onProgress,
      onFailing: (reason) =>
        notice(reason === null ? { kind: 'index-works-again' } : { kind: 'index-failing', reason }),
    });
  }

  async function build(onProgress: RebuildOptions['onProgress']): Promise<void> {
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
    gone = [];
    inUse = true;
    await old.close();
    old.store.clear();
  }

  function startRebuild(onProgress: RebuildOptions['onProgress']): Promise<void> {
    rebuild ??= build(onProgress).finally(() => {
      rebuild = null;
    });
    return rebuild;
  }

  function rebuildAside(reason: string): void {
    notice({ kind: 'index-rebuilding', reason });
    startRebuild(undefined).catch((error: unknown) =>
      notice({ kind: 'index-failing', reason: messageOf(error) }),
    );
  }

  /** What the index has of month files that were removed; nothing while the database cannot be read. */
  function inRemovedFiles(): MissingLines[] {
    const there = new Set(listFilledMonthFiles(folder));
    try {
      const files = index.store.files();
      unreadable = null;
      return files
        .filter(({ file }) => !there.has(file))
        .map(({ firstSeq, lastSeq }) => ({ from: firstSeq, to: lastSeq }));
    } catch (error) {
      unreadable = `${options.path} cannot be read: ${messageOf(error)}`;
      return [];
    }
  }

  if (misfit !== null) rebuildAside(misfit);

  return {
    index: () => index,
    rebuilding: () => rebuild !== null,
    async rebuild({ onProgress, acceptMissing = false } = {}) {
      await startRebuild(onProgress);
      if (!acceptMissing) return;
      acceptedTo = Math.max(givenTo, index.lastSeq());
      database.prepare('UPDATE log_index SET accepted_to = ?').run(acceptedTo);
    },
    givenTo: () => givenTo,
    missing() {
      const end = tail.lastSeq();
      const behind = givenTo > end ? [{ from: end + 1, to: givenTo }] : [];
      const found = [...index.holes(), ...inRemovedFiles(), ...gone, ...behind];
      return joinMissing(found.filter(({ to }) => to > acceptedTo));
    },
    failing: () => unreadable ?? index.failing(),
    noteMissing(missing) {
      gone.push(missing);
      notice({ kind: 'lines-missing', ...missing });
      givenTo = missing.to;
      database.prepare('UPDATE log_index SET given_to = ?').run(givenTo);
      rebuildAside('lines of the log were removed');
    },
    async close() {
      await next?.close();
      await rebuild?.catch(() => undefined);
      await index.close();
      database.close();
    },
  };
}

/** Opens the database; a damaged one is set aside, and an index that does not match the log is emptied. */
type Opened = {
  database: Database;
  side: Side;
  /** Why the index has to be rebuilt, while it still answers for its newest lines. */
  misfit: string | null;
};

function openFitting(options: IndexKeeperOptions): Opened {
  try {
    return openChecked(options);
  } catch (error) {
    if (!isDamage(error)) throw error;
    const path = setDatabaseAside(options.path, options.clock.now());
    options.notice({ kind: 'database-set-aside', path, reason: messageOf(error) });
    return openChecked(options);
  }
}

function openChecked({ path, folder, tail, reader, notice }: IndexKeeperOptions): Opened {
  const database = openDatabase(path, { area: 'log', migrations: indexMigrations });
  try {
    const side: Side = database.prepare('SELECT side FROM log_index').get()?.['side'] === 'b' ? 'b' : 'a';
    const store = createIndexStore(database, side);
    const last = store.lastBlock();
    const location = last === null ? null : locationAt(last, last.count - 1);
    if (location !== null && (location.seq > tail.lastSeq() || reader.read(location) === null)) {
      notice({ kind: 'index-rebuilding', reason: `the index has a wrong position for line ${location.seq}` });
      if (location.seq > tail.lastSeq())
        database.prepare('UPDATE log_index SET given_to = max(given_to, ?)').run(location.seq);
      store.clear();
    }
    return { database, side, misfit: misfitOf(store, folder, reader) };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Whether each month file starts and ends as indexed. A removed file is missing, not a mismatch. */
function misfitOf(store: IndexStore, folder: string, reader: LineReader): string | null {
  const indexed = new Map(store.files().map((one) => [one.file, one]));
  const [newest] = [...indexed.keys()].toSorted().toReversed();
  for (const file of listFilledMonthFiles(folder)) {
    const known = indexed.get(file);
    if (known === undefined && newest !== undefined && file < newest) return `${file} is not in the index`;
    if (known === undefined) continue;
    const block = store.blockOf(known.lastSeq);
    const last = block === null ? null : locationAt(block, block.count - 1);
    if (firstSeqIn(folder, file) !== known.firstSeq || last === null || reader.read(last) === null)
      return `${file} has changed since it was indexed`;
  }
  return null;
}
