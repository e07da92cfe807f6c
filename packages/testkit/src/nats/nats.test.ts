import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { type NatsCluster, startNatsServer } from './nats-cluster.ts';
import { knowsSyncAlways, natsServerVersion } from './nats-configuration.ts';
import { natsClusterForTest, natsForTest } from './nats-for-test.ts';
import { askNats } from './nats-request.ts';

async function addStream(port: number, name: string, replicas: number): Promise<void> {
  const config = { name, subjects: [`${name}.>`], storage: 'file', num_replicas: replicas };
  const answer = await askNats(port, `$JS.API.STREAM.CREATE.${name}`, JSON.stringify(config));
  expect(answer).toContain(`"name":"${name}"`);
}

/** The server's own acknowledgement of a write: `{"stream":"s","seq":1}`. */
async function write(port: number, subject: string, text: string): Promise<unknown> {
  return JSON.parse(await askNats(port, subject, text));
}

function isAlive(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function leaderOf(cluster: NatsCluster, stream: string) {
  for (const deadline = performance.now() + 20_000; performance.now() < deadline; await sleep(50)) {
    const leader = await cluster.streamLeader(stream);
    if (leader !== undefined) return leader;
  }
  throw new Error(`${stream} has no leader`);
}

test('one server keeps what it acknowledged over kill -9, on the same port', async () => {
  const nats = await natsForTest();
  await addStream(nats.port, 's', 1);
  expect(await write(nats.port, 's.a', 'one')).toMatchObject({ stream: 's', seq: 1 });
  const before = nats.pid();
  await nats.kill();
  expect(isAlive(before)).toBe(false);
  expect(nats.pid()).toBeUndefined();
  expect(await nats.healthy()).toBe(false);
  await nats.start();
  expect(nats.pid()).not.toBe(before);
  expect(await write(nats.port, 's.a', 'two')).toMatchObject({ stream: 's', seq: 2 });
});

test('stopping ends the process and removes the store', async () => {
  const nats = await startNatsServer();
  onTestFinished(() => nats.stop());
  const pid = nats.pid();
  expect(existsSync(nats.folder)).toBe(true);
  await nats.stop();
  expect(isAlive(pid)).toBe(false);
  expect(existsSync(nats.folder)).toBe(false);
});

test('a paused server answers nothing, and goes on afterwards', async () => {
  const nats = await natsForTest();
  nats.pause();
  await expect(Promise.race([askNats(nats.port, '$JS.API.INFO', ''), sleep(300, 'nothing')])).resolves.toBe(
    'nothing',
  );
  nats.unpause();
  await expect(askNats(nats.port, '$JS.API.INFO', '')).resolves.toContain('account_info_response');
});

test('writes are synced at once where the server knows how, and it is asked first', async () => {
  const version = natsServerVersion();
  if (!version.ok) throw new Error(version.problem);
  const [major = 0, minor = 0] = version.version.split('.').map(Number);
  const knows = major > 2 || minor >= 10;
  expect(knowsSyncAlways(temporaryFolder())).toBe(knows);
  expect((await natsForTest({ syncAlways: true })).syncsAlways).toBe(knows);
});

test('a cluster of three: step-down, kill -9 of the leader, lame duck, and nothing is lost', async () => {
  const cluster = await natsClusterForTest({ size: 3 });
  const [first] = cluster.nodes;
  await addStream(first?.port ?? 0, 's', 3);
  const leader = await leaderOf(cluster, 's');
  await expect(write(leader.port, 's.a', 'one')).resolves.toMatchObject({ seq: 1 });

  await expect(cluster.busiestStream()).resolves.toMatchObject({
    stream: 's',
    leader: { name: leader.name },
  });
  await expect.poll(() => cluster.isCurrent()).toBe(true);

  await cluster.stepDown('s');
  await expect
    .poll(async () => (await cluster.streamLeader('s'))?.name ?? leader.name, { timeout: 15_000 })
    .not.toBe(leader.name);

  const second = await leaderOf(cluster, 's');
  await second.kill();
  expect(await cluster.isCurrent()).toBe(false);
  const third = await leaderOf(cluster, 's');
  expect(third.name).not.toBe(second.name);
  await expect(write(third.port, 's.a', 'two')).resolves.toMatchObject({ seq: 2 });
  await second.start();
  await expect.poll(() => cluster.isCurrent(), { timeout: 15_000 }).toBe(true);

  await third.lameDuck();
  expect(third.pid()).toBeUndefined();
  const fourth = await leaderOf(cluster, 's');
  await expect(write(fourth.port, 's.a', 'three')).resolves.toMatchObject({ seq: 3 });
  expect(await cluster.streams()).toEqual(['s']);
}, 120_000);
