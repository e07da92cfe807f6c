// The feeds end to end: the code host's fake behind the real gh, the public relay's protocol, a whole daemon.
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '@svc/lib/clock';
import {
  codehostExample,
  ghEnvironment,
  startHostileRelay,
  startRecordingServer,
  testTracker,
  trackerExamples,
  until,
  untilHolds,
} from '@svc/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { covered, facts, SECRET, feedWorld as world } from './feed-world.ts';
import { startInProcess } from './in-process-daemon.ts';

const merged = codehostExample('pull_request merged').payload;

test('a watched repository gets its hook, and what happens there becomes an event', async () => {
  const { codehost, channel, start, svc } = await world();
  const daemon = await start();
  await until(() => covered(daemon));
  await codehost.emit('acme/web', 'pull_request', merged);
  await until(() => facts(daemon).length === 1);
  expect(facts(daemon)[0]).toMatchObject({
    event: 'codehost.pr.merged',
    source: 'codehost.webhook',
    via: 'live',
  });
  const { printed } = await svc('feeds');
  expect(printed).toMatch(/codehost +live/);
  expect(printed).toContain('acme/web  webhook');
  expect(printed).not.toContain(channel);
});

test('what was sent while the daemon was down is replayed at the start, once, and the check proves it', async () => {
  const { codehost, start, svc } = await world();
  const first = await start();
  await until(() => covered(first));
  await first.close();
  await codehost.emit('acme/web', 'pull_request', merged);
  const second = await start();
  await until(() => facts(second).length === 1);
  expect(facts(second)[0]).toMatchObject({ event: 'codehost.pr.merged', via: 'replay' });
  const { code, printed } = await svc('feeds', 'check', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(printed)).toMatchObject({ repos: [{ repo: 'acme/web', missing: 0 }], polled: [] });
});

test('a pull request opened while the webhook was silent is on the board after a poll now', async () => {
  const { codehost, start, svc } = await world();
  const daemon = await start();
  await until(() => covered(daemon));
  // The first round has checked the newest ones everywhere; later ones rely on the webhook.
  await untilHolds(async () => {
    const { codehost: polling } = (await daemon.get('/api/feeds')).body as { codehost: { state: string } };
    expect(polling.state).toBe('polling');
  });
  codehost.cloud.addPullRequest('acme/web', { number: 42, title: 'Silent' });
  const together = await Promise.all([1, 2, 3].map(() => svc('feeds', 'check', '--repair')));
  const { code, printed } = await svc('feeds', 'check', '--repair', '--json');
  expect(code).toBe(0);
  for (const one of together) expect(one.code).toBe(0);
  expect(together.map((one) => one.printed).join('')).toMatch(/code host +polled +1 checked, 1 new event/);
  expect(together[0]?.printed).toMatch(/tracker +not polled +no project has both/);
  expect(JSON.parse(printed).polled).toMatchObject([
    { feed: 'codehost', state: 'polled', checked: 1, newEvents: 0, why: null },
    { feed: 'tracker', state: 'disabled', checked: null },
  ]);
  const { pullRequests } = (await daemon.get('/api/board')).body as { pullRequests: object[] };
  expect(pullRequests).toMatchObject([{ number: 42, title: 'Silent' }]);
});

test('a poll now reports why the code host could not be asked', async () => {
  const { codehost, start, svc } = await world();
  const daemon = await start();
  await until(() => covered(daemon));
  codehost.removeToken('token');
  const { code, printed } = await svc('feeds', 'check', '--repair');
  expect(code).toBe(1);
  expect(printed).toMatch(/code host +failed .*acme\/web: .*Run: gh auth login/);
});

test('what the relay loses while the daemon runs is replayed after the reconnect', async () => {
  const { relay, codehost, start } = await world();
  const daemon = await start();
  await until(() => covered(daemon));
  relay.cutAll();
  await codehost.emit('acme/web', 'pull_request', merged);
  await until(() => facts(daemon).length === 1);
  expect(facts(daemon)).toHaveLength(1);
});

