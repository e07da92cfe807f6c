// Three servers, three replicas: the leader of the stream dies or steps down under load.
import { natsClusterForTest, until, WAIT_MS } from '@svc/testkit';
import { expect, test } from 'vitest';
import { provision } from '../provision/provision.ts';
import { anotherEngine, deliveryOf, listen } from './testing/engine-for-test.ts';

const stream = 'svc-relay-shard-00';

test('leader killed with -9, then another steps down: nothing lost, nothing doubled, each in order', async () => {
  const cluster = await natsClusterForTest({ size: 3 });
  const steps = await provision({ nats: { servers: cluster.urls }, shards: 1 });
  expect(steps.find(({ what }) => what === stream)).toEqual({
    what: stream,
    done: 'created',
    details: ['replicas 3'],
  });
  const engine = await anotherEngine(cluster.urls);
  const other = await anotherEngine(cluster.urls);
  const channel = { id: 'one', readKeyHash: null, createdAt: 1 };
  await engine.createChannel(channel);
  expect(await other.findChannel('one')).toEqual(channel);
  const { received } = listen(other, 'one');
  await expect.poll(() => received.ready).not.toBeNull();

  const acknowledged = new Set<string>();
  const took: number[] = [];
  let next = 0;
  const sending = { over: false };
  const senders = Array.from({ length: 8 }, async () => {
    while (!sending.over) {
      const id = `${(next += 1)}`;
      const started = performance.now();
      await engine.publish('one', deliveryOf(id), { messageId: id, deadlineMs: WAIT_MS });
      took.push(performance.now() - started);
      acknowledged.add(id);
    }
  });
  const moreAcknowledged = (): Promise<boolean> => {
    const before = acknowledged.size;
    return until(() => acknowledged.size > before + 200);
  };
  await moreAcknowledged();
  const leader = await until(() => cluster.streamLeader(stream));
  await leader.kill();
  await moreAcknowledged();
  await leader.start();
  await until(() => cluster.isCurrent());
  const beforeStepDown = took.length;
  const second = await until(() => cluster.streamLeader(stream));
  await cluster.stepDown(stream);
  await until(async () => {
    const third = await cluster.streamLeader(stream);
    return third !== undefined && third !== second;
  });
  await moreAcknowledged();
  sending.over = true;
  await Promise.all(senders);

  await expect.poll(() => received.bodies.length).toBeGreaterThanOrEqual(acknowledged.size);
  const bodies = new Set(received.bodies);
  expect(bodies.size).toBe(received.bodies.length);
  expect([...acknowledged].filter((id) => !bodies.has(id))).toEqual([]);
  const sequences = received.positions.map(({ seq }) => seq);
  expect(sequences).toEqual(sequences.toSorted((one, another) => one - another));
  expect(received.gaps).toEqual([]);
  console.log(
    `acknowledged ${acknowledged.size}, slowest ${Math.round(Math.max(...took))} ms with kill -9,`,
    `${Math.round(Math.max(...took.slice(beforeStepDown)))} ms with step-down`,
  );
});

test('a write that takes longer than a second is acknowledged, not refused as its own duplicate', async () => {
  const cluster = await natsClusterForTest({ size: 3 });
  await provision({ nats: { servers: cluster.urls }, shards: 1 });
  const leader = await until(() => cluster.streamLeader(stream));
  const engine = await anotherEngine([leader.url]);
  await engine.publish('one', deliveryOf('before'), { messageId: 'a', deadlineMs: WAIT_MS });
  const followers = cluster.nodes.filter((node) => node !== leader);
  const sentBefore = await sentBy(leader.monitorUrl);
  for (const node of followers) await node.pause();
  const publishing = engine.publish('one', deliveryOf('slow'), { messageId: 'b', deadlineMs: WAIT_MS });
  // Sent, and sent again without an answer: the leader then answers that the first copy is in process.
  await until(async () => (await sentBy(leader.monitorUrl)) >= sentBefore + 2);
  let refused: unknown;
  publishing.catch((error: unknown) => (refused = error));
  await engine.findChannel('none').catch(() => undefined);
  expect(refused).toBeUndefined();
  for (const node of followers) node.unpause();
  expect(await publishing).toMatchObject({ position: { seq: 2 } });
});

test('health names replicas that are not up to date, and forgets them when they are', async () => {
  const cluster = await natsClusterForTest({ size: 3 });
  await provision({ nats: { servers: cluster.urls }, shards: 1 });
  const leader = await until(() => cluster.streamLeader(stream));
  const engine = await anotherEngine([leader.url], { everyMs: 300 });
  // A new replica may still be catching up.
  await expect.poll(() => engine.health().behind).toEqual([]);
  const gone = await until(() => cluster.nodes.find((node) => node !== leader));
  await gone.kill();
  await expect.poll(() => engine.health().behind).toContain(`${stream} on ${gone.name}`);
  await gone.start();
  await expect.poll(() => engine.health().behind).toEqual([]);
});

/** How many messages a server has received from the writing connection. */
async function sentBy(monitorUrl: string): Promise<number> {
  const { connections } = (await (await fetch(`${monitorUrl}/connz`)).json()) as {
    connections: { name: string; in_msgs: number }[];
  };
  return connections.find(({ name }) => name === 'svc-relay write')?.in_msgs ?? 0;
}

test('a server that becomes silent without closing is replaced by another one', async () => {
  const cluster = await natsClusterForTest({ size: 3 });
  await provision({ nats: { servers: cluster.urls }, shards: 1 });
  const leader = await until(() => cluster.streamLeader(stream));
  const silent = await until(() => cluster.nodes.find((node) => node !== leader));
  const engine = await anotherEngine([silent.url]);
  const { received } = listen(engine, 'one');
  await expect.poll(() => received.ready).not.toBeNull();
  await silent.pause();
  await engine.publish('one', deliveryOf('patient'), { messageId: 'a', deadlineMs: WAIT_MS });
  await expect.poll(() => received.bodies).toEqual(['patient']);
});
