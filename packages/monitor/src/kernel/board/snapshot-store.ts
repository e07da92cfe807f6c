// Pictures of the board at some lines of the log, so a start or a view of the past folds thousands of lines instead of
// all. They can always be made again: one that is damaged, or of another version or log, is discarded. A snapshot counts
// once its own row exists, which is written after its pieces.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompressSync } from 'node:zlib';
import { type Database, openDatabase } from '../disk/sqlite.ts';
import type { EventLog } from '../log/event-log.ts';
import type { Board } from './board.ts';
import type { BoardRules } from './board-rules.ts';

// A packed board as bytes, and back, in pieces of some hundred entities: each takes about a millisecond, so the daemon
// can do other work in between, and the whole text is never in memory.

export type Packed = Record<string, unknown>;

const PIECE_CHARACTERS = 64 * 1024;
/** Far above any piece: anything larger was not written here. */
const LARGEST_PIECE_BYTES = 16 * 1024 * 1024;

const compress = promisify(zstdCompress);
/** The fastest level: for text like this, higher ones cost several times as much and save a tenth. */
const level = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Each piece is `[field, some of its list]`; the last is `[null, all that is not a list]`. */
export async function* toPieces(packed: object): AsyncGenerator<Uint8Array> {
  const rest: Packed = {};
  for (const [field, value] of Object.entries(packed)) {
    if (Array.isArray(value) && value.length > 0) yield* listPieces(field, value);
    else rest[field] = value;
  }
  yield compress(JSON.stringify([null, rest]), level);
}

async function* listPieces(field: string, list: readonly unknown[]): AsyncGenerator<Uint8Array> {
  let texts: string[] = [];
  let characters = 0;
  for (const [index, value] of list.entries()) {
    const text = JSON.stringify(value);
    texts.push(text);
    characters += text.length;
    if (characters < PIECE_CHARACTERS && index < list.length - 1) continue;
    yield compress(`[${JSON.stringify(field)},[${texts.join(',')}]]`, level);
    texts = [];
    characters = 0;
  }
}

/** Throws when a piece is damaged. */
export async function fromPieces(pieces: Iterable<Uint8Array>, share?: Share): Promise<Packed> {
  const lists = new Map<string, unknown[]>();
  let rest: Packed = {};
  for (const bytes of pieces) {
    const text = zstdDecompressSync(bytes, { maxOutputLength: LARGEST_PIECE_BYTES }).toString();
    const [field, value] = JSON.parse(text) as [string, unknown[]] | [null, Packed];
    if (field === null) {
      rest = value;
    } else {
      const list = lists.get(field) ?? [];
      lists.set(field, list);
      for (const item of value) list.push(share === undefined ? item : share(field, item));
    }
    await nextTurn();
  }
  return { ...rest, ...Object.fromEntries(lists) };
}

// Which snapshots may be dropped: of the older ones enough stay that every line is at most `widest` lines after one, or
// after the empty board at 0. Where they were farther apart already, all stay.

export function snapshotsToDrop(
  ascendingSeqs: readonly number[],
  { recent, widest }: { recent: number; widest: number },
): number[] {
  const dropped: number[] = [];
  let before = 0;
  for (const [index, seq] of ascendingSeqs.slice(0, Math.max(0, ascendingSeqs.length - recent)).entries()) {
    const next = ascendingSeqs[index + 1];
    if (next !== undefined && next - before <= widest) dropped.push(seq);
    else before = seq;
  }
  return dropped;
}

/** How snapshots are stored, and the form of the board in them: those of another version are not used. */
export const snapshotVersion = (form: number): string => `1/${form}`;

/** The line after which the picture was taken; `lineId` shows whether it belongs to this log. */
export type SnapshotMark = { seq: number; at: string; lineId: string };

export type SnapshotStore = {
  /** One after the other, in slices, yielding to the event loop in between. Rejects when it cannot be stored. */
  save: (mark: SnapshotMark, packed: object) => Promise<void>;
  /** The newest one that is not after this line. */
  newest: (limit: { seq: number }) => SnapshotMark | null;
  /** Null when it is damaged, or was removed in the meantime. */
  load: (seq: number, share?: Share) => Promise<Packed | null>;
  remove: (seq: number) => void;
  /** Removes those beyond the log's end: they belong to a longer log. */
  removeAfter: (seq: number) => void;
  figures: () => { count: number; bytes: number };
  close: () => void;
};

