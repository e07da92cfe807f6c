import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startPublicRelay, testTerminal, testTracker } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../run.ts';

const TOKEN = 'tracker-token';

async function house(given: { project?: unknown; global?: unknown; relayUrl?: string } = {}) {
  const relay = await startPublicRelay();
  onTestFinished(() => relay.stop());
  const tracker = await testTracker(TOKEN);
  const team = tracker.cloud.addTeam({ key: 'ABC' });
  const terminal = testTerminal({
    environment: { SVC_RELAY_URL: given.relayUrl ?? relay.url, SVC_TRACKER_API_URL: tracker.url },
  });
  const path = (name: string) => join(terminal.home, name);
  const write = (name: string, value: unknown) => {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), JSON.stringify(value, null, 2));
  };
  const tracked = { projectKey: 'demo', tracker: { teamKey: 'ABC', teamId: team.id } };
  write('.svc/config.json', given.project ?? { svc: tracked });
  write('.config/svc/config-demo.json', { svc: { tracker: { apiToken: TOKEN } } });
  if (given.global !== undefined) write('.config/svc/config.json', given.global);
  const read = (name: string) => JSON.parse(readFileSync(path(name), 'utf8')).svc;
  return {
    terminal,
    relay,
    tracker,
    path,
    setup: (...words: string[]) => runCommandLine(terminal, ['setup-webhooks', ...words]),
    project: () => read('.svc/config.json'),
    global: () => read('.config/svc/config.json'),
    secret: () => readFileSync(path('.config/svc/webhook-secret'), 'utf8').trim(),
    mode: (name: string) => statSync(path(name)).mode & 0o777,
  };
}

test('makes a channel and a secret of 32 bytes in hex, and writes each to its place', async () => {
  const { setup, project, global, secret, mode, relay, terminal } = await house();
  expect(await setup()).toBe(0);
  expect(global().monitor.github.smeeChannel).toMatch(new RegExp(`^${relay.url}/[A-Za-z0-9_-]{16}$`));
  expect(secret()).toMatch(/^[0-9a-f]{64}$/);
  expect(mode('.config/svc/webhook-secret')).toBe(0o600);
  expect(mode('.config/svc/config.json')).toBe(0o600);
  expect(project().monitor.github.webhookSecretEnv).toBe('SVC_WEBHOOK_SECRET');
  expect(global().projects).toEqual([terminal.home]);
  expect(terminal.printed()).not.toContain(secret());
});

test('a second run keeps channel and secret', async () => {
  const { setup, global, secret } = await house();
  await setup();
  const before = { global: global(), secret: secret() };
  expect(await setup()).toBe(0);
  expect({ global: global(), secret: secret() }).toEqual(before);
});

test('--force rotates channel and secret', async () => {
  const { setup, global, secret } = await house();
  await setup();
  const [channel, old] = [global().monitor.github.smeeChannel, secret()];
  expect(await setup('--force')).toBe(0);
  expect(global().monitor.github.smeeChannel).not.toBe(channel);
  expect(secret()).not.toBe(old);
});

test('a channel left in layer 1 moves to the global file', async () => {
  const channel = 'https://relay.example/left-in-layer-1';
  const { setup, project, global } = await house({
    project: { svc: { monitor: { github: { smeeChannel: channel } } } },
  });
  expect(await setup()).toBe(0);
  expect(global().monitor.github.smeeChannel).toBe(channel);
  expect(project().monitor.github).toEqual({ webhookSecretEnv: 'SVC_WEBHOOK_SECRET' });
});

test('--add-repo alone merges into watchRepos and touches nothing else; it can be repeated', async () => {
  const { setup, project, path, terminal } = await house();
  expect(await setup('--add-repo', 'acme/web', '--add-repo', 'acme/api')).toBe(0);
  expect(await setup('--add-repo', 'acme/web', '--add-repo', 'Acme/API')).toBe(0);
  expect(project().monitor.github).toEqual({ watchRepos: ['acme/web', 'acme/api'] });
  expect(existsSync(path('.config/svc/config.json'))).toBe(false);
  expect(existsSync(path('.config/svc/webhook-secret'))).toBe(false);
  expect(terminal.printed()).toContain('Already watched');
});

test('--linear-secret-env writes the name to layer 1', async () => {
  const { setup, project } = await house();
  expect(await setup('--linear-secret-env', 'MY_TRACKER_SECRET')).toBe(0);
  expect(project().monitor).toEqual({ linear: { webhookSecretEnv: 'MY_TRACKER_SECRET' } });
  expect(await setup('--linear-secret-env', 'not a name')).toBe(2);
});

test('--linear-register makes a channel, registers, and writes record and secret; again it makes no call', async () => {
  const { setup, global, tracker, mode, relay } = await house();
  expect(await setup('--linear-register')).toBe(0);
  const { smeeChannel, webhookUrl, webhookId, registeredAt, resourceTypes } = global().monitor.linear;
  expect(smeeChannel).toBe(webhookUrl);
  expect(smeeChannel.startsWith(relay.url)).toBe(true);
  expect(typeof webhookId).toBe('string');
  expect(registeredAt).toBe('2026-01-02T03:04:05.678Z');
  expect(resourceTypes).toEqual(['Issue', 'Comment', 'IssueLabel', 'Cycle', 'Reaction', 'Project']);
  expect(mode('.config/svc/linear-webhook-secret')).toBe(0o600);
  tracker.forgetCalls();
  expect(await setup('--linear-register')).toBe(0);
  expect(tracker.calls()).toEqual([]);
});

test('--linear-register with another URL fails without --force, and replaces with it', async () => {
  const { setup, global, terminal } = await house();
  await setup('--linear-register', '--webhook-url', 'https://one.example/hook');
  const record = global().monitor.linear;
  expect(await setup('--linear-register', '--webhook-url', 'https://two.example/hook')).not.toBe(0);
  expect(global().monitor.linear).toEqual(record);
  expect(terminal.complained()).toContain('--force');
  expect(await setup('--linear-register', '--webhook-url', 'https://two.example/hook', '--force')).toBe(0);
  expect(global().monitor.linear.webhookUrl).toBe('https://two.example/hook');
});

test('--linear-deregister takes everything back; without a record it fails', async () => {
  const { setup, global, path } = await house();
  expect(await setup('--linear-deregister')).not.toBe(0);
  await setup('--linear-register');
  expect(await setup('--linear-deregister')).toBe(0);
  expect(global().monitor.linear.webhookId).toBeUndefined();
  expect(existsSync(path('.config/svc/linear-webhook-secret'))).toBe(false);
});

test.each([
  ['both at once', ['--linear-register', '--linear-deregister'], 'exclude each other'],
  ['--webhook-url alone', ['--webhook-url', 'https://x.example'], 'goes with --linear-register'],
  ['a repository that is none', ['--add-repo', 'acme'], 'expected owner/repo'],
])('%s is a usage error', async (_, words, message) => {
  const { setup, terminal } = await house();
  expect(await setup(...words)).toBe(2);
  expect(terminal.complained()).toContain(message);
});

test('a relay that is down changes nothing and says what to do; the next run completes', async () => {
  const { setup, terminal, path } = await house({ relayUrl: 'http://127.0.0.1:9' });
  expect(await setup()).toBe(6);
  expect(terminal.complained()).toContain('cannot be reached');
  expect(terminal.complained()).toContain('SVC_RELAY_URL');
  expect(existsSync(path('.config/svc/webhook-secret'))).toBe(false);
});
