// svc init as a new user uses it: a real pseudo-terminal, the real gh and git, a real daemon.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { initWorld, pseudoTerminal, TRACKER_TOKEN } from './init-world.ts';

describe.skipIf(!existsSync(pseudoTerminal))('at a terminal', () => {
  test('a new user with wrong answers too: each is explained, and it ends clean', async () => {
    const world = await initWorld();
    world.tracker.cloud.addTeam({
      key: 'ABC',
      name: 'Alphabet',
      states: [
        ['Backlog', 'backlog'],
        ['Todo', 'unstarted'],
        ['Doing', 'started'],
        ['Code review', 'started'],
        ['Done', 'completed'],
        ['Canceled', 'canceled'],
      ],
    });
    world.tracker.cloud.addTeam({ key: 'OPS', name: 'Operations' });
    world.codehost.cloud.addDeployment('acme/web', { sha: 'a'.repeat(40), environment: 'production' });
    const { code, screen, untyped } = await world.atTerminal(
      ['init'],
      [
        ['Repository at the code host', 'web\r'],
        ['Expected owner/repo', '\u0015acme/wbe\r'],
        ['Repository acme/wbe does not exist', ''],
        ['Repository at the code host', '\r'],
        ['Key of the project', 'no spaces please\r'],
        ['Expected a plain name', '\u0015shop\r'],
        ['Where are your tickets?', '\u001b[B\r'],
        ['API token of the issue tracker (Enter: no tracker)', 'wrong-token\r'],
        ['did not accept the API token', ''],
        ['API token of the issue tracker', `${TRACKER_TOKEN}\r`],
        ['Team at the issue tracker', '\r'],
        ['Deploy environment', 'prodution\r'],
        ['Did you mean production?', ''],
        ['Deploy environment', '\r'],
        ['How may events of acme/web (public) reach this machine?', '\r'],
      ],
    );
    expect(untyped, screen).toEqual([]);
    expect(screen).not.toContain('failed');
    expect(screen).toMatch(/^done +doctor +No problems found\.\r?$/m);
    expect(screen).toMatch(/^Dashboard: http:\/\/127\.0\.0\.1:\d+\/\r?$/m);
    expect(screen).not.toContain(TRACKER_TOKEN);
    expect(code).toBe(0);

    expect(world.read('web/.svc/config.json').svc).toMatchObject({
      projectKey: 'shop',
      repository: { org: 'acme', name: 'web' },
      project: { ticketPrefix: 'ABC' },
      tracker: {
        teamKey: 'ABC',
        teamId: expect.any(String),
        stateMap: { inProgress: 'Doing', inReview: 'Code review' },
      },
      monitor: { github: { watchRepos: ['acme/web'] } },
      deploy: { 'acme/web': { productionEnvironment: 'production', skipDeployVerification: false } },
    });
    expect(world.read('.config/svc/config-shop.json')).toEqual({
      svc: { tracker: { apiToken: TRACKER_TOKEN, teamKey: 'ABC' } },
    });
    expect(statSync(join(world.home, '.config/svc/config-shop.json')).mode & 0o777).toBe(0o600);
    expect(world.read('.config/svc/config.json').svc.projects).toEqual([world.folder]);
    expect(world.tracker.cloud.webhooks).toHaveLength(1);
    const [, url = ''] = /Dashboard: (\S+)\//.exec(screen) ?? [];
    expect(await (await fetch(`${url}/`)).text()).toContain('<html');
  });

  test.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
    ['Escape', '\u001b'],
  ])('%s at a question ends it with 130, and nothing is written', async (_, key) => {
    const world = await initWorld();
    const { code, screen } = await world.atTerminal(
      ['init'],
      [
        ['Repository at the code host', '\r'],
        ['Key of the project', key],
      ],
    );
    expect({ code, screen }).toMatchObject({
      code: 130,
      screen: expect.stringContaining('Nothing was written.'),
    });
    expect(world.text('web/.svc/config.json')).toBeUndefined();
    expect(world.text('.config/svc/config.json')).toBeUndefined();
  });
});