test('no admin right: a warning in the log, that repository is polled, the daemon continues', async () => {
  const { codehost, start, svc } = await world();
  codehost.removeToken('token');
  codehost.addToken('token', ['public_repo:read']);
  codehost.cloud.addPullRequest('acme/web', { number: 42 });
  const daemon = await start();
  await until(async () => ((await daemon.get('/api/feeds')).body['repos'] as object[]).length === 1);
  await until(() => facts(daemon).length > 0);
  expect(facts(daemon)).toMatchObject([{ event: 'codehost.pr.opened', via: 'poll', scope: { pr: 42 } }]);
  const { printed } = await svc('feeds');
  expect(printed).toContain('acme/web  polling');
  expect(daemon.printed()).toContain('Failed to list the hooks of acme/web, skipping it and polling instead');
  expect((await daemon.get('/api/health')).status).toBe(200);
});

test('a wrong secret upstream is attention within a minute of the third 401', async () => {
  const { codehost, start } = await world();
  const daemon = await start();
  await until(() => covered(daemon));
  for (const hook of codehost.cloud.find('acme/web')?.repo.hooks ?? [])
    hook.config.secret = 'rotated-elsewhere';
  for (let count = 0; count < 3; count += 1) await codehost.emit('acme/web', 'pull_request', merged);
  await until(async () => {
    const { body } = await daemon.get('/api/events?event=comms.attention');
    return (body['events'] as { detail: { reason: string } }[]).some(
      ({ detail }) => detail.reason === 'auth-failing',
    );
  });
  expect((await daemon.get('/api/health')).status).toBe(200);
});

test('without channel and secret nothing fails: the feeds are disabled, with the reason and the fix', async () => {
  const daemon = await startInProcess();
  const { body } = await daemon.get('/api/feeds');
  expect(body['tunnels']).toMatchObject([
    {
      feeds: ['codehost'],
      grade: 'disabled',
      why: 'no relay channel is configured',
      remedy: 'Run: svc setup-webhooks',
    },
    { feeds: ['tracker'], grade: 'disabled', remedy: 'Run: svc setup-webhooks --linear-register' },
  ]);
  expect((await daemon.get('/api/health')).body['status']).toBe('ok');
});

test('the tracker is polled with a token and a team, and its reports become events', async () => {
  const { home, write, start } = await world();
  const tracker = await testTracker('tracker-token');
  const team = tracker.cloud.addTeam({ key: 'ABC' });
  tracker.cloud.addIssue({ teamId: team.id, title: 'Login' });
  write('.svc/config.json', { svc: { projectKey: 'demo', tracker: { teamKey: 'ABC', teamId: team.id } } });
  write('.config/svc/config-demo.json', { svc: { tracker: { apiToken: 'tracker-token', teamKey: 'ABC' } } });
  const daemon = await start({ SVC_TRACKER_API_URL: tracker.url });
  await until(() => facts(daemon).length === 1);
  expect(facts(daemon)[0]).toMatchObject({
    event: 'tracker.issue.created',
    source: 'tracker.poll',
    via: 'poll',
  });
  expect(home).toBe(daemon.home);
});

test.each([['{"since":"4d"}'], ['{"since":5}'], ['{"repair":"yes"}'], ['{"sinse":"1h"}']])(
  'POST /api/feeds/check refuses %s',
  async (body) => {
    const daemon = await startInProcess();
    expect((await daemon.post('/api/feeds/check', body, { 'Content-Type': 'application/json' })).status).toBe(
      400,
    );
  },
);

/** The tracker posts an issue to its channel. */
async function sendIssue(channel: string): Promise<void> {
  const issue = JSON.stringify(trackerExamples()[0]?.payload);
  const signature = createHmac('sha256', SECRET).update(issue).digest('hex');
  await fetch(channel, {
    method: 'POST',
    body: issue,
    headers: {
      'Content-Type': 'application/json',
      'Tracker-Signature': signature,
      'Tracker-Delivery': 't-1',
    },
  });
}

test('what arrives through the tracker’s own channel reaches its receiver', async () => {
  const { relay, channel, write, start } = await world();
  const own = relay.newChannel();
  write('.config/svc/config.json', {
    svc: { monitor: { github: { smeeChannel: channel }, linear: { smeeChannel: own } } },
  });
  const daemon = await start({ SVC_TRACKER_WEBHOOK_SECRET: SECRET });
  await until(() => relay.subscribers() === 2);
  await sendIssue(own);
  await until(() => facts(daemon).length === 1);
  expect(facts(daemon)).toMatchObject([{ source: 'tracker.webhook', deliveryId: 't-1' }]);
});

