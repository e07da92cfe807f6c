// The whole path with our own relay: a delivery is posted to the real svc-relay on a real nats-server, and
// becomes an event of a whole daemon, which was set up by the real command.
import { createHmac } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  codehostExample,
  codehostHeaders,
  type Delivery,
  natsForTest,
  relayProgram,
  temporaryFolder,
  testTerminal,
  until,
  withDelivery,
} from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { type ServerProcess, startServer } from '../../testkit/src/daemon/server-process.ts';
import { runCommandLine } from '../src/cli/run.ts';
import { relayReadKeyFile, webhookSecretFile } from '../src/kernel/config/locate.ts';
import { fillSecrets } from '../src/kernel/instance/secrets-file.ts';
import { facts } from './feed-world.ts';
import { type InProcessDaemon, startInProcess } from './in-process-daemon.ts';

const example = codehostExample('pull_request merged');

async function startRelay(nats: string, port = 0): Promise<ServerProcess & { url: string; port: number }> {
  const folder = temporaryFolder();
  const announcedIn = join(folder, 'relay.json');
  const relay = startServer({
    command: [relayProgram, 'serve', '--provision', '--port', String(port), '--port-file', announcedIn],
    environment: { HOME: folder, SVC_RELAY_NATS: nats },
    folder,
    announcedIn,
    output: join(folder, 'relay.log'),
  });
  onTestFinished(() => relay.kill());
  const announced = await relay.ready;
  return { ...relay, port: announced.port, url: `http://127.0.0.1:${announced.port}` };
}

/** A machine that was set up for the relay: what `svc-monitor.sh start` would start, and how to post to it. */
async function machineAt(relayUrl: string) {
  const terminal = testTerminal({});
  const { home } = terminal;
  const configDir = join(home, '.config/svc');
  mkdirSync(join(home, '.svc'), { recursive: true });
  writeFileSync(join(home, '.svc/config.json'), JSON.stringify({ svc: { projectKey: 'demo' } }));
  expect(await runCommandLine(terminal, ['setup-webhooks', '--relay', relayUrl])).toBe(0);
  const channel = JSON.parse(readFileSync(join(configDir, 'config.json'), 'utf8')).svc.monitor.github
    .smeeChannel;
  const textOf = (file: string): string => readFileSync(file, 'utf8').trim();
  const secret = textOf(webhookSecretFile(configDir, 'codehost'));
  const readKey = textOf(relayReadKeyFile(configDir, 'codehost'));

  const start = async (): Promise<InProcessDaemon> => {
    const { environment, warnings } = await fillSecrets(
      configDir,
      {},
      {
        codehost: ['SVC_WEBHOOK_SECRET'],
        tracker: [],
        readKeys: { codehost: ['SVC_RELAY_READ_KEY'], tracker: [] },
      },
    );
    expect(warnings).toEqual([]);
    return startInProcess({ home, environment: environment as Record<string, string> });
  };
  /** The delivery's id, and the position that the relay assigned. */
  const post = async (index: number): Promise<{ id: string; position: string }> => {
    const delivery: Delivery = withDelivery(example, index);
    // With content that breaks a signature when a relay re-serialises the JSON.
    const body = JSON.stringify(delivery.payload, null, 1).replaceAll('<', '\\u003C');
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const response = await fetch(channel, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'x-hub-signature-256': `sha256=${signature}`,
        ...codehostHeaders(delivery),
      },
    });
    expect(response.status).toBe(200);
    const { id } = (await response.json()) as { id: string };
    return { id: delivery.deliveryId, position: id };
  };
  const status = async () => {
    const headers = { authorization: `Bearer ${readKey}` };
    return (await (await fetch(`${channel}/status`, { headers })).json()) as {
      stored: number;
      newest: string;
      subscribers: { named: { subscriber: string; position: string; lag: number }[] };
    };
  };
  const svc = async (...words: string[]): Promise<string> => {
    const asked = { ...testTerminal({ environment: { SVC_DATA_DIR: join(home, 'svc') } }), folder: home };
    expect(await runCommandLine(asked, words)).toBe(0);
    return asked.printed();
  };
  return { home, configDir, channel: channel as string, readKey, start, post, status, svc };
}