test('a machine: --yes --json uses what can be detected, and a second run changes nothing', async () => {
  const world = await initWorld();
  world.tracker.cloud.addTeam({ key: 'ABC' });
  const withoutTerminal = await world.svc(['init']);
  expect(withoutTerminal).toMatchObject({ code: 2, out: '', err: expect.stringContaining('svc init --yes') });
  expect(withoutTerminal.err).toContain(
    '--repo <owner/name> --project-key <key> --tracker <name> --team <key> --environment <name> --no-webhooks (or --relay <url>, --public-relay)',
  );

  const words = ['init', '--yes', '--json', '--token-stdin'];
  const first = await world.svc(words, { input: `${TRACKER_TOKEN}\n` });
  expect(first.code, first.err).toBe(0);
  const done = JSON.parse(first.out);
  expect(done).toMatchObject({
    ok: true,
    folder: world.folder,
    answers: {
      repository: 'acme/web',
      projectKey: 'web',
      ticketPrefix: 'ABC',
      environment: null,
      token: 'new',
    },
    dashboard: expect.stringMatching(/^http:/),
  });
  expect(outcomes(done)).toEqual({
    'project-file': 'done',
    secrets: 'done',
    registration: 'done',
    'tracker-ids': 'done',
    'code-host-feed': 'done',
    'tracker-feed': 'done',
    daemon: 'done',
    doctor: 'done',
  });
  const files = [
    'web/.svc/config.json',
    '.config/svc/config.json',
    '.config/svc/config-web.json',
    '.config/svc/webhook-secret',
  ];
  const before = files.map(world.text);

  const second = await world.svc(['init', '--yes', '--json']);
  expect(second.code, second.err).toBe(0);
  const again = JSON.parse(second.out);
  expect(again.answers).toEqual({ ...done.answers, token: 'kept' });
  expect(Object.entries(outcomes(again)).filter(([, outcome]) => outcome !== 'unchanged')).toEqual([
    ['doctor', 'done'],
  ]);
  expect(again.dashboard).toBe(done.dashboard);
  expect(files.map(world.text)).toEqual(before);

  expect(first.out + first.err + second.out + second.err + withoutTerminal.err).not.toContain(TRACKER_TOKEN);
});

test('without a token: the tickets are the issues of the repository, and nobody is asked for one', async () => {
  const world = await initWorld();
  world.codehost.cloud.addIssue('acme/web', { title: 'Count to four', labels: ['In Progress'] });
  const { code, out, err } = await world.svc(['init', '--yes', '--json']);
  expect(code, err).toBe(0);
  const done = JSON.parse(out);
  expect(done.answers).toMatchObject({ tracker: 'github', ticketPrefix: 'GH', token: 'none' });
  expect(outcomes(done)).toEqual({
    'project-file': 'done',
    registration: 'done',
    'tracker-ids': 'done',
    'code-host-feed': 'done',
    daemon: 'done',
    doctor: 'done',
  });
  expect(world.read('web/.svc/config.json').svc.tracker).toMatchObject({
    provider: 'github',
    teamId: 'acme/web',
    stateIds: { 'In Progress': 'label:In Progress', 'In Review': 'open', Done: 'closed:completed' },
  });
  expect(world.text('.config/svc/config-web.json')).toBeUndefined();
  expect(world.tracker.requests()).toEqual([]);
  const moved = await world.here('ticket', 'phase', 'inProgress', '#1');
  expect(moved, moved.err).toMatchObject({ code: 0 });
  const closed = await world.here('ticket', 'phase', 'done', 'GH-1');
  expect(closed, closed.err).toMatchObject({ code: 0 });
  const address = 'https://code.example/acme/web/issues/1';
  const again = await world.here('ticket', 'phase', 'done', address);
  expect(again.out).toContain('GH-1 is already in Done');
  const foreign = await world.here('why', 'https://code.example/acme/other/issues/1');
  expect(foreign).toMatchObject({ code: 2, err: expect.stringContaining('not an issue of a project') });
  expect(world.codehost.cloud.repoOf('acme/web').issues[0]).toMatchObject({ state: 'closed' });
});

function outcomes({ steps }: { steps: { step: string; outcome: string }[] }): Record<string, string> {
  return Object.fromEntries(steps.map(({ step, outcome }) => [step, outcome]));
}

test('a private repository is polled unless the user says otherwise, and the choice lasts', async () => {
  const world = await initWorld();
  world.codehost.cloud.addRepo('acme/web', { isPrivate: true });
  const first = await world.svc(['init', '--yes']);
  expect(first.code, first.out + first.err).toBe(0);
  expect(first.out).toMatch(/^Deliveries: polling only: .*nothing passes through a relay$/m);
  expect(first.out).toMatch(/^ {2}To change it: .*svc init --public-relay$/m);
  expect(first.out).toMatch(/^Next: \S.*\n$/m);
  expect(first.out).not.toContain('warning');
  expect(world.read('.config/svc/config.json').svc.monitor.github).toEqual({ pollRepos: ['acme/web'] });

  const allowed = await world.svc(['init', '--yes', '--public-relay']);
  expect(allowed.code, allowed.out + allowed.err).toBe(0);
  expect(allowed.out).toContain(`through the public relay ${world.relay.url}: anyone with the channel’s`);
  expect(world.codehost.cloud.repoOf('acme/web').hooks).toHaveLength(1);
  const kept = await world.svc(['init', '--yes', '--json']);
  expect(JSON.parse(kept.out).answers.deliveries).toMatchObject({ way: 'public-relay' });

  const back = await world.svc(['init', '--yes', '--no-webhooks']);
  expect(back.code, back.out + back.err).toBe(0);
  expect(world.codehost.cloud.repoOf('acme/web').hooks).toEqual([]);
  const feeds = JSON.parse((await world.svc(['feeds', '--json'])).out);
  expect(feeds.repos).toMatchObject([{ by: 'polling', code: 'polling-only' }]);
  // Issues come with the feed of the code host: no other feed is off.
  expect(feeds.tunnels.map((tunnel: { feeds: string[] }) => tunnel.feeds)).toEqual([['codehost']]);
});
