// Subscription with the real client program against the fake code host: every rule and error row of the
// specification.
import { join } from 'node:path';
import { runCommand } from '@svc/lib/process';
import { codehostForTest, type FakeCodehost, ghEnvironment, temporaryFolder, testToken } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { createGh, type GhOptions } from '../gh.ts';
import { codehostEventTypes } from '../map-codehost.ts';
import { createHookApi, openHookMemory, unsubscribe } from './hooks.ts';

import { createSubscriptions, type SubscriptionOptions, type SubscriptionWarning } from './subscribe.ts';

const channelUrl = 'http://127.0.0.1:9/AbC123';
const secret = '5ec7e7'.repeat(10);

type Setup = Partial<SubscriptionOptions> & { gh?: Partial<GhOptions>; memoryFile?: string };

async function subscriptionsAt(codehost: FakeCodehost, { gh, memoryFile, ...more }: Setup = {}) {
  const warnings: SubscriptionWarning[] = [];
  const environment = ghEnvironment(codehost, testToken);
  const hooks = createHookApi(createGh({ environment, run: runCommand, now: Date.now, ...gh }));
  const subscriptions = createSubscriptions({
    events: () => codehostEventTypes,
    heldBack: () => null,
    hooks,
    channelUrl: () => channelUrl,
    secretFor: () => secret,
    memory: await openHookMemory(memoryFile ?? join(temporaryFolder(), 'hooks.json')),
    now: Date.now,
    warn: (warning) => warnings.push(warning),
    ...more,
  });
  return { ...subscriptions, hooks, warnings };
}

async function codehostWith(...repos: string[]): Promise<FakeCodehost> {
  const codehost = await codehostForTest();
  for (const repo of repos) codehost.cloud.addRepo(repo);
  return codehost;
}

const changes = (codehost: FakeCodehost): string[] =>
  codehost.calls().filter((line) => !line.startsWith('GET'));
const hooksOf = (codehost: FakeCodehost, repo = 'acme/web') => codehost.cloud.repoOf(repo).hooks;

