// A changed file changes the behaviour, without a restart and without losing a delivery. Each setting is tested through
// its effect, not through what is shown of it.
import { createHmac, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  codehostExample,
  modelsForTest,
  storyRepo,
  storyTicket,
  temporaryFolder,
  testTerminal,
  testTracker,
  until,
} from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import { testRepository } from '../src/features/worktrees/testing/repository.ts';
import { covered, feedWorld, SECRET } from './feed-world.ts';
import { type InProcessDaemon, startInProcess } from './in-process-daemon.ts';

const json = { 'Content-Type': 'application/json' };
const OTHER_SECRET = 'f'.repeat(64);

async function deliver(daemon: InProcessDaemon, secret: string, id: string = randomUUID()): Promise<number> {
  const { type, payload } = codehostExample('push branch');
  const body = JSON.stringify(payload);
  const { status } = await daemon.post('/api/webhook', body, {
    ...json,
    'x-codehost-event': type,
    'x-codehost-delivery': id,
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  });
  return status;
}

test('the state map: a phase that was moved is no longer moved when its state becomes null', async () => {
  const { write, start } = await feedWorld();
  const tracker = await testTracker('tracker-token');
  const team = tracker.cloud.addTeam({ key: 'ENG' });
  tracker.cloud.addIssue({ teamId: team.id, title: 'Login', number: 42 });
  const settings = (stateMap: object) =>
    write('.svc/config.json', {
      svc: {
        projectKey: 'demo',
        project: { ticketPrefix: 'ENG' },
        tracker: { teamKey: 'ENG', teamId: team.id, stateMap },
      },
    });
  settings({});
  write('.config/svc/config-demo.json', { svc: { tracker: { apiToken: 'tracker-token', teamKey: 'ENG' } } });
  const daemon = await start({ SVC_TRACKER_API_URL: tracker.url });
  const move = async (phase: string) =>
    JSON.stringify(
      (await daemon.post(`/api/tickets/${storyTicket}/phase`, JSON.stringify({ phase }), json)).body,
    );
  expect(await move('research')).toContain('In Progress');
  settings({ planning: null });
  await until(async () => (await move('planning')).includes('null'));
});

test('the worker command and the limits: a run is refused while they are wrong, and follows them when right', async () => {
  const repository = testRepository(temporaryFolder());
  const { home, folder, environment, write } = repository;
  const settings = (orchestration: object) =>
    write(folder, '.svc/config.json', JSON.stringify({ svc: { projectKey: 'demo', orchestration } }));
  const agent = ['sleep', '600'];
  settings({ agent });
  write(home, '.config/svc/config.json', JSON.stringify({ svc: { projects: [folder] } }));
  const daemon = await startInProcess({ home, environment });
  const terminal = { ...testTerminal(), home, folder, environment };
  const svc = (...words: string[]) => runCommandLine({ ...terminal, environment: { ...environment } }, words);
  settings({ agent, workerCommand: '/oneshot' });
  expect(await svc('orchestrate', 'start', 'ABC-1', '--name', 'run-1')).not.toBe(0);
  expect(terminal.complained()).toContain('workerCommand');
  settings({ agent, workerCommand: '/own:skill', maxParallel: 7 });
  expect(await svc('orchestrate', 'start', 'ABC-1', '--name', 'run-1'), terminal.complained()).toBe(0);
  const started = daemon.lines().find(({ event }) => event === 'orchestrator.run.started');
  expect(started?.detail).toMatchObject({ workerCommand: '/own:skill', maxParallel: 7 });
  expect(await svc('orchestrate', 'cancel', 'run-1')).toBe(0);
});

