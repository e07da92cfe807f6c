import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  codehostForTest,
  ghEnvironment,
  type HostileOptions,
  type HostileRelay,
  startHostileRelay,
  startPublicRelay,
  startRecordingServer,
  testTerminal,
  testToken,
  testTracker,
} from '@svc/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../../../cli/run.ts';
import { hookMemoryFile, openHookMemory } from '../../codehost/io/hooks.ts';

const TOKEN = 'tracker-token';

type Given = {
  project?: unknown;
  global?: unknown;
  relayUrl?: string;
  environment?: Record<string, string>;
};

async function machine(given: Given = {}) {
  const relay = await startPublicRelay();
  onTestFinished(() => relay.stop());
  const tracker = await testTracker(TOKEN);
  const team = tracker.cloud.addTeam({ key: 'ABC' });
  const terminal = testTerminal({
    environment: {
      SVC_RELAY_URL: given.relayUrl ?? relay.url,
      SVC_TRACKER_API_URL: tracker.url,
      ...given.environment,
    },
  });
  const path = (name: string) => join(terminal.home, name);
  const write = (name: string, value: unknown) => {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), JSON.stringify(value, null, 2));
  };
  const tracked = { projectKey: 'demo', tracker: { teamKey: 'ABC', teamId: team.id } };
  write('.svc/config.json', given.project ?? { svc: tracked });
  write('.config/svc/config-demo.json', { svc: { tracker: { apiToken: TOKEN, teamKey: 'ABC' } } });
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
    text: (name: string) => readFileSync(path(name), 'utf8').trim(),
    secret: () => readFileSync(path('.config/svc/webhook-secret'), 'utf8').trim(),
    mode: (name: string) => statSync(path(name)).mode & 0o777,
  };
}

test('creates a channel and a secret of 32 bytes in hex, and writes each to its file', async () => {
  const { setup, project, global, secret, mode, relay, terminal } = await machine();
  expect(await setup()).toBe(0);
  const smeeChannel = expect.stringMatching(new RegExp(`^${relay.url}/[A-Za-z0-9_-]{16}$`));
  expect(global()).toMatchObject({ monitor: { github: { smeeChannel } } });
  expect(secret()).toMatch(/^[0-9a-f]{64}$/);
  expect(mode('.config/svc/webhook-secret')).toBe(0o600);
  expect(mode('.config/svc/config.json')).toBe(0o600);
  expect(project()).toMatchObject({ monitor: { github: { webhookSecretEnv: 'SVC_WEBHOOK_SECRET' } } });
  expect(global().projects).toEqual([terminal.home]);
  expect(terminal.printed()).not.toContain(secret());
});

test('a second run keeps channel and secret', async () => {
  const { setup, global, secret } = await machine();
  await setup();
  const before = { global: global(), secret: secret() };
  expect(await setup()).toBe(0);
  expect({ global: global(), secret: secret() }).toEqual(before);
});

test('--force rotates channel and secret', async () => {
  const { setup, global, secret } = await machine();
  await setup();
  const [channel, old] = [global().monitor.github.smeeChannel, secret()];
  expect(await setup('--force')).toBe(0);
  expect(global().monitor.github.smeeChannel).not.toBe(channel);
  expect(secret()).not.toBe(old);
});

test('--force removes the old hooks wherever the daemon has created one', async () => {
  const codehost = await codehostForTest();
  const old = 'https://relay.example/old';
  const { setup, path, terminal } = await machine({
    project: { svc: { projectKey: 'demo', monitor: { github: { watchRepos: ['Acme/Web'] } } } },
    global: { svc: { monitor: { github: { smeeChannel: old } } } },
    environment: ghEnvironment(codehost, testToken),
  });
  // One watched, one found in a signal file, one that is not ours.
  for (const repo of ['acme/web', 'acme/found', 'acme/other']) {
    codehost.cloud.addRepo(repo);
    codehost.cloud.addHook(repo, { config: { url: old } });
  }
  const memory = await openHookMemory(hookMemoryFile(path('svc')));
  await memory.remember('acme/found', 7, 'fingerprint');
  await memory.remember('acme/web', 8, 'fingerprint');
  expect(await setup('--force'), terminal.complained()).toBe(0);
  const left = (repo: string): number => codehost.cloud.repoOf(repo).hooks.length;
  expect([left('acme/web'), left('acme/found'), left('acme/other')]).toEqual([0, 0, 1]);
  expect(terminal.printed()).toContain('Old hooks removed at acme/found: 1');
  expect(terminal.printed().match(/Old hooks removed at acme\/web/gi)).toHaveLength(1);
});

