import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { topics } from '../../features/topics.ts';
import { drainSpool, leaveInSpool, watchSpool } from './spool.ts';
import { createFaultyDisk } from './testing/faulty-disk.ts';
import { draft, openTestLog, readAllLines, START } from './testing/sample-log.ts';

const fact = (ticket: string) =>
  draft({
    event: 'feedback.finding_added',
    source: 'cli',
    via: 'local',
    scope: { ticket },
    detail: findingDetail,
  });
const findingDetail = { skill: 's', title: 't', severity: 'low' };

async function leave(folder: string, count: number, from = 0): Promise<void> {
  for (let index = from; index < from + count; index += 1) {
    await leaveInSpool({ folder, draft: fact(`T-${index}`), now: START + index, random: `r${index}` });
  }
}

test('what was left while the daemon was down is in the log after the drain, in order, and gone from the spool', async () => {
  const root = temporaryFolder();
  const folder = join(root, 'spool');
  await leave(folder, 150);
  const [name = ''] = readdirSync(folder).toSorted();
  expect(name).toBe('20261115T120000000Z-r0.json');
  expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  const log = openTestLog(root);
  expect(await drainSpool(topics, folder, log.appendOnce)).toEqual({ taken: 150, rejected: [], left: 0 });
  await log.close();
  const lines = readAllLines(join(root, 'events'));
  expect(lines.map(({ scope }) => scope.ticket)).toEqual(
    Array.from({ length: 150 }, (_, index) => `T-${index}`),
  );
  expect(lines[0]?.deliveryId).toBe(`spool:${name}`);
  expect(readdirSync(folder)).toEqual([]);
});

test('a crash between the line and the removal of the file makes no second line', async () => {
  const root = temporaryFolder();
  const folder = join(root, 'spool');
  const left = { folder, draft: fact('T-1'), now: START, random: 'abc' };
  for (let round = 0; round < 3; round += 1) {
    await leaveInSpool(left);
    const log = openTestLog(root);
    expect(await drainSpool(topics, folder, log.appendOnce)).toMatchObject({ taken: 1 });
    await log.close();
  }
  expect(readAllLines(join(root, 'events'))).toHaveLength(1);
});

test('what is not an event is set aside and reported', async () => {
  const root = temporaryFolder();
  const folder = join(root, 'spool');
  mkdirSync(folder);
  writeFileSync(join(folder, '1.json'), '{"half":');
  writeFileSync(join(folder, '2.json'), JSON.stringify({ ...fact('T'), event: 'no.such.topic' }));
  writeFileSync(join(folder, '.3.json.123.tmp'), '{');
  await leave(folder, 1);
  const log = openTestLog(root);
  const drained = await drainSpool(topics, folder, log.appendOnce);
  expect(drained).toMatchObject({ taken: 1, left: 0, rejected: [{ file: '1.json' }, { file: '2.json' }] });
  expect(readdirSync(join(folder, 'rejected')).toSorted()).toEqual(['1.json', '2.json']);
  expect(await drainSpool(topics, folder, log.appendOnce)).toEqual({ taken: 0, rejected: [], left: 0 });
  await log.close();
});

test('files stay where they are while the log cannot be written', async () => {
  const root = temporaryFolder();
  const folder = join(root, 'spool');
  await leave(folder, 3);
  const disk = createFaultyDisk();
  const log = openTestLog(root, { disk });
  disk.faults = { write: 'ENOSPC' };
  expect(await drainSpool(topics, folder, log.appendOnce)).toEqual({ taken: 0, rejected: [], left: 3 });
  disk.faults = {};
  expect(await drainSpool(topics, folder, log.appendOnce)).toEqual({ taken: 3, rejected: [], left: 0 });
  await log.close();
});

test('a running daemon takes what is left, from a folder that does not exist yet', async () => {
  const root = temporaryFolder();
  const folder = join(root, 'spool');
  const log = openTestLog(root);
  const watching = watchSpool({ topics, folder, appendOnce: log.appendOnce, pollMs: 20 });
  await leave(folder, 5);
  await expect.poll(() => log.lastSeq()).toBe(5);
  await leave(folder, 5, 5);
  await expect.poll(() => log.lastSeq()).toBe(10);
  await watching.close();
  await log.close();
  expect(existsSync(join(folder, 'rejected'))).toBe(false);
});
