// One side of the stored index: writes whole blocks and serves the queries of `find-lines` and `log-index`.
import type { SQLOutputValue } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '../disk/sqlite.ts';
import { createDeliveryStore } from './delivery-store.ts';
import {
  type BlockLines,
  countPositions,
  eachPosition,
  linesIn,
  type OpenBlock,
  packLines,
  packPositions,
  unpackLines,
  unpackPositions,
} from './index-block.ts';
import type { Side } from './index-tables.ts';

export type SeqRange = { low: number; high: number };
/** Lines in this seq range that were accepted at `from` or later and before `before`. */
export type LineRange = SeqRange & { from: number; before: number };

export type BlockSpan = {
  firstSeq: number;
  lastSeq: number;
  firstTime: number;
  lastTime: number;
  count: number;
};

type IndexedFile = { file: string; firstSeq: number; lastSeq: number };

export type IndexStore = {
  /** Stores a block. It counts once its own row exists, which is written last. */
  write: (block: OpenBlock) => Promise<void>;
  lastBlock: () => BlockLines | null;
  blockOf: (seq: number) => BlockLines | null;
  /** The first seq of the first block, by `seq`, with a line of this time or later. */
  firstSeqFrom: (time: number) => number | null;
  /** The last block, by `seq`, with a line from before this time. */
  lastBlockBefore: (time: number) => BlockLines | null;
  /** First seqs of the blocks that overlap a range, unordered. */
  blocksIn: (range: SeqRange) => number[];
  /** What the index has of each month file, oldest first. */
  files: () => IndexedFile[];
  /** What these blocks span, oldest first. Their lines are not read. */
  spansIn: (range: SeqRange) => BlockSpan[];
  /** The same for blocks that have a line with the term, at most `limit` of them. */
  blocksWith: (term: number, range: SeqRange, limit: number) => number[];
  positions: (term: number, firstSeq: number) => number[];
  eachPosition: (term: number, firstSeq: number, visit: (position: number) => void) => void;
  /** How many lines of a block have the term. */
  countOf: (term: number, firstSeq: number) => number;
  deliverySeqs: (term: number) => number[];
  topics: () => string[];
  relay: (channel: string) => string | null;
  clear: () => void;
};

/** Rows per transaction: a few milliseconds. */
const SLICE = 256;

type Row = Record<string, SQLOutputValue>;