const inLayer1 = (smeeChannel: string) => ({ svc: { monitor: { github: { smeeChannel } } } });

test('a channel left in layer 1 moves to the global file when it is at the relay of this machine, with a notice', async () => {
  const channel = 'https://relay.example/left-in-layer-1';
  const { setup, project, global, terminal } = await machine({
    project: inLayer1(channel),
    relayUrl: 'https://relay.example',
  });
  expect(await setup()).toBe(0);
  expect(global()).toMatchObject({ monitor: { github: { smeeChannel: channel } } });
  expect(project().monitor.github).toEqual({ webhookSecretEnv: 'SVC_WEBHOOK_SECRET' });
  expect(terminal.complained()).toContain('Anyone who can read that file can send to it');
});

test('a committed channel of another relay is used only when the user names it', async () => {
  const channel = 'https://evil.example/EVILCHANNEL';
  const { setup, project, global, relay, terminal } = await machine({ project: inLayer1(channel) });
  expect(await setup()).toBe(0);
  expect(global().monitor.github.smeeChannel).toMatch(new RegExp(`^${relay.url}/`));
  expect(project().monitor.github).toEqual({ webhookSecretEnv: 'SVC_WEBHOOK_SECRET' });
  expect(terminal.complained()).toContain(`svc setup-webhooks --adopt-channel ${channel}`);

  const other = await machine({ project: inLayer1(channel) });
  expect(await other.setup('--adopt-channel', 'https://evil.example/ANOTHER')).toBe(2);
  expect(await other.setup('--adopt-channel', channel)).toBe(0);
  expect(other.global().monitor.github.smeeChannel).toBe(channel);
});

test('a committed channel does not choose the relay of a new one', async () => {
  const evil = await startRecordingServer((_, response) => void response.end());
  const { setup, path, global, relay } = await machine({ project: inLayer1(`${evil.url}/EVILCHANNEL`) });
  writeFileSync(path('.config/svc/relay-read-key'), 'k'.repeat(43), { mode: 0o600 });
  expect(await setup()).toBe(0);
  expect(global().monitor.github.smeeChannel).toMatch(new RegExp(`^${relay.url}/`));
  expect(evil.requests).toEqual([]);
});

test('--add-repo alone merges into watchRepos and touches nothing else; it can be repeated', async () => {
  const { setup, project, global, path, terminal } = await machine();
  expect(await setup('--add-repo', 'acme/web', '--add-repo', 'acme/api')).toBe(0);
  expect(await setup('--add-repo', 'acme/web', '--add-repo', 'Acme/API')).toBe(0);
  expect(project().monitor.github).toEqual({ watchRepos: ['acme/web', 'acme/api'] });
  expect(await setup('--add-repo', 'acme/app')).toBe(0);
  expect(project().monitor.github).toEqual({ watchRepos: ['acme/web', 'acme/api', 'acme/app'] });
  // In the user's own file only that a hook may be made there.
  expect(global()).toEqual({ monitor: { github: { hookRepos: ['acme/web', 'acme/api', 'acme/app'] } } });
  expect(existsSync(path('.config/svc/webhook-secret'))).toBe(false);
  expect(terminal.printed()).toContain('Already watched');
});

test('--linear-secret-env writes the name to layer 1', async () => {
  const { setup, project } = await machine();
  expect(await setup('--linear-secret-env', 'MY_HMAC')).toBe(0);
  expect(project().monitor).toEqual({ linear: { webhookSecretEnv: 'MY_HMAC' } });
  for (const name of ['not a name', 'LANG']) expect(await setup('--linear-secret-env', name)).toBe(2);
});