test('the hooks of every watched repository are listed, and each gets one', async () => {
  const { codehost, channel, write, start } = await world();
  codehost.cloud.addRepo('acme/api');
  const watchRepos = ['acme/web', 'acme/api'];
  write('.svc/config.json', { svc: { projectKey: 'demo', monitor: { github: { watchRepos } } } });
  write('.config/svc/config.json', {
    svc: { monitor: { github: { smeeChannel: channel, hookRepos: watchRepos } } },
  });
  await start();
  const hooksOf = (repo: string) => codehost.cloud.repoOf(repo).hooks.length;
  await until(() => hooksOf('acme/web') === 1 && hooksOf('acme/api') === 1);
  for (const repo of ['acme/web', 'acme/api'])
    expect(codehost.calls()).toContain(`GET /api/v3/repos/${repo}/hooks?per_page=100`);
});

test('both feeds on one channel share one connection, and each delivery reaches its own receiver', async () => {
  const { relay, codehost, channel, write, start } = await world();
  write('.config/svc/config.json', {
    svc: { monitor: { github: { smeeChannel: channel }, linear: { smeeChannel: channel } } },
  });
  const daemon = await start({ SVC_TRACKER_WEBHOOK_SECRET: SECRET });
  await until(() => relay.subscribers() === 1);
  await until(() => covered(daemon));
  await sendIssue(channel);
  await until(() => daemon.lines().some(({ source }) => source === 'tracker.webhook'));
  await codehost.emit('acme/web', 'pull_request', merged);
  await until(() => daemon.lines().some(({ event }) => event === 'codehost.pr.merged'));
  expect((await daemon.get('/api/feeds')).body['tunnels']).toMatchObject([
    { feeds: ['codehost', 'tracker'] },
  ]);
});

/** The hooks are created without a tunnel if it is not up after 30 s; a slow machine may take that long. */
function waitForTunnelsForEver(): void {
  const inReality = systemClock.after;
  const after = vi
    .spyOn(systemClock, 'after')
    .mockImplementation((milliseconds, call) =>
      milliseconds === 30_000 ? () => undefined : inReality(milliseconds, call),
    );
  onTestFinished(() => after.mockRestore());
}

test('the hooks wait for the tunnel, and the replay waits for the hooks', async () => {
  const { codehost, useChannel, start } = await world();
  const relay = await startHostileRelay({ pingMs: 500 });
  onTestFinished(() => relay.stop());
  relay.halfOpen();
  useChannel(relay.newChannel());
  waitForTunnelsForEver();
  const daemon = await start();
  await until(() => relay.subscribers() === 1);
  // Another daemon with a working relay starts later and has created its hooks: this one has sent no request.
  const other = await world();
  const later = await other.start();
  await until(() => covered(later));
  expect(codehost.calls()).toEqual([]);
  relay.recover();
  await until(() => codehost.calls().length >= 3);
  const [hook] = codehost.cloud.repoOf('acme/web').hooks;
  expect(codehost.calls().slice(0, 3)).toEqual([
    'GET /api/v3/repos/acme/web/hooks?per_page=100',
    'POST /api/v3/repos/acme/web/hooks',
    `GET /api/v3/repos/acme/web/hooks/${hook?.id}/deliveries?per_page=100`,
  ]);
  expect(await covered(daemon)).toBe(true);
});

test('a post to the channel without a valid signature becomes no event', async () => {
  const { codehost, channel, start } = await world();
  const daemon = await start();
  await until(() => covered(daemon));
  const headers = { 'Content-Type': 'application/json', 'X-Codehost-Event': 'pull_request' };
  const body = JSON.stringify(merged);
  const wrong = `sha256=${createHmac('sha256', 'another').update(body).digest('hex')}`;
  for (const signature of [undefined, wrong]) {
    const signed = signature !== undefined && { 'X-Hub-Signature-256': signature };
    await fetch(channel, {
      method: 'POST',
      body,
      headers: { ...headers, 'X-Codehost-Delivery': crypto.randomUUID(), ...signed },
    });
  }
  const genuine = await codehost.emit('acme/web', 'pull_request', merged);
  await until(() => facts(daemon).length > 0);
  expect(facts(daemon).map(({ deliveryId }) => deliveryId)).toEqual([genuine.guid]);
  expect((await daemon.get('/api/feeds')).body['tunnels']).toMatchObject([
    { deliveries: { unauthorised: { exact: 0, reserialised: 2 } } },
    { grade: 'disabled' },
  ]);
});