describe('a repository', () => {
  test('without our hook gets one: ten event types, JSON, our secret', async () => {
    const codehost = await codehostWith('acme/web');
    codehost.cloud.addHook('acme/web', { config: { url: 'https://other.example' } });
    const { ensure, warnings, isCovered } = await subscriptionsAt(codehost);
    expect(await ensure('acme/web')).toMatchObject({ by: 'webhook', how: 'created' });
    expect(hooksOf(codehost)[1]).toMatchObject({
      active: true,
      config: { url: channelUrl, content_type: 'json', insecure_ssl: '0', secret },
    });
    expect(hooksOf(codehost)[1]?.events.toSorted()).toEqual([
      'check_suite',
      'deployment',
      'deployment_status',
      'issue_comment',
      'pull_request',
      'pull_request_review',
      'pull_request_review_comment',
      'pull_request_review_thread',
      'push',
      'status',
    ]);
    expect(isCovered('Acme/Web')).toBe(true);
    expect(warnings).toEqual([]);
  });

  test('with our hook is left alone, also after a restart', async () => {
    const codehost = await codehostWith('acme/web');
    const memoryFile = join(temporaryFolder(), 'hooks.json');
    await (await subscriptionsAt(codehost, { memoryFile })).ensure('acme/web');
    codehost.forgetCalls();
    const { ensure } = await subscriptionsAt(codehost, { memoryFile });
    expect(await ensure('acme/web')).toMatchObject({ by: 'webhook', how: 'kept' });
    expect(codehost.calls()).toHaveLength(1);
    expect(hooksOf(codehost)).toHaveLength(1);
  });

  test('whose hook is on the last of three pages gets no second one', async () => {
    const codehost = await codehostWith('acme/web');
    for (let n = 1; n <= 249; n += 1)
      codehost.cloud.addHook('acme/web', { events: ['release'], config: { url: `https://x.example/${n}` } });
    codehost.cloud.addHook('acme/web', { events: ['*'], config: { url: channelUrl, content_type: 'json' } });
    const { ensure } = await subscriptionsAt(codehost);
    expect(await ensure('acme/web')).toMatchObject({ by: 'webhook', how: 'updated' });
    expect(hooksOf(codehost)).toHaveLength(250);
  });

  test.each([
    ['in other capitals', channelUrl.toLowerCase()],
    ['with the host in capitals', channelUrl.replace('http', 'HTTP')],
  ])('whose hook has our URL %s gets no second one', async (_name, url) => {
    const codehost = await codehostWith('acme/web');
    codehost.cloud.addHook('acme/web', { events: ['*'], config: { url, content_type: 'json', secret } });
    const { ensure } = await subscriptionsAt(codehost);
    expect(await ensure('acme/web')).toMatchObject({ by: 'webhook' });
    expect(hooksOf(codehost)).toHaveLength(1);
    expect(hooksOf(codehost)[0]?.config.url).toBe(channelUrl);
  });

  test('whose hook is switched off, or lacks events, is updated; added events stay', async () => {
    const codehost = await codehostWith('acme/web');
    const config = { url: channelUrl, content_type: 'form' };
    codehost.cloud.addHook('acme/web', { active: false, events: ['push', 'release'], config });
    const { ensure } = await subscriptionsAt(codehost);
    expect(await ensure('acme/web')).toMatchObject({ by: 'webhook', how: 'updated' });
    expect(changes(codehost)).toHaveLength(1);
    const [hook] = hooksOf(codehost);
    expect(hook).toMatchObject({ active: true, config: { content_type: 'json', secret } });
    expect(new Set(hook?.events)).toEqual(new Set(['release', ...codehostEventTypes]));
  });

  test('gets the new secret after a rotation, once', async () => {
    const codehost = await codehostWith('acme/web');
    const memoryFile = join(temporaryFolder(), 'hooks.json');
    await (await subscriptionsAt(codehost, { memoryFile })).ensure('acme/web');
    const rotated = 'ab'.repeat(32);
    const after = await subscriptionsAt(codehost, { memoryFile, secretFor: () => rotated });
    expect(await after.ensure('acme/web')).toMatchObject({ by: 'webhook', how: 'updated' });
    expect(hooksOf(codehost)[0]?.config.secret).toBe(rotated);
    const later = await subscriptionsAt(codehost, { memoryFile, secretFor: () => rotated });
    expect(await later.ensure('acme/web')).toMatchObject({ how: 'kept' });
  });

  test('is subscribed once, however many ask at once and however it is spelled', async () => {
    const codehost = await codehostWith('acme/web');
    const { ensure, ensureAll } = await subscriptionsAt(codehost);
    await Promise.all([
      ensure('acme/web'),
      ensure('ACME/web'),
      ensureAll(['acme/web', 'Acme/Web']),
      ensure('acme/web'),
    ]);
    await ensure('acme/web');
    expect(codehost.calls()).toEqual([
      'GET /api/v3/repos/acme/web/hooks?per_page=100',
      'POST /api/v3/repos/acme/web/hooks',
    ]);
    expect(hooksOf(codehost)).toHaveLength(1);
  });

  test('whose hook is created by another process meanwhile is checked again', async () => {
    const codehost = await codehostWith('acme/web');
    const before = await subscriptionsAt(codehost);
    const racing: typeof before.hooks = {
      ...before.hooks,
      list: async (repo) => {
        const listed = await before.hooks.list(repo);
        if (hooksOf(codehost).length === 0)
          codehost.cloud.addHook('acme/web', {
            events: [...codehostEventTypes],
            config: { url: channelUrl, content_type: 'json' },
          });
        return listed;
      },
    };
    const { ensure, warnings } = await subscriptionsAt(codehost, { hooks: racing });
    expect(await ensure('acme/web')).toMatchObject({ by: 'webhook', how: 'updated' });
    expect(hooksOf(codehost)).toHaveLength(1);
    expect(warnings).toEqual([]);
  });

  test('is checked again when its hook turned out to be gone', async () => {
    const codehost = await codehostWith('acme/web');
    const { ensure, forget } = await subscriptionsAt(codehost);
    await ensure('acme/web');
    hooksOf(codehost).splice(0);
    expect(await ensure('acme/web')).toMatchObject({ how: 'created' });
    expect(hooksOf(codehost)).toHaveLength(0);
    forget('ACME/web');
    await ensure('acme/web');
    expect(hooksOf(codehost)).toHaveLength(1);
  });
});