export function createIndexStore(database: Database, side: Side): IndexStore {
  const deliveries = createDeliveryStore({ database, side });
  const sql = {
    addBlock: database.prepare(`INSERT OR REPLACE INTO log_block_${side} VALUES (?, ?, ?, ?, ?, ?, ?)`),
    addPosting: database.prepare(`INSERT OR REPLACE INTO log_posting_${side} VALUES (?, ?, ?)`),
    addTopic: database.prepare(`INSERT OR IGNORE INTO log_topic_${side} VALUES (?)`),
    addRelay: database.prepare(`INSERT OR REPLACE INTO log_relay_${side} VALUES (?, ?, ?)`),
    last: database.prepare(`SELECT * FROM log_block_${side} ORDER BY first_seq DESC LIMIT 1`),
    of: database.prepare(
      `SELECT * FROM log_block_${side} WHERE first_seq <= ? ORDER BY first_seq DESC LIMIT 1`,
    ),
    firstFrom: database.prepare(
      `SELECT min(first_seq) AS first FROM log_block_${side} INDEXED BY log_block_time_${side} WHERE last_time >= ?`,
    ),
    lastBefore: database.prepare(
      `SELECT * FROM log_block_${side} WHERE first_time < ? ORDER BY first_seq DESC LIMIT 1`,
    ),
    files: database.prepare(
      `SELECT file, min(first_seq) AS first_seq, max(last_seq) AS last_seq FROM log_block_${side}
       GROUP BY file ORDER BY first_seq`,
    ),
    startOf: database.prepare(
      `SELECT coalesce(max(first_seq), 0) AS start FROM log_block_${side} WHERE first_seq <= ?`,
    ),
    between: database.prepare(`SELECT first_seq FROM log_block_${side} WHERE first_seq BETWEEN ? AND ?`),
    spans: database.prepare(
      `SELECT first_seq, last_seq, first_time, last_time, length(lines) AS bytes
       FROM log_block_${side} WHERE first_seq BETWEEN ? AND ? ORDER BY first_seq`,
    ),
    with: database.prepare(
      `SELECT first_seq FROM log_posting_${side} WHERE term = ? AND first_seq BETWEEN ? AND ? LIMIT ?`,
    ),
    posting: database.prepare(`SELECT lines FROM log_posting_${side} WHERE term = ? AND first_seq = ?`),
    topics: database.prepare(`SELECT topic FROM log_topic_${side}`),
    relay: database.prepare(`SELECT id FROM log_relay_${side} WHERE channel = ?`),
  };

  function startOf(seq: number): number {
    return Number(sql.startOf.get(seq)?.['start'] ?? 0);
  }

  return {
    async write(block) {
      const { lines } = block;
      // In slices, yielding to the event loop in between. Postings of a block without a row are never read, and are
      // written again with the block: a crash in between does no harm.
      const postings = [...block.terms];
      for (let from = 0; from < postings.length; from += SLICE) {
        database.transaction(() => {
          for (const [name, positions] of postings.slice(from, from + SLICE)) {
            sql.addPosting.run(name, lines.firstSeq, packPositions(positions));
          }
        });
        await nextTurn();
      }
      database.transaction(() => {
        for (const topic of block.topics) sql.addTopic.run(topic);
        for (const [channel, { id, seq }] of block.relay) sql.addRelay.run(channel, id, seq);
        sql.addBlock.run(
          lines.firstSeq,
          block.lastSeq(),
          lines.firstTime,
          block.lastTime(),
          lines.file,
          lines.start,
          packLines(lines),
        );
        deliveries.addRun(lines.firstSeq, block.deliveries);
      });
      await deliveries.mergeIfMany();
    },
    lastBlock: () => toLines(sql.last.get()),
    blockOf: (seq) => toLines(sql.of.get(seq)),
    firstSeqFrom(time) {
      const first = sql.firstFrom.get(time)?.['first'] ?? null;
      return first === null ? null : Number(first);
    },
    lastBlockBefore: (time) => toLines(sql.lastBefore.get(time)),
    blocksIn: ({ low, high }) => sql.between.all(startOf(low), high).map((row) => Number(row['first_seq'])),
    files: () =>
      sql.files.all().map((row) => ({
        file: String(row['file']),
        firstSeq: Number(row['first_seq']),
        lastSeq: Number(row['last_seq']),
      })),
    spansIn: ({ low, high }) => sql.spans.all(startOf(low), high).map(toSpan),
    blocksWith: (name, { low, high }, limit) =>
      sql.with.all(name, startOf(low), high, limit).map((row) => Number(row['first_seq'])),
    positions(name, firstSeq) {
      const bytes = sql.posting.get(name, firstSeq)?.['lines'];
      return bytes instanceof Uint8Array ? unpackPositions(bytes) : [];
    },
    eachPosition(name, firstSeq, visit) {
      const bytes = sql.posting.get(name, firstSeq)?.['lines'];
      if (bytes instanceof Uint8Array) eachPosition(bytes, visit);
    },
    countOf(name, firstSeq) {
      const bytes = sql.posting.get(name, firstSeq)?.['lines'];
      return bytes instanceof Uint8Array ? countPositions(bytes) : 0;
    },
    deliverySeqs: deliveries.seqs,
    topics: () => sql.topics.all().map((row) => String(row['topic'])),
    relay(channel) {
      const id = sql.relay.get(channel)?.['id'];
      return typeof id === 'string' ? id : null;
    },
    clear() {
      database.transaction(() => {
        for (const table of ['block', 'posting', 'topic', 'relay']) {
          database.exec(`DELETE FROM log_${table}_${side}`);
        }
        deliveries.clear();
      });
    },
  };
}

function toSpan(row: Row): BlockSpan {
  return {
    firstSeq: Number(row['first_seq']),
    lastSeq: Number(row['last_seq']),
    firstTime: Number(row['first_time']),
    lastTime: Number(row['last_time']),
    count: linesIn(Number(row['bytes'])),
  };
}

function toLines(row: Row | undefined): BlockLines | null {
  if (row === undefined || !(row['lines'] instanceof Uint8Array)) return null;
  return {
    firstSeq: Number(row['first_seq']),
    firstTime: Number(row['first_time']),
    file: String(row['file']),
    start: Number(row['start']),
    ...unpackLines(row['lines']),
  };
}
