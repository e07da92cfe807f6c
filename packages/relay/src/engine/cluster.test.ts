// Three servers, three replicas: the leader of the stream dies or steps down under load.
import { setTimeout as sleep } from 'node:timers/promises';
import { natsClusterForTest } from '@svc/testkit';
import { expect, test } from 'vitest';
import { provision } from './provision.ts';
import { anotherEngine, deliveryOf, listen, until } from './testing/engine-for-test.ts';

const stream = 'svc-relay-shard-00';

test('leader killed with -9, then another steps down: nothing lost, nothing doubled, each in order', async () => {
  const cluster = await natsClusterForTest({ size: 3 });
  const steps = await provision({ nats: { servers: cluster.urls }, shards: 1 });
  expect(steps.at(-1)).toEqual({ what: stream, done: 'created', details: ['replicas 3'] });
  const engine = await anotherEngine(cluster.urls);
  const other = await anotherEngine(cluster.urls);
  const channel = { id: 'one', readKeyHash: null, createdAt: 1 };
  await engine.createChannel(channel);
  expect(await other.findChannel('one')).toEqual(channel);
  const { heard } = listen(other, 'one');
  await until(() => expect(heard.ready).not.toBeNull());

  const acknowledged = new Set<string>();
  const took: number[] = [];
  let next = 0;
  const sending = { over: false };
  const senders = Array.from({ length: 8 }, async () => {
    while (!sending.over) {
      const id = `${(next += 1)}`;
      const started = performance.now();
      await engine.publish('one', deliveryOf(id), { messageId: id, deadlineMs: 20_000 });
      took.push(performance.now() - started);
      acknowledged.add(id);
      await sleep(5);
    }
  });
  await sleep(500);
  const leader = await cluster.streamLeader(stream);
  await leader?.kill();
  await sleep(9000);
  await leader?.start();
  const beforeStepDown = took.length;
  await cluster.stepDown(stream);
  await sleep(1000);
  sending.over = true;
  await Promise.all(senders);

  await until(() => expect(heard.bodies.length).toBeGreaterThanOrEqual(acknowledged.size), 30_000);
  expect(new Set(heard.bodies).size).toBe(heard.bodies.length);
  expect([...acknowledged].filter((id) => !heard.bodies.includes(id))).toEqual([]);
  const sequences = heard.positions.map(({ seq }) => seq);
  expect(sequences).toEqual(sequences.toSorted((one, another) => one - another));
  expect(heard.gaps).toEqual([]);
  console.log(
    `acknowledged ${acknowledged.size}, slowest ${Math.round(Math.max(...took))} ms with kill -9,`,
    `${Math.round(Math.max(...took.slice(beforeStepDown)))} ms with step-down`,
  );
}, 90_000);

test('a server that falls silent without closing is left for another one', async () => {
  const cluster = await natsClusterForTest({ size: 3 });
  await provision({ nats: { servers: cluster.urls }, shards: 1 });
  const leader = await cluster.streamLeader(stream);
  const silent = cluster.nodes.find((node) => node !== leader);
  const engine = await anotherEngine([silent?.url ?? '']);
  const { heard } = listen(engine, 'one');
  await until(() => expect(heard.ready).not.toBeNull());
  silent?.pause();
  const started = performance.now();
  await engine.publish('one', deliveryOf('patient'), { messageId: 'a', deadlineMs: 15_000 });
  expect(performance.now() - started).toBeLessThan(5000);
  await until(() => expect(heard.bodies).toEqual(['patient']), 20_000);
  silent?.unpause();
}, 60_000);
