// Publishing against servers that die, hang or do not exist.
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { type NatsServer, until, WAIT_MS } from '@svc/testkit';
import { expect, test } from 'vitest';
import { shardOf } from './engine.ts';
import { deliveryOf, engineForTest, listen, publishText } from './testing/engine-for-test.ts';

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
        deadlineMs: WAIT_MS,
      });
      acknowledged.set(id, position.seq);
    }
  });
  for (let kills = 1; kills <= 3; kills += 1) {
    await until(() => acknowledged.size > kills * 150);
    await server.kill();
    await until(() => !engine.health().connected);
    await server.start();
  }
  await until(() => acknowledged.size > 600);
  sending.over = true;
  await Promise.all(senders);
  const { received } = listen(engine, 'one', 'oldest');
  await expect.poll(() => received.bodies.length).toBeGreaterThanOrEqual(acknowledged.size);
  const stored = received.bodies.map((text) => text.split(' ')[0] ?? '');
  expect(new Set(stored).size).toBe(stored.length);
  const found = new Set(stored);
  expect([...acknowledged.keys()].filter((id) => !found.has(id))).toEqual([]);
});

test('without a server it fails at the deadline, and not before', async () => {
  const { engine, server } = await engineForTest();
  await server.kill();
  const started = performance.now();
  const publishing = engine.publish('one', deliveryOf('x'), { messageId: 'a', deadlineMs: 700 });
  await expect(publishing).rejects.toMatchObject({ code: 'engine-unavailable' });
  expect(performance.now() - started).toBeGreaterThanOrEqual(700);
  await expect.poll(() => engine.health()).toMatchObject({ connected: false });
  expect(engine.health().reason).not.toBeNull();
});

test('a publish waits for a hanging server, and is stored once', async () => {
  const { engine, server } = await engineForTest();
  await server.pause();
  const publishing = publishText(engine, 'one', 'patient', 'id');
  await until(() => !engine.health().connected);
  server.unpause();
  await publishing;
  await publishText(engine, 'one', 'after');
  const { received } = listen(engine, 'one', 'oldest');
  await expect.poll(() => received.bodies).toContain('after');
  expect(received.bodies).toEqual(['patient', 'after']);
});

test('while no stream accepts it, it is sent again until one does', async () => {
  const { engine, server, nats } = await engineForTest({ shards: 1 });
  const client = await connect(nats);
  const makeAgain = await removeStream(client, 'svc-relay-shard-00');
  const before = await sentBy(server, 'svc-relay write');
  const publishing = publishText(engine, 'one', 'x');
  await until(async () => (await sentBy(server, 'svc-relay write')) >= before + 2);
  await makeAgain();
  expect((await publishing).position.seq).toBe(1);
  await client.close();
});

test('health shows that a shard does not answer, why, and when it is back', async () => {
  const { engine, nats } = await engineForTest({ shards: 2 });
  expect(engine.health()).toMatchObject({ connected: true, streams: 2, reason: null });
  const client = await connect(nats);
  const makeAgain = await removeStream(client, 'svc-relay-shard-01');
  const channel = ['a', 'b', 'c', 'd', 'e'].find((id) => shardOf(id, { shards: 2 }) === 1) ?? '';
  const publishing = engine.publish(channel, deliveryOf('x'), { messageId: 'x', deadlineMs: 200 });
  await expect(publishing).rejects.toMatchObject({ code: 'engine-unavailable' });
  const reason: unknown = expect.stringContaining('svc-relay-shard-01');
  await expect.poll(() => engine.health()).toMatchObject({ connected: true, streams: 1, reason });
  await makeAgain();
  await expect.poll(() => engine.health()).toMatchObject({ streams: 2, reason: null });
  await client.close();
});

/** The returned function creates it again with the same configuration, empty. */
async function removeStream(client: NatsConnection, stream: string): Promise<() => Promise<void>> {
  const ask = (order: string, payload = '') =>
    client.request(`$JS.API.STREAM.${order}.${stream}`, payload, { timeout: WAIT_MS });
  const { config } = (await ask('INFO')).json<{ config: unknown }>();
  await ask('DELETE');
  return async () => void (await ask('CREATE', JSON.stringify(config)));
}

/** How many messages the server has received from the connection of this name. */
async function sentBy({ monitorUrl }: NatsServer, name: string): Promise<number> {
  const response = await fetch(`${monitorUrl}/connz`);
  const { connections } = (await response.json()) as { connections: { name: string; in_msgs: number }[] };
  return connections.find((connection) => connection.name === name)?.in_msgs ?? 0;
}
