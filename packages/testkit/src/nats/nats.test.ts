import { existsSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../waiting.ts';
import { natsClusterForTest, natsForTest, startNatsServer } from './nats-cluster.ts';
import { askNats, natsServerVersion } from './nats-node.ts';

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

test('one server keeps acknowledged writes after kill -9, on the same port', async () => {
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

test('a paused server answers nothing, and continues afterwards', async () => {
  const nats = await natsForTest();
  const other = await natsForTest();
  await nats.pause();
  let answered = false;
  const answer = askNats(nats.port, '$JS.API.INFO', '').finally(() => (answered = true));
  // Later requests are all answered.
  for (let asked = 0; asked < 50; asked += 1) await askNats(other.port, '$JS.API.INFO', '');
  expect(answered).toBe(false);
  nats.unpause();
  await expect(answer).resolves.toContain('account_info_response');
});

test('writes are synced at once if configured, and the reported version is that of the running server', async () => {
  const settingsOf = async (server: { monitorUrl: string }) =>
    (await (await fetch(`${server.monitorUrl}/varz`)).json()) as {
      version: string;
      jetstream: { config: { sync_always?: boolean } };
    };
  const { version, jetstream } = await settingsOf(await natsForTest({ syncAlways: true }));
  expect(natsServerVersion()).toBe(version);
  expect(jetstream.config.sync_always).toBe(true);
  expect((await settingsOf(await natsForTest())).jetstream.config.sync_always).not.toBe(true);
});

test('a cluster of three: step-down, kill -9 of the leader, lame duck, and nothing is lost', async () => {
  const cluster = await natsClusterForTest({ size: 3 });
  const [first] = cluster.nodes;
  await addStream(first?.port ?? 0, 's', 3);
  const leader = await until(() => cluster.streamLeader('s'));
  await expect(write(leader.port, 's.a', 'one')).resolves.toMatchObject({ seq: 1 });

  await expect.poll(cluster.busiestStream).toMatchObject({ stream: 's', leader: { name: leader.name } });
  await expect.poll(() => cluster.isCurrent()).toBe(true);

  await cluster.stepDown('s');
  const second = await until(async () => {
    const found = await cluster.streamLeader('s');
    return found === leader ? undefined : found;
  });
  await second.kill();
  expect(await cluster.isCurrent()).toBe(false);
  const third = await until(() => cluster.streamLeader('s'));
  expect(third.name).not.toBe(second.name);
  await expect(write(third.port, 's.a', 'two')).resolves.toMatchObject({ seq: 2 });
  await second.start();
  await expect.poll(() => cluster.isCurrent()).toBe(true);

  await third.lameDuck();
  expect(third.pid()).toBeUndefined();
  const fourth = await until(() => cluster.streamLeader('s'));
  await expect(write(fourth.port, 's.a', 'three')).resolves.toMatchObject({ seq: 3 });
  await expect.poll(cluster.streams).toEqual(['s']);
});
