import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testkit';
import { expect, test } from 'vitest';
import { duplicatesName, logName, openSubscriberLog, readSubscriberLog } from './subscriber-log.ts';

function delivery(deliveryId: string, position: string) {
  const headers = { 'x-codehost-delivery': deliveryId };
  return { headers, body: Buffer.from('{}'), relay: { channel: 'c', id: position } };
}

test('a delivery is written once, however often it arrives, and the newest line is the cursor', async () => {
  const folder = temporaryFolder();
  const log = openSubscriberLog(folder);
  const answers = await Promise.all([
    log.receive(delivery('a', 'e.1')),
    log.receive(delivery('a', 'e.1')),
    log.receive(delivery('b', 'e.2')),
  ]);
  expect(answers.map(({ outcome }) => outcome)).toEqual(['accepted', 'duplicate', 'accepted']);
  expect(readSubscriberLog(folder).lines.map(({ deliveryId }) => deliveryId)).toEqual(['a', 'b']);
  expect(statSync(join(folder, duplicatesName)).size).toBe(1);
  const again = openSubscriberLog(folder);
  expect(again.cursor()).toBe('e.2');
  expect(await again.receive(delivery('a', 'e.1'))).toEqual({ status: 200, outcome: 'duplicate' });
});

test('a torn end is cut off, and is not the cursor', async () => {
  const folder = temporaryFolder();
  await openSubscriberLog(folder).receive(delivery('a', 'e.1'));
  appendFileSync(join(folder, logName), '{"deliveryId":"b","relay":{"channel":"c","id":"e.2');
  const log = openSubscriberLog(folder);
  expect(log.cursor()).toBe('e.1');
  expect(await log.receive(delivery('b', 'e.2'))).toMatchObject({ outcome: 'accepted' });
  expect(readFileSync(join(folder, logName), 'utf8').split('\n')).toHaveLength(3);
});