describe('without a channel or a secret', () => {
  test.each<[string, Setup]>([
    ['no channel', { channelUrl: () => undefined }],
    ['no secret', { secretFor: () => undefined }],
  ])('%s: polled, no call, no warning', async (_name, setup) => {
    const codehost = await codehostWith('acme/web');
    const { ensure, warnings } = await subscriptionsAt(codehost, setup);
    expect(await ensure('acme/web')).toMatchObject({ by: 'polling', problem: null, retryAt: null });
    expect(codehost.calls()).toEqual([]);
    expect(warnings).toEqual([]);
  });
});

describe('a failure is a warning, that repository is polled, the others continue', () => {
  const listing = /^Failed to list the hooks of acme\/web, skipping it/;
  const creating = /^Failed to create a hook for acme\/web, falling back to polling/;
  const updating = /^Failed to update the hook of acme\/web, falling back to polling/;

  test.each<[string, (codehost: FakeCodehost) => void, RegExp, string, RegExp]>([
    [
      '401',
      (codehost) => codehost.failNext({ kind: 'unauthorised' }, { on: 'acme/web' }),
      listing,
      'logged-out',
      /gh auth login/,
    ],
    [
      'no admin access',
      (codehost) => void (codehost.cloud.repoOf('acme/web').admin = false),
      listing,
      'no-admin',
      /admin access/,
    ],
    [
      '403',
      (codehost) => codehost.failNext({ kind: 'no-admin' }, { on: 'acme/web' }),
      listing,
      'no-admin',
      /admin access/,
    ],
    [
      'repository missing',
      (codehost) => codehost.cloud.removeRepo('acme/web'),
      listing,
      'repo-gone',
      /watchRepos/,
    ],
    [
      '500s',
      (codehost) => codehost.failNext({ kind: 'server-error', status: 500 }, { on: 'acme/web' }),
      listing,
      'unavailable',
      /automatically/,
    ],
    [
      'rate limit',
      (codehost) => codehost.failNext({ kind: 'rate-limited', retryAfter: 60 }, { on: 'acme/web/hooks' }),
      listing,
      'rate-limited',
      /automatically at/,
    ],
    [
      'a broken page',
      (codehost) => codehost.failNext({ kind: 'body', text: '<html>' }, { on: 'acme/web' }),
      listing,
      'malformed',
      /automatically/,
    ],
    [
      'creation refused',
      (codehost) => codehost.failNext({ kind: 'no-admin' }, { on: 'POST /api/v3/repos/acme/web' }),
      creating,
      'no-admin',
      /admin access/,
    ],
    [
      'creation fails',
      (codehost) =>
        codehost.failNext({ kind: 'server-error', status: 502 }, { on: 'POST /api/v3/repos/acme/web' }),
      creating,
      'unavailable',
      /automatically/,
    ],
    [
      'repository renamed',
      (codehost) => codehost.cloud.renameRepo('acme/web', 'site'),
      creating,
      'repo-gone',
      /watchRepos/,
    ],
    [
      'the update fails',
      (codehost) => {
        codehost.cloud.addHook('acme/web', { config: { url: channelUrl } });
        codehost.failNext({ kind: 'server-error', status: 502 }, { on: 'PATCH' });
      },
      updating,
      'unavailable',
      /automatically/,
    ],
  ])('%s', async (_name, prepare, message, code, remedy) => {
    const codehost = await codehostWith('acme/web', 'acme/api');
    prepare(codehost);
    const { ensure, ensureAll, warnings, isCovered } = await subscriptionsAt(codehost);
    expect(await ensure('acme/web')).toMatchObject({ by: 'polling', problem: { kind: code } });
    expect(warnings).toEqual([
      {
        repo: 'acme/web',
        message: expect.stringMatching(message),
        code,
        remedy: expect.stringMatching(remedy),
      },
    ]);
    expect(isCovered('acme/web')).toBe(false);
    if (code === 'rate-limited') return;
    expect(await ensureAll(['acme/api'])).toMatchObject([{ by: 'webhook', how: 'created' }]);
  });

  test('missing scope names the scope', async () => {
    const codehost = await codehostWith('acme/web');
    codehost.addToken('gho_noscope', ['gist']);
    const { ensure, warnings } = await subscriptionsAt(codehost, {
      gh: { environment: ghEnvironment(codehost, 'gho_noscope') },
    });
    expect(await ensure('acme/web')).toMatchObject({
      by: 'polling',
      problem: { kind: 'no-admin', scope: 'admin:repo_hook' },
    });
    expect(warnings[0]?.remedy).toBe('Run: gh auth refresh -s admin:repo_hook');
    expect(codehost.calls()).toHaveLength(1);
  });

  test('at the limit of hooks per event', async () => {
    const codehost = await codehostForTest({ hooksPerEvent: 1 });
    codehost.cloud.addRepo('acme/web');
    codehost.cloud.addHook('acme/web', { events: ['push'], config: { url: 'https://other.example' } });
    const { ensure, warnings } = await subscriptionsAt(codehost);
    expect(await ensure('acme/web')).toMatchObject({
      by: 'polling',
      problem: { kind: 'refused', status: 422 },
    });
    expect(warnings[0]?.message).toMatch(/cannot have more than 1 hooks/);
  });

  test.each([
    [
      'gh missing',
      (codehost: FakeCodehost) => ghEnvironment(codehost, testToken, temporaryFolder()),
      'gh-missing',
    ],
    ['gh logged out', (codehost: FakeCodehost) => ghEnvironment(codehost), 'logged-out'],
  ])('%s', async (_name, environment, kind) => {
    const codehost = await codehostWith('acme/web');
    const { ensureAll, warnings } = await subscriptionsAt(codehost, {
      gh: { environment: environment(codehost) },
    });
    const all = await ensureAll(['acme/web', 'acme/api']);
    expect(all).toMatchObject([
      { by: 'polling', problem: { kind } },
      { by: 'polling', problem: { kind } },
    ]);
    expect(warnings.map(({ repo }) => repo).toSorted()).toEqual(['acme/api', 'acme/web']);
  });

  test.each(['acme/..', 'no-slash', '-X/web'])('an invalid name: %s', async (repo) => {
    const codehost = await codehostWith();
    const { ensure, warnings } = await subscriptionsAt(codehost);
    expect(await ensure(repo)).toMatchObject({ by: 'polling', problem: { kind: 'repo-gone' } });
    expect(codehost.calls()).toEqual([]);
    expect(warnings).toHaveLength(1);
  });

  test('a page in the middle that fails never looks like “no hook”', async () => {
    const codehost = await codehostWith('acme/web');
    for (let n = 1; n <= 249; n += 1)
      codehost.cloud.addHook('acme/web', { events: ['release'], config: { url: `https://x.example/${n}` } });
    codehost.cloud.addHook('acme/web', { events: ['*'], config: { url: channelUrl, content_type: 'json' } });
    codehost.failNext({ kind: 'server-error', status: 502 }, { on: 'page=2' });
    const { ensure } = await subscriptionsAt(codehost);
    expect(await ensure('acme/web')).toMatchObject({ by: 'polling' });
    expect(changes(codehost)).toEqual([]);
    expect(hooksOf(codehost)).toHaveLength(250);
  });

  test('a warning contains no secret', async () => {
    const codehost = await codehostWith('acme/web');
    codehost.failNext({ kind: 'body', text: `{"config": "${secret}"}` }, { on: 'POST' });
    const { ensure, warnings } = await subscriptionsAt(codehost);
    await ensure('acme/web');
    expect(warnings).toHaveLength(1);
    expect(JSON.stringify(warnings)).not.toContain(secret);
    expect(JSON.stringify(warnings)).not.toContain(testToken);
  });
});

