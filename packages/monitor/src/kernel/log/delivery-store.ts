// Finds the line of a delivery by hash. Hashes are scattered, so inserting each new one would rewrite a page of the
// table. They are therefore stored as runs, one per block, kept in memory too, and merged into the table many at a time
// in its own order. A run is stored with its block, so nothing is lost in between.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '../disk/sqlite.ts';
import type { Side } from './index-tables.ts';

export type DeliveryStore = {
  /** Called inside the transaction that stores the block. */
  addRun: (firstSeq: number, deliveries: ReadonlyMap<number, number>) => void;
  /** Lines with this hash, usually none or one. */
  seqs: (hash: number) => number[];
  /** Merges the runs into the table once there are many, yielding to the event loop in between. */
  mergeIfMany: () => Promise<void>;
  clear: () => void;
};

/**
 * Rows per transaction while merging: a few milliseconds. A merge touches nearly every page of the table whatever its
 * size, so a few large merges write far less than many small ones.
 */
const SLICE = 256;

export function createDeliveryStore({
  database,
  side,
  mergeAt = 262_144,
}: {
  database: Database;
  side: Side;
  mergeAt?: number;
}): DeliveryStore {
  const sql = {
    addRun: database.prepare(`INSERT OR REPLACE INTO log_delivery_run_${side} VALUES (?, ?)`),
    runs: database.prepare(`SELECT first_seq, rows FROM log_delivery_run_${side} ORDER BY first_seq`),
    dropRuns: database.prepare(`DELETE FROM log_delivery_run_${side} WHERE first_seq <= ?`),
    add: database.prepare(`INSERT OR IGNORE INTO log_delivery_${side} VALUES (?, ?)`),
    any: database.prepare(`SELECT seq FROM log_delivery_${side} WHERE hash = ? LIMIT 1`),
    all: database.prepare(`SELECT seq FROM log_delivery_${side} WHERE hash = ?`),
  };
  const unmerged = createNumberTable();
  /** An empty table is not queried, which saves a third of the cost of a new delivery. */
  let anyMerged = database.prepare(`SELECT 1 FROM log_delivery_${side} LIMIT 1`).get() !== undefined;
  let lastRun = 0;
  for (const row of sql.runs.all()) {
    lastRun = Number(row['first_seq']);
    if (row['rows'] instanceof Uint8Array) remember(unpack(row['rows']));
  }

  function remember(deliveries: Iterable<readonly [number, number]>): void {
    for (const [hash, seq] of deliveries) unmerged.add(hash, seq);
  }

  return {
    addRun(firstSeq, deliveries) {
      if (deliveries.size === 0) return;
      sql.addRun.run(firstSeq, pack(deliveries));
      remember(deliveries);
      lastRun = firstSeq;
    },
    seqs(hash) {
      const recent = unmerged.get(hash);
      const merged = !anyMerged || sql.any.get(hash) === undefined ? [] : sql.all.all(hash);
      const seqs = merged.map((row) => Number(row['seq']));
      return recent === undefined ? seqs : [...seqs, recent];
    },
    async mergeIfMany() {
      if (unmerged.size() < mergeAt) return;
      const until = lastRun;
      anyMerged = true;
      const hashes = unmerged.sortedKeys();
      for (let from = 0; from < hashes.length; from += SLICE) {
        database.transaction(() => {
          for (const hash of hashes.subarray(from, from + SLICE)) sql.add.run(hash, unmerged.get(hash) ?? 0);
        });
        await nextTurn();
      }
      sql.dropRuns.run(until);
      unmerged.clear();
    },
    clear() {
      database.exec(`DELETE FROM log_delivery_${side}; DELETE FROM log_delivery_run_${side}`);
      unmerged.clear();
      anyMerged = false;
    },
  };
}

/** Hash and seq of each delivery, two 8-byte numbers. */
function pack(deliveries: ReadonlyMap<number, number>): Uint8Array {
  const numbers = new Float64Array(deliveries.size * 2);
  let at = 0;
  for (const [hash, seq] of deliveries) {
    numbers[at] = hash;
    numbers[at + 1] = seq;
    at += 2;
  }
  return new Uint8Array(numbers.buffer);
}

function* unpack(bytes: Uint8Array): Generator<readonly [number, number]> {
  const numbers = new Float64Array(bytes.slice().buffer);
  for (let at = 0; at + 1 < numbers.length; at += 2) yield [numbers[at] ?? 0, numbers[at + 1] ?? 0];
}

// A table from positive whole numbers to numbers, in two flat arrays: a Map with a quarter of a million such pairs takes
// three times the memory and gives the garbage collector as many objects to scan.
export type NumberTable = {
  get: (key: number) => number | undefined;
  /** Keeps the first value of a key. */
  add: (key: number, value: number) => void;
  /** All keys, smallest first. */
  sortedKeys: () => Float64Array;
  size: () => number;
  clear: () => void;
};

/** At most half of the slots are used, which keeps a search short. */
const FULLNESS = 0.5;
const SMALLEST = 1024;

export function createNumberTable(): NumberTable {
  let keys = new Float64Array(SMALLEST);
  let values = new Float64Array(SMALLEST);
  let size = 0;

  /** The slot of a key, or the free slot where it belongs. The keys are hashes: their low bits are spread. */
  function slotOf(key: number): number {
    let slot = key % keys.length;
    while (keys[slot] !== 0 && keys[slot] !== key) slot = slot + 1 === keys.length ? 0 : slot + 1;
    return slot;
  }

  function put(key: number, value: number): void {
    const slot = slotOf(key);
    if (keys[slot] === key) return;
    keys[slot] = key;
    values[slot] = value;
    size += 1;
  }

  function grow(): void {
    const [oldKeys, oldValues] = [keys, values];
    keys = new Float64Array(oldKeys.length * 2);
    values = new Float64Array(keys.length);
    size = 0;
    oldKeys.forEach((key, slot) => key !== 0 && put(key, oldValues[slot] ?? 0));
  }

  return {
    get(key) {
      const slot = slotOf(key);
      return keys[slot] === key ? values[slot] : undefined;
    },
    add(key, value) {
      if (size >= keys.length * FULLNESS) grow();
      put(key, value);
    },
    sortedKeys: () => keys.filter((key) => key !== 0).toSorted(),
    size: () => size,
    clear() {
      keys = new Float64Array(SMALLEST);
      values = new Float64Array(SMALLEST);
      size = 0;
    },
  };
}