const gradeOf = async (daemon: InProcessDaemon) => {
  const { body } = await daemon.get('/api/feeds');
  return (body['tunnels'] as { grade: string; why: string; remedy: string; code: string }[])[0];
};
const isLive = async (daemon: InProcessDaemon): Promise<boolean> => (await gradeOf(daemon))?.grade === 'live';
const idsOf = (daemon: InProcessDaemon): (string | undefined)[] =>
  facts(daemon).map(({ deliveryId }) => deliveryId);

test('from the post to the event, down and up: everything once, in order, with the relay’s position', async () => {
  const nats = await natsForTest();
  const relay = await startRelay(nats.url);
  const { start, post, status, svc } = await machineAt(relay.url);
  const first = await start();
  await until(() => isLive(first));
  const { id, position } = await post(1);
  const sent = [id];
  await until(() => facts(first).length === 1);
  expect(facts(first)[0]).toMatchObject({
    event: 'codehost.pr.merged',
    source: 'codehost.webhook',
    via: 'live',
    deliveryId: id,
    relay: { id: position },
  });
  expect(await svc('feeds', 'ping')).toMatch(/^codehost +.*ms/m);

  // The machine is off; the relay is restarted meanwhile, at the same address.
  await first.close();
  for (let index = 2; index <= 26; index += 1) sent.push((await post(index)).id);
  await relay.stop();
  await startRelay(nats.url, relay.port);
  for (let index = 27; index <= 51; index += 1) sent.push((await post(index)).id);

  // The relay shows which machine is behind, and how far.
  const hostId = facts(first)[0]?.host.id ?? '';
  expect((await status()).subscribers.named).toMatchObject([{ subscriber: hostId, lag: 50 }]);

  const second = await start();
  await until(() => facts(second).length >= sent.length);
  expect(idsOf(second)).toEqual(sent);
  expect(new Set(idsOf(second)).size).toBe(51);
  await post(51);
  sent.push((await post(52)).id);
  await until(() => facts(second).length >= sent.length);
  expect(idsOf(second)).toEqual(sent);

  await until(async () => (await status()).subscribers.named[0]?.lag === 0);
  expect((await status()).subscribers.named).toMatchObject([{ subscriber: hostId }]);
});

test('a wrong key, no key, no such channel: health and svc feeds report it, with the fix', async () => {
  const nats = await natsForTest();
  const relay = await startRelay(nats.url);
  const { home, configDir, channel, readKey, start, svc } = await machineAt(relay.url);
  const keyFile = relayReadKeyFile(configDir, 'codehost');
  const blindWith = async (why: RegExp, remedy: RegExp): Promise<void> => {
    const daemon = await start();
    await until(async () => (await gradeOf(daemon))?.grade === 'blind');
    const health = JSON.stringify((await daemon.get('/api/health')).body);
    expect(health).toMatch(why);
    expect(health).toMatch(remedy);
    const printed = await svc('feeds');
    expect(printed).toMatch(why);
    expect(printed).toMatch(remedy);
    for (const text of [health, printed, daemon.printed()]) expect(text).not.toContain('not-the-key');
    await daemon.close();
  };

  writeFileSync(keyFile, 'not-the-key-of-this-channel\n', { mode: 0o600 });
  await blindWith(/does not accept the read key in SVC_RELAY_READ_KEY \(401\)/, /svc monitor restart/);
  writeFileSync(keyFile, '\n', { mode: 0o600 });
  const without = startInProcess({
    home,
    environment: {
      SVC_WEBHOOK_SECRET: readFileSync(webhookSecretFile(configDir, 'codehost'), 'utf8').trim(),
    },
  });
  await until(async () => (await gradeOf(await without))?.code === 'read-key');
  expect((await gradeOf(await without))?.why).toMatch(
    /wants a read key \(401\), and SVC_RELAY_READ_KEY is not set/,
  );
  await (await without).close();

  // With the right key again, all is well.
  writeFileSync(keyFile, `${readKey}\n`, { mode: 0o600 });
  const well = await start();
  await until(() => isLive(well));
  await well.close();

  const configFile = join(configDir, 'config.json');
  const gone = readFileSync(configFile, 'utf8').replace(channel, `${relay.url}/nobody-made-this-one`);
  writeFileSync(configFile, gone, { mode: 0o600 });
  const lost = await start();
  await until(async () => (await gradeOf(lost))?.why !== null);
  expect(await gradeOf(lost)).toMatchObject({
    why: 'the relay does not know the channel (404)',
    remedy: expect.stringContaining('svc setup-webhooks --force'),
  });
});