describe('retrying', () => {
  test.each<[string, Parameters<FakeCodehost['failNext']>[0], number]>([
    ['soon if it passes by itself', { kind: 'server-error', status: 500 }, 600_000],
    ['when the code host allows it', { kind: 'rate-limited', retryAfter: 60 }, 61_000],
    ['later if a person has to act', { kind: 'no-admin' }, 6 * 3_600_000],
  ])('%s', async (_name, fault, after) => {
    const codehost = await codehostWith('acme/web');
    let now = Date.now();
    const clock = () => now;
    const { ensure, retryDue, warnings, isCovered } = await subscriptionsAt(codehost, {
      now: clock,
      gh: { now: clock },
    });
    codehost.failNext(fault);
    await ensure('acme/web');
    codehost.forgetCalls();
    now += after - 2_000;
    await ensure('acme/web');
    expect(await retryDue()).toEqual([]);
    expect(codehost.calls()).toEqual([]);
    now += 3_000;
    expect(await retryDue()).toMatchObject([{ by: 'webhook', how: 'created' }]);
    expect(isCovered('acme/web')).toBe(true);
    expect(warnings).toHaveLength(1);
  });

  test('the same problem is reported once', async () => {
    const codehost = await codehostWith('acme/web');
    let now = Date.now();
    const clock = () => now;
    const { ensure, retryDue, warnings, coverage } = await subscriptionsAt(codehost, {
      now: clock,
      gh: { now: clock },
    });
    codehost.failNext({ kind: 'server-error', status: 500 }, { times: 2 });
    await ensure('acme/web');
    const [first] = coverage();
    now += 700_000;
    await retryDue();
    expect(warnings).toHaveLength(1);
    expect(coverage()[0]).toMatchObject({ by: 'polling', since: first?.since });
  });
});

