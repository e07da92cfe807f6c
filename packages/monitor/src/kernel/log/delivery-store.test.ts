import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { openDatabase } from '../disk/sqlite.ts';
import { createDeliveryStore } from './delivery-store.ts';
import { indexMigrations } from './index-tables.ts';

test('deliveries are found in memory, in runs and in the table, across restarts', async () => {
  const database = openDatabase(join(temporaryFolder(), 'svc.db'), {
    area: 'log',
    migrations: indexMigrations,
  });
  const hashOf = (seq: number): number => (seq * 7_919_000_003) % 2 ** 53;
  let store = createDeliveryStore({ database, side: 'a', mergeAt: 700 });
  for (let first = 1; first <= 2_000; first += 100) {
    const run = new Map(Array.from({ length: 100 }, (_, index) => [hashOf(first + index), first + index]));
    database.transaction(() => store.addRun(first, run));
    await store.mergeIfMany();
    if (first % 300 === 1) store = createDeliveryStore({ database, side: 'a', mergeAt: 700 });
    for (let seq = 1; seq < first + 100; seq += 1) expect(store.seqs(hashOf(seq))).toEqual([seq]);
    expect(store.seqs(hashOf(first + 100))).toEqual([]);
  }
  const merged = database.prepare('SELECT count(*) AS count FROM log_delivery_a').get();
  expect(merged).toMatchObject({ count: 1_400 });
  store.clear();
  expect(store.seqs(hashOf(1))).toEqual([]);
  database.close();
});
