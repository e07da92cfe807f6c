// Publishing against servers that die, hang and are not there.
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { shardOf } from './names.ts';
import { deliveryOf, engineForTest, listen, publishText, until } from './testing/engine-for-test.ts';

test('kill -9 and restart of the server while 64 are in flight: nothing acknowledged is lost or doubled', async () => {
  const { engine, server } = await engineForTest();
  const acknowledged = new Map<string, number>();
  let next = 0;
  const sending = { over: false };
  const body = 'x'.repeat(1000);
  const senders = Array.from({ length: 64 }, async () => {
    while (!sending.over) {
      const id = `${(next += 1)}`;
      const { position } = await engine.publish('one', deliveryOf(`${id} ${body}`), {
        messageId: id,
        deadlineMs: 10_000,
      });
      acknowledged.set(id, position.seq);
    }
  });
  for (let kills = 0; kills < 3; kills += 1) {
    await sleep(250);
    await server.kill();
    await sleep(150);
    await server.start();
  }
  await sleep(250);
  sending.over = true;
  await Promise.all(senders);
  expect(acknowledged.size).toBeGreaterThan(500);
  const { heard } = listen(engine, 'one', 'oldest');
  await until(() => expect(heard.bodies.length).toBeGreaterThanOrEqual(acknowledged.size));
  const stored = heard.bodies.map((text) => text.split(' ')[0] ?? '');
  expect(new Set(stored).size).toBe(stored.length);
  expect([...acknowledged.keys()].filter((id) => !stored.includes(id))).toEqual([]);
});

test('without a server it fails at the deadline, not before and not much after', async () => {
  const { engine, server } = await engineForTest();
  await server.kill();
  const started = performance.now();
  const publishing = engine.publish('one', deliveryOf('x'), { messageId: 'a', deadlineMs: 700 });
  await expect(publishing).rejects.toMatchObject({ code: 'engine-unavailable' });
  const took = performance.now() - started;
  expect(took).toBeGreaterThan(650);
  expect(took).toBeLessThan(1500);
  expect(engine.health()).toMatchObject({ connected: false });
  expect(engine.health().reason).not.toBeNull();
});

test('a server that hangs is waited for, and what it had got is stored once', async () => {
  const { engine, server } = await engineForTest();
  server.pause();
  const publishing = publishText(engine, 'one', 'patient', 'id');
  await sleep(2500);
  server.unpause();
  await publishing;
  const { heard } = listen(engine, 'one', 'oldest');
  await until(() => expect(heard.bodies).toEqual(['patient']));
  await sleep(100);
  expect(heard.bodies).toHaveLength(1);
});

test('while no stream takes it, it is sent again until one does', async () => {
  const { engine, nats } = await engineForTest({ shards: 1 });
  const client = await connect(nats);
  const info = await client.request('$JS.API.STREAM.INFO.svc-relay-shard-00');
  const { config } = info.json<{ config: unknown }>();
  await client.request('$JS.API.STREAM.DELETE.svc-relay-shard-00');
  const publishing = publishText(engine, 'one', 'x');
  await sleep(400);
  await client.request('$JS.API.STREAM.CREATE.svc-relay-shard-00', JSON.stringify(config));
  expect((await publishing).position.seq).toBe(1);
  await client.close();
});

test('health tells that a shard does not answer, why, and when it is back', async () => {
  const { engine, nats } = await engineForTest({ shards: 2 });
  expect(engine.health()).toMatchObject({ connected: true, streams: 2, reason: null });
  const client = await connect(nats);
  const info = await client.request('$JS.API.STREAM.INFO.svc-relay-shard-01');
  const { config } = info.json<{ config: unknown }>();
  await client.request('$JS.API.STREAM.DELETE.svc-relay-shard-01');
  const channel = ['a', 'b', 'c', 'd', 'e'].find((id) => shardOf(id, { shards: 2 }) === 1) ?? '';
  const publishing = engine.publish(channel, deliveryOf('x'), { messageId: 'x', deadlineMs: 200 });
  await expect(publishing).rejects.toMatchObject({ code: 'engine-unavailable' });
  await until(() => expect(engine.health()).toMatchObject({ connected: true, streams: 1 }));
  expect(engine.health().reason).toContain('svc-relay-shard-01');
  await client.request('$JS.API.STREAM.CREATE.svc-relay-shard-01', JSON.stringify(config));
  await until(() => expect(engine.health()).toMatchObject({ streams: 2, reason: null }));
  await client.close();
});