describe('unsubscribe', () => {
  test('removes the hooks of the old channel, and no others', async () => {
    const codehost = await codehostWith('acme/web', 'acme/api');
    codehost.cloud.addHook('acme/web', { config: { url: channelUrl } });
    codehost.cloud.addHook('acme/web', { config: { url: channelUrl.toUpperCase() } });
    codehost.cloud.addHook('acme/web', { config: { url: 'https://other.example' } });
    codehost.cloud.addHook('acme/api', { config: { url: channelUrl } });
    codehost.failNext({ kind: 'server-error', status: 500 }, { on: 'acme/api' });
    const { hooks } = await subscriptionsAt(codehost);
    const repos = ['acme/web', 'acme/api', 'acme/gone', 'acme/..'];
    expect(await unsubscribe(hooks, channelUrl, repos)).toMatchObject([
      { repo: 'acme/web', removed: 2, problem: null },
      { repo: 'acme/api', removed: 0, problem: { kind: 'unavailable' } },
      { repo: 'acme/gone', removed: 0, problem: { kind: 'repo-gone' } },
    ]);
    expect(hooksOf(codehost).map(({ config }) => config.url)).toEqual(['https://other.example']);
    expect(await unsubscribe(hooks, channelUrl, ['acme/api'])).toMatchObject([{ removed: 1, problem: null }]);
  });
});
