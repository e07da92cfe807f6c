import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { openDatabase } from '../disk/sqlite.ts';
import { BLOCK_LINES } from './index-block.ts';
import { createIndexStore } from './index-store.ts';
import { indexMigrations } from './index-tables.ts';
import { createLiveTail } from './live-tail.ts';
import { type LogEntry, parseEntry } from './log-entry.ts';
import { createLogIndex } from './log-index.ts';
import { lineText } from './testing/sample-log.ts';

function entries(from: number, to: number): LogEntry[] {
  return Array.from({ length: to - from + 1 }, (_, index) => {
    const text = lineText(from + index, '', { deliveryId: `d-${from + index}` });
    const entry = parseEntry({
      text,
      file: '2026-11.jsonl',
      offset: (from + index) * 1_000,
      length: text.length,
    });
    if (entry === null) throw new Error('not a line');
    return entry;
  });
}

test('while blocks cannot be stored the index stands still, and then continues where it was', async () => {
  const folder = temporaryFolder();
  const database = openDatabase(join(folder, 'svc.db'), { area: 'log', migrations: indexMigrations });
  const real = createIndexStore(database, 'a');
  let isFull = true;
  const store = {
    ...real,
    write: async (block: Parameters<typeof real.write>[0]) => {
      if (isFull) throw new Error('database or disk is full');
      await real.write(block);
    },
  };
  const reported: (string | null)[] = [];
  const tail = createLiveTail({ folder, lastSeq: 0, maxLines: 20_000, maxBytes: Infinity });
  const index = createLogIndex({
    store,
    subscribe: tail.subscribe,
    onFailing: (reason) => reported.push(reason),
    retryMs: 10,
  });
  const last = 3 * BLOCK_LINES;
  await new Promise((resolve) => setImmediate(resolve));
  tail.push(entries(1, last));
  await expect.poll(() => index.failing()).toBe('database or disk is full');
  expect(index.lastSeq()).toBe(BLOCK_LINES);
  expect(index.locationOf(5)).toMatchObject({ offset: 5_000 });
  isFull = false;
  await index.reached(last);
  expect(reported).toEqual(['database or disk is full', null]);
  for (const seq of [1, BLOCK_LINES, BLOCK_LINES + 1, last]) {
    expect(index.locationOf(seq)).toMatchObject({ seq, offset: seq * 1_000 });
  }
  expect(index.locationOf(last + 1)).toBeNull();
  const [unreached] = await Promise.allSettled([index.reached(last + 1), index.close()]);
  expect(unreached.status).toBe('rejected');
  expect(createIndexStore(database, 'a').blockOf(last)?.count).toBe(BLOCK_LINES);
  database.close();
});