test('a committed channel gets no read key, and no hook is created for it; health reports that', async () => {
  const { codehost, write, useChannel, start } = await world();
  const stranger = await startRecordingServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write('event: ready\ndata: {}\n\n');
  });
  useChannel(undefined);
  codehost.cloud.addRepo('acme/private');
  write('.svc/config.json', {
    svc: {
      projectKey: 'demo',
      repository: { org: 'acme', name: 'web' },
      monitor: { github: { smeeChannel: `${stranger.url}/EVIL`, watchRepos: ['acme/web', 'acme/private'] } },
    },
  });
  const daemon = await start({ SVC_RELAY_READ_KEY: 'k'.repeat(43) });
  await untilHolds(async () => {
    const { repos } = (await daemon.get('/api/feeds')).body as { repos: object[] };
    const held = { by: 'polling', code: 'committed-channel', remedy: 'Run: svc setup-webhooks' };
    expect(repos).toMatchObject([
      { repo: 'acme/web', ...held },
      { repo: 'acme/private', ...held },
    ]);
  });
  await until(() => stranger.requests.some(({ url }) => url.startsWith('/EVIL')));
  expect(stranger.requests.map(({ headers }) => headers.authorization)).toEqual(
    stranger.requests.map(() => undefined),
  );
  for (const repo of ['acme/web', 'acme/private']) expect(codehost.cloud.repoOf(repo).hooks).toEqual([]);
});

test('a checkout that names programs starts none of them by being served', async () => {
  const { write, home, start } = await world();
  const ran = join(home, 'ran');
  const command = `touch ${ran}`;
  write('.svc/config.json', {
    svc: {
      projectKey: 'demo',
      worktree: { setup: [command] },
      thoughts: { directory: command },
      tracker: { stateMap: { done: command } },
      orchestration: {
        agent: ['/usr/bin/touch', ran],
        testCommand: command,
        hooks: { setup: [command], teardown: [command] },
      },
    },
  });
  const daemon = await start();
  expect((await daemon.get('/api/config')).body).toMatchObject({ projects: [{ folder: home }] });
  await daemon.close();
  expect(existsSync(ran)).toBe(false);
});

test('with no client connected the tracker is polled every 5 minutes, and the code host every 10', async () => {
  const { codehost, write, useChannel, start } = await world();
  const tracker = await testTracker('tracker-token');
  const team = tracker.cloud.addTeam({ key: 'ABC' });
  useChannel(undefined);
  write('.svc/config.json', {
    svc: {
      projectKey: 'demo',
      tracker: { teamKey: 'ABC', teamId: team.id },
      monitor: { github: { watchRepos: ['acme/web'] } },
    },
  });
  write('.config/svc/config-demo.json', { svc: { tracker: { apiToken: 'tracker-token', teamKey: 'ABC' } } });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  await start({ SVC_TRACKER_API_URL: tracker.url });
  const ours = ['viewer', 'GET /api/v3/repos/acme/web'];
  const calls = () =>
    [tracker, codehost].map((asked) => asked.calls().filter((call) => !ours.includes(call)).length);
  const settle = async (expected: number[]) => {
    await expect.poll(calls).toEqual(expected);
    // We asked both, and they have answered: whatever was on its way before has arrived too.
    await fetch(tracker.url, {
      method: 'POST',
      body: JSON.stringify({ query: '{ viewer { id } }' }),
      headers: { 'Content-Type': 'application/json', Authorization: 'tracker-token' },
    });
    await promisify(execFile)('gh', ['api', 'repos/acme/web'], { env: ghEnvironment(codehost, 'token') });
    expect([tracker.calls().at(-1), codehost.calls().at(-1)]).toEqual(ours);
    expect(calls()).toEqual(expected);
  };
  await settle([1, 1]);
  await vi.advanceTimersByTimeAsync(299_000);
  await settle([1, 1]);
  await vi.advanceTimersByTimeAsync(2000);
  await settle([2, 1]);
  await vi.advanceTimersByTimeAsync(300_000);
  await settle([3, 2]);
});
