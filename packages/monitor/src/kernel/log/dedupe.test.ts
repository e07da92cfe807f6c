import { join } from 'node:path';
import { temporaryFolder, until } from '@svc/testkit';
import { expect, test } from 'vitest';
import { LogNotWritable } from './log-entry.ts';
import { createFaultyDisk } from './testing/faulty-disk.ts';
import { draft, openTestLog, readAllLines } from './testing/sample-log.ts';

const delivery = (deliveryId: string) => draft({ deliveryId });

test('the same delivery many times at once is one line, and all callers get it', async () => {
  const folder = temporaryFolder();
  const log = openTestLog(folder);
  const results = await Promise.all(Array.from({ length: 50 }, () => log.appendOnce(delivery('d'))));
  expect(results.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
  expect(new Set(results.map(({ id }) => id)).size).toBe(1);
  expect(await log.appendOnce(delivery('d'))).toMatchObject({ duplicate: true, id: results[0]?.id, seq: 1 });
  await log.close();
  expect(readAllLines(join(folder, 'events'))).toHaveLength(1);
});

test('a second arrival is not answered before the first is durable', async () => {
  const disk = createFaultyDisk();
  const log = openTestLog(temporaryFolder(), { disk });
  await log.ready;
  const release = disk.holdSyncs();
  let heard = 0;
  const both = [1, 2].map(() => log.appendOnce(delivery('d')).then(() => (heard += 1)));
  await until(() => disk.counts.syncs === 1);
  expect(heard).toBe(0);
  release();
  await Promise.all(both);
  await log.close();
});

test('a delivery that could not be written does not count as received', async () => {
  const disk = createFaultyDisk();
  const log = openTestLog(temporaryFolder(), { disk });
  await log.ready;
  disk.faults = { write: 'ENOSPC' };
  const results = await Promise.allSettled([log.appendOnce(delivery('d')), log.appendOnce(delivery('d'))]);
  for (const result of results) {
    expect(result).toMatchObject({ status: 'rejected', reason: expect.any(LogNotWritable) });
  }
  disk.faults = {};
  expect(await log.appendOnce(delivery('d'))).toMatchObject({ duplicate: false, seq: 1 });
  await log.close();
});

test('the route makes no difference, the sender does', async () => {
  const log = openTestLog(temporaryFolder());
  const sent = (source: 'codehost.webhook' | 'codehost.poll' | 'tracker.webhook') =>
    log.appendOnce(draft({ source, deliveryId: 'same' }));
  expect(await sent('codehost.webhook')).toMatchObject({ duplicate: false });
  expect(await sent('codehost.poll')).toMatchObject({ duplicate: true });
  expect(await sent('tracker.webhook')).toMatchObject({ duplicate: false });
  await log.close();
});

test('a live delivery that races its replay is one line', async () => {
  const log = openTestLog(temporaryFolder());
  const results = await Promise.all(
    (['live', 'replay'] as const).map((via) => log.appendOnce(draft({ via, deliveryId: 'd' }))),
  );
  expect(results.map(({ duplicate }) => duplicate)).toEqual([false, true]);
  expect(log.lastSeq()).toBe(1);
  await log.close();
});

test('events without a delivery are all different', async () => {
  const log = openTestLog(temporaryFolder());
  await Promise.all([log.appendOnce(draft()), log.appendOnce(draft())]);
  expect(log.lastSeq()).toBe(2);
  await log.close();
});

test('the same signed bytes under other ids are lines that name the first, immediately and after a restart', async () => {
  const folder = temporaryFolder();
  let log = openTestLog(folder);
  const signed = (deliveryId: string) => draft({ deliveryId, signed: 'same' });
  await Promise.all(['a', 'b', 'c'].map((id) => log.appendOnce(signed(id))));
  await log.appendOnce(draft({ deliveryId: 'other', signed: 'another' }));
  await log.close();
  log = openTestLog(folder);
  expect(await log.appendOnce(signed('d'))).toMatchObject({ duplicate: false, line: { repeatOf: 1 } });
  expect(await log.appendOnce(signed('b'))).toMatchObject({ duplicate: true });
  await log.close();
  const repeats = readAllLines(join(folder, 'events')).map(({ deliveryId, repeatOf }) => [
    deliveryId,
    repeatOf,
  ]);
  expect(new Map(repeats as [string, number | undefined][])).toEqual(
    new Map([
      ['a', undefined],
      ['b', 1],
      ['c', 1],
      ['other', undefined],
      ['d', 1],
    ]),
  );
});

test('bytes whose first line could not be written are not a repeat', async () => {
  const disk = createFaultyDisk();
  const log = openTestLog(temporaryFolder(), { disk });
  await log.ready;
  disk.faults = { write: 'ENOSPC' };
  const signed = (deliveryId: string) => draft({ deliveryId, signed: 'same' });
  const results = await Promise.allSettled([log.appendOnce(signed('a')), log.appendOnce(signed('b'))]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  disk.faults = {};
  const after = await log.appendOnce(signed('c'));
  expect(after).toMatchObject({ duplicate: false, seq: 1 });
  expect('line' in after && after.line.repeatOf).toBeUndefined();
  await log.close();
});

test('deliveries are known after a restart, whether their block was stored or not', async () => {
  const folder = temporaryFolder();
  let log = openTestLog(folder);
  const ids = Array.from({ length: 9_000 }, (_, index) => `d-${index}`);
  const first = await Promise.all(ids.map((id) => log.appendOnce(delivery(id))));
  await log.close();
  log = openTestLog(folder);
  const again = await Promise.all(ids.map((id) => log.appendOnce(delivery(id))));
  expect(again.map(({ id, seq, duplicate }) => ({ id, seq, duplicate }))).toEqual(
    first.map(({ id, seq }) => ({ id, seq, duplicate: true })),
  );
  expect(await log.appendOnce(delivery('new'))).toMatchObject({ duplicate: false, seq: 9_001 });
  await log.close();
});
