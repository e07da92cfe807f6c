// One channel, one hook, many machines: two whole daemons on the channel of our own relay. Each has its
// own cursor; neither creates a second hook, and neither loses anything while it is down.
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  codehostExample,
  ghEnvironment,
  startFakeCodehost,
  startHostileRelay,
  temporaryFolder,
  testTerminal,
  until,
} from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import { covered, facts, SECRET } from './feed-world.ts';
import { startInProcess } from './in-process-daemon.ts';
import { svcInProcess } from './svc-in-process.ts';

const merged = codehostExample('pull_request merged').payload;

async function team() {
  const relay = await startHostileRelay({ ours: true, strict: true });
  const codehost = await startFakeCodehost({ folder: temporaryFolder() });
  onTestFinished(async () => {
    await relay.stop();
    await codehost.close();
  });
  codehost.addToken('token');
  codehost.cloud.addRepo('acme/web');
  const made = await fetch(`${relay.url}/new`, { method: 'POST' });
  const { writeUrl, readKey } = (await made.json()) as { writeUrl: string; readKey: string };

  /** A separate machine: home, data, environment; the channel, its key and the secret are the team's. */
  const machine = () => {
    const home = temporaryFolder();
    const write = (path: string, value: unknown) => {
      mkdirSync(dirname(join(home, path)), { recursive: true });
      writeFileSync(join(home, path), JSON.stringify(value));
      if (path.startsWith('.config/')) chmodSync(join(home, path), 0o600);
    };
    write('.config/svc/config.json', { svc: { monitor: { github: { smeeChannel: writeUrl } } } });
    write('.svc/config.json', {
      svc: {
        projectKey: 'demo',
        repository: { org: 'acme', name: 'web' },
        monitor: { github: { watchRepos: ['acme/web'] } },
      },
    });
    const environment = {
      ...ghEnvironment(codehost, 'token'),
      SVC_WEBHOOK_SECRET: SECRET,
      SVC_RELAY_READ_KEY: readKey,
    };
    return { home, environment, start: () => startInProcess({ home, environment }) };
  };
  return { relay, codehost, writeUrl, readKey, machine };
}

test('two machines, one hook: each gets everything, from its own position', async () => {
  const { relay, codehost, writeUrl, machine } = await team();
  const [one, other] = [machine(), machine()];
  // At the same time: both find no hook, and only one of them can create it.
  const [first, second] = await Promise.all([one.start(), other.start()]);
  await until(async () => (await covered(first)) && (await covered(second)));
  const hooks = codehost.cloud.repoOf('acme/web').hooks;
  expect(hooks.map(({ config }) => config.url)).toEqual([writeUrl]);

  await codehost.emit('acme/web', 'pull_request', merged);
  await until(() => facts(first).length === 1 && facts(second).length === 1);
  for (const daemon of [first, second])
    expect(facts(daemon)[0]).toMatchObject({
      event: 'codehost.pr.merged',
      via: 'live',
      relay: { id: expect.stringMatching(/^e1\.\d+$/) },
    });

  await second.close();
  for (let count = 0; count < 5; count += 1) await codehost.emit('acme/web', 'pull_request', merged);
  await until(() => facts(first).length === 6);
  expect(facts(second)).toHaveLength(1);
  const again = await other.start();
  await until(() => facts(again).length === 6);
  await until(() => covered(again));
  expect(facts(again).map(({ deliveryId }) => deliveryId)).toEqual(
    facts(first).map(({ deliveryId }) => deliveryId),
  );
  expect(codehost.cloud.repoOf('acme/web').hooks).toHaveLength(1);

  // The relay knows which machine reads, under a permanent name.
  const named = relay.connected.filter(({ raw }) => raw).map(({ subscriber }) => subscriber);
  expect(new Set(named).size).toBe(2);
  expect(named).not.toContain(null);
});

test('a machine that joins later uses the existing hook, and leaves its secret unchanged', async () => {
  const { codehost, machine } = await team();
  const first = await machine().start();
  await until(() => covered(first));
  const [hook] = codehost.cloud.repoOf('acme/web').hooks;
  const secret = hook?.config.secret;
  const second = await machine().start();
  await until(() => covered(second));
  const hooks = codehost.cloud.repoOf('acme/web').hooks;
  expect(hooks).toHaveLength(1);
  expect(hooks[0]?.config.secret).toBe(secret);
  await codehost.emit('acme/web', 'pull_request', merged);
  await until(() => facts(first).length === 1 && facts(second).length === 1);
});

test('the key is in a header, and in no address, log, event, health report or output', async () => {
  const { relay, readKey, machine } = await team();
  const { home, start } = machine();
  const daemon = await start();
  await until(() => covered(daemon));
  const terminal = { ...testTerminal({ environment: { SVC_DATA_DIR: join(home, 'svc') } }), folder: home };
  await runCommandLine(terminal, ['feeds', '--json']);
  const reports = await Promise.all(['/api/health', '/api/feeds'].map((path) => daemon.get(path)));
  const said = [daemon.printed(), terminal.printed(), JSON.stringify([reports, daemon.lines()])];
  expect(said.filter((text) => text.includes(readKey))).toEqual([]);
  expect(relay.connected.length).toBeGreaterThan(0);
  for (const { headers } of relay.connected) expect(headers.authorization).toBe(`Bearer ${readKey}`);
});

test('a machine that is uninstalled leaves the hook to those that read the channel, or may', async () => {
  const { relay, codehost, writeUrl, machine } = await team();
  const [leaving, unsure, staying] = [machine(), machine(), machine()];
  const daemons = [await leaving.start(), await unsure.start(), await staying.start()] as const;
  for (const daemon of daemons) await until(() => covered(daemon));
  // One that is away reads later what was delivered.
  await daemons[0].close();
  await daemons[1].close();
  const hooks = () => codehost.cloud.repoOf('acme/web').hooks.map(({ config }) => config.url);
  const uninstall = async ({ home, environment }: typeof leaving) => {
    const svc = svcInProcess({ home, folder: home, environment });
    expect(hooks()).toEqual([writeUrl]);
    const { code, out, err } = await svc('uninstall', '--yes');
    expect(code, out + err).toBe(0);
    expect(existsSync(join(home, 'svc'))).toBe(false);
    expect(out).not.toContain('.claude.json');
    return out;
  };
  const kept = `keep    the webhooks to ${writeUrl}\n        `;
  expect(await uninstall(leaving)).toContain(
    `${kept}it is read by 2 other machines\n        To remove it: Delete them in the settings of acme/web\n`,
  );
  await codehost.emit('acme/web', 'pull_request', merged);
  await until(() => facts(daemons[2]).length === 1);
  await relay.stop();
  expect(await uninstall(unsure)).toContain(
    `${kept}the relay does not answer whether other machines read this channel\n`,
  );
  expect(hooks()).toEqual([writeUrl]);
});
