import type { StoredRecord } from '@svc/contract/relay/record';
import { sampleBoard, sampleTicket, sampleWorker } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { testTeam } from '../testing/test-team.ts';
import { createPublisher } from './publisher.ts';
import { openRecord } from './records.ts';

test('a title is published while its person shares titles, and replaced when they stop', async () => {
  const [admin, member] = await testTeam('https://relay.example/channel');
  const board = sampleBoard({
    workers: [sampleWorker({ ticket: 'ENG-1', key: 'run-1/ENG-1' })],
    tickets: [sampleTicket({ ticket: 'ENG-1', title: 'Pay by invoice' })],
  });
  const stored: StoredRecord[] = [];
  let shareTitles = false;
  const publisher = createPublisher({
    file: () => admin,
    board: () => board,
    shareTitles: () => shareTitles,
    async put(record) {
      stored.push(record);
    },
    version: '1.2.3',
    now: Date.now,
    tick: () => performance.now(),
    heartbeatMs: 3_600_000,
    heard: () => ({}),
    onBeat: () => undefined,
    onFailure: (error) => {
      throw error;
    },
  });
  onTestFinished(() => publisher.stop());
  /** As another member of the team reads it. */
  const newestWorker = async () => {
    const opened = await Promise.all(stored.map((record) => openRecord(member, record, 0)));
    return opened.findLast((one) => 'kind' in one && one.kind === 'worker');
  };
  await publisher.now();
  expect(await newestWorker()).toMatchObject({ value: { ticket: 'ENG-1' } });
  expect(JSON.stringify(await newestWorker())).not.toContain('Pay by invoice');
  shareTitles = true;
  await publisher.now();
  expect(await newestWorker()).toMatchObject({ value: { ticket: 'ENG-1', title: 'Pay by invoice' } });
  shareTitles = false;
  await publisher.now();
  expect(JSON.stringify(await newestWorker())).not.toContain('Pay by invoice');
});