export const stateMigrations = [
  `CREATE TABLE state_snapshots (
     seq INTEGER PRIMARY KEY, at TEXT NOT NULL, line_id TEXT NOT NULL, version TEXT NOT NULL,
     pieces INTEGER NOT NULL, bytes INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE state_pieces (
     seq INTEGER NOT NULL, piece INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (seq, piece)
   ) STRICT`,
];

/** The newest ones are never thinned out: a start has several to choose from. */
const RECENT = 4;
/** A usual step and some more: thinning drops those taken at stops in between. Any time is folded well within a second. */
const WIDEST = 10_500;
/** A snapshot can wait until another process has finished; the daemon cannot. */
const BUSY_MS = 250;

export function openSnapshotStore({
  path,
  form,
  widest,
}: {
  path: string;
  form: number;
  widest?: number;
}): SnapshotStore {
  const database = openDatabase(path, {
    area: 'state',
    migrations: stateMigrations,
    busyMs: BUSY_MS,
    cacheKib: 1_024,
  });
  return createSnapshotStore({
    database,
    version: snapshotVersion(form),
    ...(widest !== undefined && { widest }),
  });
}

export function createSnapshotStore({
  database,
  version,
  widest = WIDEST,
}: {
  database: Database;
  version: string;
  /** Most lines between two snapshots after thinning. */
  widest?: number;
}): SnapshotStore {
  /** The figures that were read last. */
  let known = { count: 0, bytes: 0 };
  const sql = {
    add: database.prepare('INSERT OR REPLACE INTO state_snapshots VALUES (?, ?, ?, ?, ?, ?)'),
    addPiece: database.prepare('INSERT OR REPLACE INTO state_pieces VALUES (?, ?, ?)'),
    bySeq: database.prepare('SELECT * FROM state_snapshots WHERE seq <= ? ORDER BY seq DESC LIMIT 1'),
    count: database.prepare('SELECT pieces FROM state_snapshots WHERE seq = ?'),
    piece: database.prepare('SELECT bytes FROM state_pieces WHERE seq = ? AND piece = ?'),
    seqs: database.prepare('SELECT seq FROM state_snapshots ORDER BY seq'),
    remove: database.prepare('DELETE FROM state_snapshots WHERE seq = ?'),
    removeUnfinished: database.prepare(
      'DELETE FROM state_pieces WHERE seq NOT IN (SELECT seq FROM state_snapshots)',
    ),
    removePieces: database.prepare('DELETE FROM state_pieces WHERE seq = ?'),
    figures: database.prepare(
      'SELECT count(*) AS count, coalesce(sum(bytes), 0) AS bytes FROM state_snapshots',
    ),
  };

  /** Pieces that a crash or a full disk left without a snapshot. */
  const removeUnfinished = (): unknown => sql.removeUnfinished.run();

  function remove(seq: number): void {
    database.transaction(() => {
      sql.remove.run(seq);
      sql.removePieces.run(seq);
    });
  }

  function seqs(): number[] {
    return sql.seqs.all().map((row) => Number(row['seq']));
  }

  async function thin(): Promise<void> {
    for (const seq of snapshotsToDrop(seqs(), { recent: RECENT, widest })) {
      remove(seq);
      await nextTurn();
    }
  }

  function* piecesOf(seq: number, count: number): Generator<Uint8Array> {
    for (let piece = 0; piece < count; piece += 1) {
      const bytes = sql.piece.get(seq, piece)?.['bytes'];
      if (!(bytes instanceof Uint8Array)) throw new Error(`Piece ${piece} of snapshot ${seq} is missing`);
      yield bytes;
    }
  }

  database.prepare('DELETE FROM state_snapshots WHERE version <> ?').run(version);
  removeUnfinished();
  return {
    async save({ seq, at, lineId }, packed) {
      remove(seq);
      removeUnfinished();
      let pieces = 0;
      let bytes = 0;
      for await (const piece of toPieces(packed)) {
        sql.addPiece.run(seq, pieces, piece);
        pieces += 1;
        bytes += piece.length;
      }
      sql.add.run(seq, at, lineId, version, pieces, bytes);
      await thin();
    },
    newest(limit) {
      const row = sql.bySeq.get(limit.seq);
      if (row === undefined) return null;
      return { seq: Number(row['seq']), at: String(row['at']), lineId: String(row['line_id']) };
    },
    async load(seq, share) {
      const count = sql.count.get(seq)?.['pieces'];
      try {
        return count === undefined ? null : await fromPieces(piecesOf(seq, Number(count)), share);
      } catch {
        // Damaged or thinned out in the meantime: the caller uses an older one.
        return null;
      }
    },
    remove,
    removeAfter(seq) {
      for (const later of seqs().filter((one) => one > seq)) remove(later);
    },
    figures() {
      try {
        const row = sql.figures.get();
        known = { count: Number(row?.['count'] ?? 0), bytes: Number(row?.['bytes'] ?? 0) };
      } catch {
        // The log and the outbox have the same file, and report that it cannot be read.
      }
      return known;
    },
    close: () => database.close(),
  };
}