test('rules and notifiers: a new rule fires, and a new notifier is called', async () => {
  const { write, start, channel } = await feedWorld();
  const got: string[] = [];
  const receiver = createServer((request, response) => {
    got.push(request.url ?? '');
    request.resume().on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void receiver.close());
  await until(() => receiver.listening);
  const daemon = await start();
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/notify`;
  const rule = {
    name: 'pushes',
    enabled: true,
    when: { event: 'codehost.push' },
    then: { notify: { message: 'pushed', severity: 'high' } },
  };
  write('.config/svc/config.json', {
    svc: {
      monitor: { github: { smeeChannel: channel } },
      rules: [rule],
      notify: { webhook: { url }, minSeverity: 'low' },
    },
  });
  await until(async () => {
    const { rules } = (await daemon.get('/api/rules')).body as { rules: { since: unknown }[] };
    return rules.length === 1 && rules[0]?.since !== null;
  });
  await until(async () => {
    await deliver(daemon, SECRET);
    return got.length > 0;
  });
});

test('AI providers: off is off, and on is on', async () => {
  const { write, start } = await feedWorld();
  const models = await modelsForTest('key');
  const daemon = await start({ MODEL_KEY: 'key' });
  const ask = async () =>
    (await daemon.post('/api/summarize', JSON.stringify({ orchId: 'none', template: 'run-summary' }), json))
      .status;
  expect(await ask()).toBe(503);
  const ai = { enabled: true, providers: { 'provider-a': { apiKeyEnv: 'MODEL_KEY' } } };
  write('.svc/config.json', { svc: { projectKey: 'demo', ai } });
  // No longer refused as not configured: the body is read, and the run is unknown.
  await until(async () => (await ask()) !== 503);
  write('.svc/config.json', { svc: { projectKey: 'demo', ai: { ...ai, enabled: false } } });
  await until(async () => (await ask()) === 503);
  expect(models.calls).toEqual([]);
});

test('watched repositories: a new one is polled, and gets its hook when the user has confirmed it', async () => {
  const { write, start, codehost, home } = await feedWorld();
  codehost.cloud.addRepo('acme/api');
  const daemon = await start();
  await until(() => covered(daemon));
  const coverage = async () => {
    const { repos } = (await daemon.get('/api/feeds')).body as { repos: { repo: string; by: string }[] };
    return repos.find(({ repo }) => repo === 'acme/api');
  };
  write('.svc/config.json', {
    svc: {
      projectKey: 'demo',
      repository: { org: 'acme', name: 'web' },
      monitor: { github: { watchRepos: ['acme/web', 'acme/api'] } },
    },
  });
  expect(await until(coverage)).toMatchObject({
    by: 'polling',
    code: 'unconfirmed',
    remedy: 'Run: svc setup-webhooks --add-repo acme/api',
  });
  const terminal = { ...testTerminal(), home, folder: home, environment: {} };
  expect(await runCommandLine(terminal, ['setup-webhooks', '--here', '--add-repo', 'acme/api'])).toBe(0);
  await until(async () => (await coverage())?.by === 'webhook');
  expect(codehost.cloud.repoOf('acme/api').hooks).toHaveLength(1);
});

test('the channel: deliveries come through the new one, and hooks point to it', async () => {
  const { relay, start, useChannel, codehost } = await feedWorld();
  const daemon = await start();
  await until(() => covered(daemon));
  const other = relay.newChannel();
  useChannel(other);
  await until(() => codehost.cloud.repoOf('acme/web').hooks.some(({ config }) => config.url === other));
  const { payload } = codehostExample('push branch');
  await until(async () => {
    await codehost.emit('acme/web', 'push', payload);
    return daemon.lines().some(({ event }) => event === 'codehost.push');
  });
});

test('the name of the secret: signatures with the newly named one are accepted, with the old one refused', async () => {
  const { write, start } = await feedWorld();
  const daemon = await start({ MY_HOOK_SECRET: OTHER_SECRET });
  expect([await deliver(daemon, SECRET), await deliver(daemon, OTHER_SECRET)]).toEqual([200, 401]);
  write('.svc/config.json', {
    svc: {
      projectKey: 'demo',
      monitor: { github: { webhookSecretEnv: 'MY_HOOK_SECRET', watchRepos: [storyRepo] } },
    },
  });
  await until(async () => (await deliver(daemon, OTHER_SECRET)) === 200);
  expect(await deliver(daemon, SECRET)).toBe(401);
});

test('200 signed deliveries during 20 reloads are 200 events', async () => {
  const { write, start } = await feedWorld();
  const daemon = await start();
  const refresh = async () => {
    const asked = { project: '/none', tickets: ['ENG-1'] };
    const { body } = await daemon.post('/api/runs', JSON.stringify(asked), json);
    expect(body).toMatchObject({ code: 'unknown-project' });
  };
  const sending = { isOver: false };
  let reloads = 0;
  const reloading = (async () => {
    for (; reloads < 20 || !sending.isOver; reloads += 1) {
      const deploy = { [storyRepo]: { timeoutSec: 1000 + reloads } };
      write('.svc/config.json', {
        svc: { projectKey: 'demo', deploy, monitor: { github: { watchRepos: [storyRepo] } } },
      });
      await refresh();
    }
  })();
  const ids: string[] = Array.from({ length: 200 }, () => randomUUID());
  for (const id of ids) expect(await deliver(daemon, SECRET, id)).toBe(200);
  sending.isOver = true;
  await reloading;
  expect(reloads).toBeGreaterThanOrEqual(20);
  const lines = daemon.lines().filter(({ deliveryId }) => ids.includes(deliveryId ?? ''));
  expect(lines).toHaveLength(200);
  const { events } = (await daemon.get('/api/events?event=monitor.config.applied&limit=1000')).body as {
    events: unknown[];
  };
  expect(events.length).toBeGreaterThanOrEqual(20);
});

test('a project that is registered while the daemon runs is served immediately, with its policy', async () => {
  const { home, write, start } = await feedWorld();
  const daemon = await start();
  const folder = join(home, 'second');
  const repo = 'acme/second';
  write('second/.svc/config.json', {
    svc: { projectKey: 'second', deploy: { [repo]: { skipDeployVerification: false } } },
  });
  const terminal = { ...testTerminal({ environment: { SVC_DATA_DIR: join(home, 'svc') } }), home, folder };
  await runCommandLine(terminal, ['config', 'set', 'svc.projects', JSON.stringify([folder])]);
  await until(async () => {
    const { configuration } = (await daemon.get('/api/health')).body as {
      configuration: { folders: string[] };
    };
    return configuration.folders.includes(folder);
  });
  const applied = await until(async () => {
    const { events } = (await daemon.get('/api/events?event=monitor.config.applied&limit=100')).body as {
      events: { detail: { project: string; deploy: object } }[];
    };
    return events.find(({ detail }) => detail.project === folder);
  });
  expect(applied.detail.deploy).toMatchObject({ [repo]: { skipDeployVerification: false } });
});