test('--linear-register creates a channel, registers, and writes record and secret; again it makes no call', async () => {
  const { setup, global, tracker, mode, relay } = await machine();
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
  const { setup, global, terminal } = await machine();
  await setup('--linear-register', '--webhook-url', 'https://one.example/hook');
  const record = global().monitor.linear;
  expect(await setup('--linear-register', '--webhook-url', 'https://two.example/hook')).not.toBe(0);
  expect(global().monitor.linear).toEqual(record);
  expect(terminal.complained()).toContain('--force');
  expect(await setup('--linear-register', '--webhook-url', 'https://two.example/hook', '--force')).toBe(0);
  expect(global().monitor.linear.webhookUrl).toBe('https://two.example/hook');
});

test('--linear-deregister reports what it removed', async () => {
  const { setup, terminal, path } = await machine();
  const file = path('.config/svc/linear-webhook-secret');
  await setup('--linear-register');
  expect(await setup('--linear-deregister')).toBe(0);
  expect(terminal.printed()).toContain(`\nRemoved ${file}`);
  await setup('--linear-register');
  rmSync(file);
  expect(await setup('--linear-deregister')).toBe(0);
  expect(terminal.printed().match(/^Removed /gm)).toHaveLength(1);
  expect(terminal.printed()).toContain(`No secret file to remove: ${file}`);
});

describe('outside of any project', () => {
  const doors: [string, string[]][] = [
    ['svc setup-webhooks', ['setup-webhooks']],
    ['svc setup-webhooks --add-repo', ['setup-webhooks', '--add-repo', 'acme/web']],
    ['svc setup-webhooks --linear-secret-env', ['setup-webhooks', '--linear-secret-env', 'HOOK_HMAC']],
    ['svc feedback consent grant', ['feedback', 'consent', 'grant']],
  ];

  test.each(doors)('%s changes nothing in a folder that is not a checkout', async (_, words) => {
    const { terminal, path } = await machine();
    const folder = path('stray');
    mkdirSync(folder);
    rmSync(path('.svc'), { recursive: true });
    expect(await runCommandLine({ ...terminal, folder }, words)).toBe(4);
    expect(terminal.complained()).toContain(`${folder} is not in a project or a git work tree`);
    expect(terminal.complained()).toContain('--here');
    expect(existsSync(join(folder, '.svc'))).toBe(false);
    expect(existsSync(path('.config/svc/config.json'))).toBe(false);
    expect(existsSync(path('.config/svc/webhook-secret'))).toBe(false);
  });

  test.each(doors)('%s turns a checkout into a project, and any folder with --here', async (_, words) => {
    const { terminal, path } = await machine();
    rmSync(path('.svc'), { recursive: true });
    const [checkout, stray] = [path('checkout'), path('stray')];
    for (const folder of [checkout, stray]) mkdirSync(folder);
    execFileSync('git', ['init', '--quiet'], { cwd: checkout });
    expect(await runCommandLine({ ...terminal, folder: checkout }, words), terminal.complained()).toBe(0);
    expect(await runCommandLine({ ...terminal, folder: stray }, [...words, '--here'])).toBe(0);
    for (const folder of [checkout, stray]) expect(existsSync(join(folder, '.svc/config.json'))).toBe(true);
  });
});

test('--linear-deregister removes everything; without a record it fails', async () => {
  const { setup, global, path } = await machine();
  expect(await setup('--linear-deregister')).not.toBe(0);
  await setup('--linear-register');
  expect(await setup('--linear-deregister')).toBe(0);
  expect(global().monitor.linear.webhookId).toBeUndefined();
  expect(existsSync(path('.config/svc/linear-webhook-secret'))).toBe(false);
});