// Most of a past board is unchanged today. Unchanged entities are taken from the board in memory, and their copies are
// dropped immediately: a past board then costs its maps and what has changed since.
export type Share = (field: string, entity: unknown) => unknown;

/** `packed` is the board in memory, packed. Entities are found by their last line and compared in full. */
export function createShare(packed: object): Share {
  const byField = new Map<string, Map<number, unknown>>();
  for (const [field, list] of Object.entries(packed)) {
    if (!Array.isArray(list)) continue;
    const byLastSeq = new Map<number, unknown>();
    for (const entity of list) byLastSeq.set(lastSeqOf(entity), entity);
    byField.set(field, byLastSeq);
  }
  return (field, entity) => {
    const known = byField.get(field)?.get(lastSeqOf(entity));
    return known !== undefined && isSame(known, entity) ? known : entity;
  };
}

function lastSeqOf(entity: unknown): number {
  const lastSeq = isObject(entity) ? entity['lastSeq'] : undefined;
  return typeof lastSeq === 'number' ? lastSeq : 0;
}

/** For plain JSON values; an undefined field counts as absent. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) && one.length === other.length && one.every((item, at) => isSame(item, other[at]))
    );
  }
  if (!isObject(one) || !isObject(other) || Array.isArray(other)) return false;
  for (const name in one) if (!isSame(one[name], other[name])) return false;
  for (const name in other) if (one[name] === undefined && other[name] !== undefined) return false;
  return true;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

// The board at the newest usable snapshot: one that belongs to this log and can be read.

/** `seq` is the last line folded into the board; 0 if none. */
export type BoardAtSeq = { board: Board; seq: number };

/** An unusable snapshot is removed and the one before it is tried; without any, the empty board. */
export async function loadBoard({
  log,
  snapshots,
  rules,
  limit,
  share,
}: {
  log: Pick<EventLog, 'subscribe' | 'lastSeq'>;
  snapshots: Pick<SnapshotStore, 'newest' | 'load' | 'remove'>;
  rules: BoardRules;
  /** No snapshot after this line. */
  limit: { seq: number };
  share?: Share | undefined;
}): Promise<BoardAtSeq> {
  for (;;) {
    const mark = snapshots.newest(limit);
    if (mark === null) return { board: rules.emptyBoard(), seq: 0 };
    const packed = (await isOfLog(log, mark)) ? await snapshots.load(mark.seq, share) : null;
    if (packed !== null) return { board: rules.unpackBoard(packed), seq: mark.seq };
    snapshots.remove(mark.seq);
  }
}

/** Whether the log has the line after which the snapshot was taken. */
async function isOfLog(
  log: Pick<EventLog, 'subscribe' | 'lastSeq'>,
  { seq, lineId }: SnapshotMark,
): Promise<boolean> {
  if (seq > log.lastSeq()) return false;
  for await (const [first] of log.subscribe({ after: seq - 1, whenSlow: 'read-file' })) {
    if (first !== undefined) return first.line.seq === seq && first.line.id === lineId;
  }
  return false;
}
