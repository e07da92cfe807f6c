import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import type { Ticket } from '../../features/tracker/ticket.ts';
import { openDatabase } from '../disk/sqlite.ts';
import {
  createSnapshotStore,
  fromPieces,
  openSnapshotStore,
  snapshotVersion,
  stateMigrations,
  toPieces,
} from './snapshot-store.ts';

function open(file: string, options: { version?: string; widest?: number } = {}) {
  const database = openDatabase(file, { area: 'state', migrations: stateMigrations });
  onTestFinished(() => database.close());
  return { database, store: createSnapshotStore({ database, version: snapshotVersion(1), ...options }) };
}

function mark(seq: number) {
  return { seq, at: new Date(seq * 1000).toISOString(), lineId: `id-${seq}` };
}

test('what was saved is loaded again, also by another process', async () => {
  const file = join(temporaryFolder(), 'svc.db');
  const tickets = Array.from({ length: 5_000 }, (_, index) => ({
    ticket: `ABC-${index}`,
    title: 'é'.repeat(30),
  }));
  const first = openSnapshotStore({ path: file, form: 1 });
  await first.save(mark(7), { seq: 7, at: null, tickets, nothing: [], more: { a: [1] } });
  first.close();
  const { store, database } = open(file);
  expect(store.newest({ seq: 100 })).toEqual(mark(7));
  expect(await store.load(7)).toEqual({ seq: 7, at: null, tickets, nothing: [], more: { a: [1] } });
  expect(Number(database.prepare('SELECT count(*) AS n FROM state_pieces').get()?.['n'])).toBeGreaterThan(3);
  expect(store.figures()).toMatchObject({ count: 1 });
});

test('joined pieces equal the original', async () => {
  const value = fc.dictionary(fc.string(), fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue())));
  await fc.assert(
    fc.asyncProperty(value, async (given) => {
      const packed = JSON.parse(JSON.stringify(given)) as Record<string, unknown>;
      delete packed['__proto__'];
      const pieces: Uint8Array[] = [];
      for await (const piece of toPieces(packed)) pieces.push(piece);
      expect(await fromPieces(pieces)).toEqual(packed);
    }),
    { numRuns: 50 },
  );
});

test('a position between two snapshots finds the one before it', async () => {
  const { store } = open(join(temporaryFolder(), 'svc.db'));
  for (const seq of [10, 20, 30]) await store.save(mark(seq), { seq });
  expect(store.newest({ seq: 9 })).toBeNull();
  expect(store.newest({ seq: 29 })?.seq).toBe(20);
  store.removeAfter(20);
  expect(store.newest({ seq: 100 })?.seq).toBe(20);
});

test('snapshots of another version are not used, and are removed', async () => {
  const file = join(temporaryFolder(), 'svc.db');
  const old = open(file, { version: '1' });
  await old.store.save(mark(10), { seq: 10 });
  const { store, database } = open(file, { version: '2' });
  expect(store.newest({ seq: 100 })).toBeNull();
  expect(database.prepare('SELECT count(*) AS n FROM state_pieces').get()?.['n']).toBe(0);
});

test('a damaged or partly written snapshot counts as missing', async () => {
  const file = join(temporaryFolder(), 'svc.db');
  const { store, database } = open(file);
  await store.save(mark(10), { seq: 10, tickets: [{ ticket: 'A-1' } as Ticket] });
  await store.save(mark(20), { seq: 20 });
  database.prepare('UPDATE state_pieces SET bytes = ? WHERE seq = 10 AND piece = 0').run(Buffer.from('no'));
  expect(await store.load(10)).toBeNull();
  database.exec('DELETE FROM state_pieces WHERE seq = 20');
  expect(await store.load(20)).toBeNull();
  expect(await store.load(30)).toBeNull();
  // A crash before the snapshot's own row: the pieces are removed at the next opening.
  database.prepare('INSERT INTO state_pieces VALUES (99, 0, ?)').run(Buffer.from('left'));
  expect(open(file).store.newest({ seq: 1_000 })?.seq).toBe(20);
  expect(database.prepare('SELECT count(*) AS n FROM state_pieces WHERE seq = 99').get()?.['n']).toBe(0);
});

test('older snapshots are thinned out', async () => {
  const { store } = open(join(temporaryFolder(), 'svc.db'), { widest: 30 });
  for (let seq = 10; seq <= 200; seq += 10) await store.save(mark(seq), { seq });
  const left = Array.from({ length: 20 }, (_, index) => store.newest({ seq: (index + 1) * 10 })?.seq);
  expect(new Set(left)).toEqual(new Set([undefined, 30, 60, 90, 120, 150, 170, 180, 190, 200]));
});

test('a store that cannot be written rejects and keeps what it has', async () => {
  const { store, database } = open(join(temporaryFolder(), 'svc.db'));
  await store.save(mark(10), { seq: 10 });
  database.exec('PRAGMA max_page_count = 1');
  await expect(store.save(mark(20), { seq: 20, text: 'x'.repeat(10_000) })).resolves.toBeUndefined();
  const noise = Array.from({ length: 20_000 }, () => Math.random());
  await expect(store.save(mark(30), { seq: 30, noise })).rejects.toThrow(/full/);
  expect(store.newest({ seq: 100 })?.seq).toBe(20);
  database.exec('PRAGMA max_page_count = 1000000');
  await store.save(mark(30), { seq: 30, noise });
  expect(await store.load(30)).toEqual({ seq: 30, noise });
});
