import { natsForTest } from '@svc/testkit';
import { expect, test } from 'vitest';
import { createEngine } from '../engine/create-engine.ts';
import { Refused } from '../engine/engine.ts';
import { publishText } from '../engine/testing/engine-for-test.ts';
import { type ProvisionOptions, provision } from './provision.ts';

test('creates the streams, then changes only what differs and reports it', async () => {
  const server = await natsForTest();
  const nats = { servers: [server.url] };
  const dry = await provision({ nats, shards: 2, dryRun: true });
  await expect(createEngine({ nats })).rejects.toMatchObject({ code: 'engine-not-provisioned' });
  const first = await provision({ nats, shards: 2 });
  expect(first).toEqual(dry);
  expect(first.map(({ what, done }) => `${what} ${done}`)).toEqual([
    'svc-relay-registry created',
    'svc-relay-cursors created',
    'svc-relay-shard-00 created',
    'svc-relay-shard-01 created',
    'svc-relay-records-00 created',
    'svc-relay-records-01 created',
    'layout created',
  ]);
  const second = await provision({ nats });
  expect(second.map(({ done, details }) => ({ done, details }))).toEqual(
    Array.from({ length: 7 }, () => ({ done: 'unchanged', details: [] })),
  );
  const third = await provision({ nats, maxAgeMs: 7 * 86_400_000, maxBytesPerChannel: 5_000_000 });
  expect(third.find(({ what }) => what === 'svc-relay-shard-01')).toEqual({
    what: 'svc-relay-shard-01',
    done: 'changed',
    details: ['max_age 259200000000000 -> 604800000000000'],
  });
  expect(third.find(({ what }) => what === 'layout')?.done).toBe('changed');
});

test('never drops deliveries without --shrink, and never moves channels', async () => {
  const server = await natsForTest();
  const nats = { servers: [server.url] };
  await provision({ nats, shards: 1 });
  const shard = async (options: Partial<ProvisionOptions>) =>
    (await provision({ nats, ...options })).find(({ what }) => what === 'svc-relay-shard-00');
  expect((await shard({ maxAgeMs: 86_400_000 }))?.done).toBe('changed');
  const engine = await createEngine({ nats });
  await publishText(engine, 'one', 'x');
  await engine.close();
  const smaller = await shard({ maxAgeMs: 60_000 });
  expect(smaller?.done).toBe('unchanged');
  expect(smaller?.details[0]).toContain('needs --shrink');
  expect((await shard({ maxAgeMs: 600_000, shrink: true }))?.done).toBe('changed');
  await expect(provision({ nats, shards: 4 })).rejects.toThrow(Refused);
  await expect(provision({ nats, prefix: 'huge', maxBytesPerShard: 1024 ** 5 })).rejects.toMatchObject({
    remedy: expect.stringContaining('--max-shard-bytes'),
  });
});

test('a failed first attempt fixes nothing: it can be repeated with other shards and sizes', async () => {
  const server = await natsForTest();
  const nats = { servers: [server.url] };
  // Ten of them fit into the server's store of 64 GB.
  await expect(provision({ nats, shards: 16, maxBytesPerShard: 6e9 })).rejects.toThrow(Refused);
  await expect(createEngine({ nats })).rejects.toMatchObject({ code: 'engine-not-provisioned' });
  const again = await provision({ nats, shards: 4, maxBytesPerShard: 128 * 1024 * 1024 });
  expect(again.at(-1)).toMatchObject({ what: 'layout', done: 'created' });
  const engine = await createEngine({ nats });
  await publishText(engine, 'one', 'x');
  await engine.close();
});

test('a stream that cannot keep one delivery is refused', async () => {
  const server = await natsForTest();
  const nats = { servers: [server.url] };
  await expect(provision({ nats, shards: 1, maxBytesPerShard: 20 * 1024 * 1024 })).rejects.toMatchObject({
    remedy: 'Use at least --max-shard-bytes 64.',
  });
});