test.each([
  ['both at once', ['--linear-register', '--linear-deregister'], 'cannot be used together'],
  ['--webhook-url alone', ['--webhook-url', 'https://x.example'], 'needs --linear-register'],
  ['an invalid repository', ['--add-repo', 'acme'], 'expected owner/repo'],
])('%s is a usage error', async (_, words, message) => {
  const { setup, terminal } = await machine();
  expect(await setup(...words)).toBe(2);
  expect(terminal.complained()).toContain(message);
});

test('with the relay down nothing changes, and the error has a remedy; the next run completes', async () => {
  const { setup, terminal, path } = await machine({ relayUrl: 'http://127.0.0.1:9' });
  expect(await setup()).toBe(6);
  expect(terminal.complained()).toContain('cannot be reached');
  expect(terminal.complained()).toContain('SVC_RELAY_URL');
  expect(existsSync(path('.config/svc/webhook-secret'))).toBe(false);
});

describe('--relay, a self-hosted relay', () => {
  async function ownRelay(options: HostileOptions = {}): Promise<HostileRelay> {
    const relay = await startHostileRelay({ ours: true, strict: true, ...options });
    onTestFinished(() => relay.stop());
    return relay;
  }

  /** Whether the stream opens with what the setup has written down. */
  async function opens(channel: string, key: string): Promise<number> {
    const abort = new AbortController();
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${key}` };
    const { status } = await fetch(channel, { headers, signal: abort.signal });
    abort.abort();
    return status;
  }

  test('creates a channel there; the key is written to its file, mode 600, and never printed', async () => {
    const relay = await ownRelay();
    const { setup, global, project, mode, text, terminal } = await machine();
    expect(await setup('--relay', `${relay.url}/`)).toBe(0);
    const { smeeChannel } = global().monitor.github;
    expect(smeeChannel).toMatch(new RegExp(`^${relay.url}/[A-Za-z0-9_-]{22}$`));
    expect(mode('.config/svc/relay-read-key')).toBe(0o600);
    const key = text('.config/svc/relay-read-key');
    expect(await opens(smeeChannel, key)).toBe(200);
    expect(await opens(smeeChannel, 'another')).toBe(401);
    expect(terminal.printed() + terminal.complained()).not.toContain(key);
    expect(JSON.stringify([global(), project()])).not.toContain(key);
    expect(terminal.printed()).toContain('relay-read-key (mode 600)');
  });

  test('a second run keeps channel, key and secret, with --relay and without it', async () => {
    const relay = await ownRelay();
    const { setup, global, secret, text } = await machine();
    await setup('--relay', relay.url);
    const state = () => ({ global: global(), secret: secret(), key: text('.config/svc/relay-read-key') });
    const before = state();
    expect(await setup('--relay', relay.url)).toBe(0);
    expect(await setup()).toBe(0);
    expect(state()).toEqual(before);
  });

  test('--force creates another channel at the same relay, even without --relay', async () => {
    const relay = await ownRelay();
    const { setup, global, text } = await machine();
    await setup('--relay', relay.url);
    const [channel, key] = [global().monitor.github.smeeChannel, text('.config/svc/relay-read-key')];
    expect(await setup('--force')).toBe(0);
    const after = global().monitor.github.smeeChannel;
    expect(after).not.toBe(channel);
    expect(after.startsWith(relay.url)).toBe(true);
    expect(text('.config/svc/relay-read-key')).not.toBe(key);
    expect(await opens(after, text('.config/svc/relay-read-key'))).toBe(200);
  });

  test('--force reports how many other machines read the old channel, and works without the old relay', async () => {
    const relay = await ownRelay();
    const { setup, global, text, terminal } = await machine();
    await setup('--relay', relay.url);
    const key = text('.config/svc/relay-read-key');
    for (const name of ['one', 'two', 'one'])
      expect(await opens(`${global().monitor.github.smeeChannel}?subscriber=${name}`, key)).toBe(200);
    expect(await setup('--force')).toBe(0);
    expect(terminal.complained()).toContain('warning: 2 other machines read the old channel');
    expect(terminal.complained()).not.toContain(key);
    await relay.stop();
    const other = await ownRelay();
    expect(await setup('--relay', other.url)).toBe(0);
  });

  test('moves from the public relay, and between relays of our own', async () => {
    const [one, two] = [await ownRelay(), await ownRelay()];
    const { setup, global, text } = await machine();
    await setup();
    expect(await setup('--relay', one.url)).toBe(0);
    expect(global().monitor.github.smeeChannel.startsWith(one.url)).toBe(true);
    expect(await setup('--relay', two.url)).toBe(0);
    const { smeeChannel } = global().monitor.github;
    expect(smeeChannel.startsWith(two.url)).toBe(true);
    expect(await opens(smeeChannel, text('.config/svc/relay-read-key'))).toBe(200);
  });

  test('joins the channel of a colleague: channel, key and secret are kept', async () => {
    const relay = await ownRelay();
    const first = await machine();
    await first.setup('--relay', relay.url);
    const { smeeChannel } = first.global().monitor.github;
    const second = await machine({ global: { svc: { monitor: { github: { smeeChannel } } } } });
    for (const name of ['relay-read-key', 'webhook-secret'])
      writeFileSync(second.path(`.config/svc/${name}`), first.text(`.config/svc/${name}`), { mode: 0o600 });
    expect(await second.setup('--relay', relay.url)).toBe(0);
    expect(second.global().monitor.github.smeeChannel).toBe(smeeChannel);
    expect(second.secret()).toBe(first.secret());
    expect(second.text('.config/svc/relay-read-key')).toBe(first.text('.config/svc/relay-read-key'));
    expect(second.terminal.printed()).not.toContain('warning');
  });

  test('a channel there without its key here is an error with a remedy', async () => {
    const relay = await ownRelay();
    const smeeChannel = `${relay.url}/AbC`;
    const { setup, terminal } = await machine({ global: { svc: { monitor: { github: { smeeChannel } } } } });
    expect(await setup('--relay', relay.url)).toBe(0);
    expect(terminal.printed()).toMatch(/warning: no read key in .*relay-read-key.*--force/);
  });

  test('--linear-register creates the channel of the tracker there, with its own key', async () => {
    const relay = await ownRelay();
    const { setup, global, mode, text, tracker } = await machine();
    expect(await setup('--linear-register', '--relay', relay.url)).toBe(0);
    const { smeeChannel, webhookUrl } = global().monitor.linear;
    expect(smeeChannel).toBe(webhookUrl);
    expect(smeeChannel.startsWith(relay.url)).toBe(true);
    expect(mode('.config/svc/linear-relay-read-key')).toBe(0o600);
    expect(await opens(smeeChannel, text('.config/svc/linear-relay-read-key'))).toBe(200);
    tracker.forgetCalls();
    expect(await setup('--linear-register', '--relay', relay.url)).toBe(0);
    expect(tracker.calls()).toEqual([]);
    expect(global().monitor.linear.smeeChannel).toBe(smeeChannel);
  });

  test('--linear-register moves a registered webhook only with --force', async () => {
    const relay = await ownRelay();
    const { setup, global, tracker, text, terminal } = await machine();
    await setup('--linear-register');
    const before = global().monitor.linear;
    expect(await setup('--linear-register', '--relay', relay.url)).not.toBe(0);
    expect(global().monitor.linear).toEqual(before);
    expect(terminal.complained()).toContain('--force');
    expect(await setup('--linear-register', '--relay', relay.url, '--force')).toBe(0);
    const { smeeChannel, webhookUrl } = global().monitor.linear;
    expect([smeeChannel, webhookUrl]).toEqual([webhookUrl, expect.stringContaining(relay.url)]);
    expect(tracker.cloud.webhooks.map(({ url }) => url)).toEqual([webhookUrl]);
    expect(await opens(smeeChannel, text('.config/svc/linear-relay-read-key'))).toBe(200);
  });

  test('a relay that requires a create key gets the one of the environment; without one it is an error', async () => {
    const relay = await ownRelay({ createKey: 'let-me-in' });
    const without = await machine();
    expect(await without.setup('--relay', relay.url)).toBe(6);
    expect(without.terminal.complained()).toMatch(/requires its create key.*SVC_RELAY_CREATE_KEY/s);
    const wrong = await machine({ environment: { SVC_RELAY_CREATE_KEY: 'hush-wrong' } });
    expect(await wrong.setup('--relay', relay.url)).toBe(6);
    expect(wrong.terminal.complained()).toContain('does not accept the create key');
    expect(wrong.terminal.complained()).not.toContain('hush-wrong');
    const right = await machine({ environment: { SVC_RELAY_CREATE_KEY: 'let-me-in' } });
    expect(await right.setup('--relay', relay.url)).toBe(0);
  });

  const made = (writeUrl: string) => ({
    status: 201,
    body: JSON.stringify({ channel: 'AbC', writeUrl, readUrl: writeUrl, readKey: 'k'.repeat(43) }),
  });
  test.each<[string, { status: number; body?: string; headers?: Record<string, string> }, RegExp]>([
    [
      'not a relay',
      { status: 404, body: '<html>' },
      /is not a svc-relay server: it answered POST \/new with 404.*SVC_RELAY_URL/s,
    ],
    ['the public relay', { status: 405 }, /is not a svc-relay server/],
    ['a page', { status: 201, body: '<html>' }, /it does not answer POST \/new as svc-relay does/],
    [
      'half an answer',
      { status: 201, body: '{"channel":"AbC"}' },
      /does not answer POST \/new as svc-relay does/,
    ],
    [
      'a redirect',
      { status: 308, headers: { location: 'https://other.example/new' } },
      /it answered POST \/new with 308/,
    ],
    ['refused', { status: 403 }, /refuses to make a channel \(403\).*Ask the relay's operator/s],
    [
      'too many',
      { status: 429, headers: { 'retry-after': '60' } },
      /limit of new channels.*\(429\).*Try again in 60 s/s,
    ],
    ['no engine', { status: 503 }, /cannot make a channel now \(503\).*\/readyz/s],
    [
      'an address of its own',
      made('https://hooks.example/AbC'),
      /another address: https:\/\/hooks\.example\..*--relay https:\/\/hooks\.example.*--public-url/s,
    ],
  ])('%s: an error, a remedy, and nothing is written', async (_name, answer, words) => {
    const server = await startRecordingServer((_request, response) => {
      response.writeHead(answer.status, answer.headers);
      response.end(answer.body);
    });
    const { setup, terminal, path } = await machine();
    expect(await setup('--relay', server.url)).toBe(6);
    expect(terminal.complained()).toMatch(words);
    for (const name of ['config.json', 'webhook-secret', 'relay-read-key'])
      expect(existsSync(path(`.config/svc/${name}`))).toBe(false);
  });

  test('nothing listens there: an error, and nothing is written', async () => {
    const { setup, terminal, path } = await machine();
    expect(await setup('--relay', 'http://127.0.0.1:9')).toBe(6);
    expect(terminal.complained()).toMatch(/cannot be reached.*healthz/s);
    expect(existsSync(path('.config/svc/config.json'))).toBe(false);
  });

  test.each([
    ['in the clear', ['--relay', 'http://relay.example'], 'expected an https URL'],
    ['no URL', ['--relay', 'relay.example'], 'expected an https URL'],
    [
      'with --webhook-url',
      ['--linear-register', '--relay', 'https://r.example', '--webhook-url', 'https://x.example'],
      'cannot be used with',
    ],
    [
      'with --linear-deregister',
      ['--linear-deregister', '--relay', 'https://r.example'],
      'cannot be used with',
    ],
  ])('%s is a usage error', async (_, words, message) => {
    const { setup, terminal } = await machine();
    expect(await setup(...words)).toBe(2);
    expect(terminal.complained()).toContain(message);
  });

  test('a self-hosted relay configured as the public one is an error that names the flag', async () => {
    const server = await startRecordingServer((_request, response) => void response.writeHead(403).end());
    const { setup, terminal } = await machine({ relayUrl: server.url });
    expect(await setup()).toBe(6);
    expect(terminal.complained()).toContain(`svc setup-webhooks --relay ${server.url}`);
  });
});
