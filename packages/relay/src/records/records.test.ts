// What a reader of a team's records gets while the store is not as it should be: a replica that is behind, and a stream
// that was created again. On a store in memory, because a real one cannot be held in these states.
import { until } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { namesFor } from '../engine/engine.ts';
import { createRecords } from './records.ts';

function recordsOn(replica: { applied: number; created: string }, last: number) {
  const message = (seq: number) => ({ seq, subject: '', data: Buffer.from(String(seq)), check: '', at: 0 });
  const after = (cursor: number, end: number) =>
    Array.from({ length: Math.max(0, end - cursor) }, (_, index) => message(cursor + 1 + index));
  const records = createRecords({
    connection: {
      nats: { subscribe: () => ({ unsubscribe: () => undefined }), isClosed: () => false },
    } as never,
    publisher: {} as never,
    store: {
      info: async () => ({ created: replica.created }),
      page: async (_: string, __: string, cursor: number) => ({
        anchor: null,
        messages: after(cursor, replica.applied),
        end: true,
      }),
      leaderNext: async (_: string, __: string, seq: number) => after(seq - 1, last)[0],
    } as never,
    names: namesFor('test'),
    layout: { shards: 1, maxDeliveriesPerChannel: 1000, maxBytesPerChannel: 1e9 },
  });
  onTestFinished(() => records.close());
  const seen = { records: [] as string[], isComplete: false, ended: '' };
  records.follow('c', {
    path: '>',
    after: null,
    onRecord: (data) => seen.records.push(Buffer.from(data).toString()) > 0,
    onReady: (_, complete) => void (seen.isComplete = complete),
    onEnd: (reason) => void (seen.ended = reason.message),
  });
  return seen;
}

test('a replica that is behind does not make records disappear from a complete stream', async () => {
  const seen = recordsOn({ applied: 2, created: '2026-01-02T09:00:00Z' }, 5);
  await until(() => seen.isComplete);
  expect(seen.records).toEqual(['1', '2', '3', '4', '5']);
});

test('readers of a stream that was created again are disconnected, so that they get everything', async () => {
  const replica = { applied: 3, created: '2026-01-02T09:00:00Z' };
  const seen = recordsOn(replica, 3);
  await until(() => seen.isComplete);
  replica.created = '2026-01-02T10:00:00Z';
  await until(() => seen.ended !== '');
  expect(seen.ended).toContain('was created again');
});
