// The fault table of docs/internals/faults.md, row by row: what `svc feeds` and `svc doctor` print, including the fix,
// and that the daemon continues. A half-open connection takes 75 s to detect: tunnel.test.ts has that row.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RunCommand, runCommand } from '@svc/lib/process';
import {
  codehostExample,
  startHostileRelay,
  temporaryFolder,
  testTracker,
  until,
  untilHolds,
} from '@svc/testkit';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { covered, type FeedWorld, facts, feedWorld } from './feed-world.ts';
import type { InProcessDaemon } from './in-process-daemon.ts';

const merged = codehostExample('pull_request merged').payload;
const HOUR_MS = 3_600_000;
/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9';

type Variables = Record<string, string | undefined>;

type Fault = {
  fault: string;
  /** Before the daemon starts; the result is added to its environment. */
  before?: (world: FeedWorld) => Promise<Variables> | Variables;
  after?: (world: FeedWorld, daemon: InProcessDaemon) => Promise<void>;
  /** Each appears in the output of `svc feeds`. */
  says: (string | RegExp)[];
  /** Each appears in the output of `svc doctor`. */
  doctor: (string | RegExp)[];
  /** A secret: neither printed, nor logged, nor in health. */
  nowhere?: string;
};

const faults: Fault[] = [
  {
    fault: 'channel missing',
    before: ({ useChannel }) => nothing(useChannel(undefined)),
    says: [/^codehost +disabled.* no relay channel is configured\. Run: svc setup-webhooks$/m],
    doctor: [
      /^warning +feeds +the codehost feed is off: no relay channel is configured\n +Run: svc setup-webhooks$/m,
    ],
  },
  {
    fault: 'secret unset',
    before: () => ({ SVC_WEBHOOK_SECRET: undefined }),
    says: [
      /^codehost +disabled.* no secret: SVC_WEBHOOK_SECRET not set\. Set SVC_WEBHOOK_SECRET and run: svc monitor restart$/m,
      'acme/web  polling  no relay channel is configured, or its secret is not set. Run: svc setup-webhooks, then svc monitor restart',
    ],
    doctor: [
      /^warning +feeds +the codehost feed is off: no secret: SVC_WEBHOOK_SECRET not set\n +Set SVC_WEBHOOK_SECRET and run: svc monitor restart$/m,
    ],
  },
  {
    fault: 'wrong secret',
    after: async ({ codehost }, daemon) => {
      await until(() => covered(daemon));
      for (const hook of codehost.cloud.find('acme/web')?.repo.hooks ?? [])
        hook.config.secret = 'rotated-elsewhere';
      for (let count = 0; count < 3; count += 1) await codehost.emit('acme/web', 'pull_request', merged);
    },
    says: [
      /^codehost +degraded.* wrong signatures in the last hour: 3 .*signed with another secret/m,
      'Run: svc setup-webhooks --force, and restart the daemon with the new secret',
    ],
    doctor: [
      /^broken +feeds +the codehost feed is degraded: .*signed with another secret/m,
      'wrong signatures in the last hour: 3',
      'Run: svc setup-webhooks --force, and restart the daemon with the new secret',
    ],
  },
  {
    fault: 're-serialising relay',
    before: async ({ useChannel }) => {
      const relay = await hostileRelay();
      relay.faults.rewrite = 1;
      useChannel(relay.newChannel());
      return {};
    },
    after: async ({ codehost }, daemon) => {
      await until(() => covered(daemon));
      for (let count = 0; count < 3; count += 1) await codehost.emit('acme/web', 'pull_request', merged);
    },
    says: [
      /wrong signatures in the last hour: \d+ \(\d+ with a body that the relay rewrote\)/,
      'or the relay rewrites them',
      'use a relay that keeps the bytes (SVC_RELAY_URL)',
    ],
    doctor: [
      /^broken +feeds +the codehost feed is degraded/m,
      /\(\d+ with a body that the relay rewrote\)/,
      'use a relay that keeps the bytes (SVC_RELAY_URL)',
    ],
  },
  {
    fault: 'relay down',
    before: ({ useChannel }) => nothing(useChannel(`${NOWHERE}/channel`)),
    says: [/^codehost +connecting.* the relay refuses connections\. It is retried automatically/m],
    doctor: [
      /^warning +feeds +the codehost feed is connecting: the relay refuses connections$/m,
      'It is retried automatically',
    ],
  },
  {
    fault: 'relay answers 503',
    before: async ({ useChannel }) => {
      const relay = await hostileRelay();
      relay.answerNext(...Array.from({ length: 100 }, () => ({ status: 503 })));
      useChannel(relay.newChannel());
      return {};
    },
    says: [/^codehost +connecting.* the relay answered 503\. It is retried automatically/m],
    doctor: [
      /^warning +feeds +the codehost feed is connecting: the relay answered 503$/m,
      'It is retried automatically',
    ],
  },
  {
    fault: 'channel unknown at the relay',
    before: async ({ useChannel }) => {
      const relay = await hostileRelay();
      relay.answerNext(...Array.from({ length: 100 }, () => ({ status: 404 })));
      useChannel(relay.newChannel());
      return {};
    },
    says: [/does not know the channel \(404\)\. .*make a new one: svc setup-webhooks --force/],
    doctor: [/^warning +feeds .*does not know the channel \(404\)/m, 'svc setup-webhooks --force'],
  },
  {
    fault: 'read key missing',
    before: async ({ useChannel }) => nothing(useChannel((await ownRelay()).newChannel())),
    says: [
      /^codehost +blind.* the relay wants a read key \(401\), and SVC_RELAY_READ_KEY is not set\. Put the channel's read key into SVC_RELAY_READ_KEY.* svc monitor restart$/m,
    ],
    doctor: [
      /^broken +feeds +the codehost feed is blind: the relay wants a read key/m,
      'svc monitor restart',
    ],
  },
  {
    fault: 'read key wrong',
    before: async ({ useChannel }) => {
      useChannel((await ownRelay()).newChannel());
      return { SVC_RELAY_READ_KEY: 'hush-hush' };
    },
    says: [
      /^codehost +blind.* the relay does not accept the read key in SVC_RELAY_READ_KEY \(401\)\. .*make a new channel: svc setup-webhooks --force$/m,
    ],
    doctor: [
      /^broken +feeds +the codehost feed is blind: the relay does not accept the read key/m,
      'svc setup-webhooks --force',
    ],
    nowhere: 'hush-hush',
  },
  {
    fault: 'read key over http',
    before: ({ useChannel }) => {
      useChannel('http://relay.example/channel');
      return { SVC_RELAY_READ_KEY: 'hush-hush' };
    },
    says: [
      /^codehost +disabled.* its http URL would expose it on the network\. Use the relay's https address: svc config set svc\.monitor\.github\.smeeChannel <url>$/m,
    ],
    doctor: [/^warning +feeds +the codehost feed is off: the channel has a read key, but its http URL/m],
    nowhere: 'hush-hush',
  },
  {
    fault: 'gh missing',
    before: () => ({ PATH: temporaryFolder() }),
    says: [
      'acme/web  polling  the client gh cannot be started (ENOENT). Install gh, then run: gh auth login',
      /^code host polling +failing .*the client gh cannot be started/m,
    ],
    doctor: [
      /^broken +code-host +the code host cannot be polled: the client gh cannot be started/m,
      'Install gh, then run: gh auth login',
    ],
  },
  {
    fault: 'gh prints without end',
    before: () => {
      const folder = temporaryFolder();
      writeFileSync(join(folder, 'gh'), '#!/bin/sh\nexec yes\n', { mode: 0o755 });
      return { PATH: `${folder}:/usr/bin:/bin` };
    },
    says: [
      /^acme\/web {2}polling {2}the answer cannot be understood \(it is too large\)\. .*gh api user$/m,
      /^code host polling +failing .*it is too large/m,
    ],
    doctor: [
      /code-host +the code host cannot be polled: the answer cannot be understood \(it is too large\)/,
    ],
  },
  {
    fault: 'gh logged out',
    before: () => ({ GH_ENTERPRISE_TOKEN: undefined }),
    says: [
      /^acme\/web {2}polling {2}gh is not logged in to the code host .*Run: gh auth login -s admin:repo_hook$/m,
      /^code host polling +failing .*gh is not logged in/m,
    ],
    doctor: [
      /^broken +code-host +the code host cannot be polled: gh is not logged in/m,
      'Run: gh auth login -s admin:repo_hook',
    ],
  },
  {
    fault: 'token revoked',
    before: ({ codehost }) => nothing(codehost.removeToken('token')),
    says: [
      'gh is not logged in to the code host (HTTP 401: Bad credentials). Run: gh auth login -s admin:repo_hook',
    ],
    doctor: [/^broken +code-host .*HTTP 401: Bad credentials/m, 'Run: gh auth login -s admin:repo_hook'],
  },
  {
    fault: 'no admin right',
    before: ({ codehost }) => {
      const found = codehost.cloud.find('acme/web');
      if (found) found.repo.admin = false;
      return {};
    },
    says: [
      /^acme\/web {2}polling {2}the user of gh has no admin access .*Get admin access to the repository; until then it is polled/m,
      /^code host polling +polling/m,
    ],
    doctor: [
      /^warning +code-host +acme\/web has no hook and is polled: the user of gh has no admin access/m,
      'Get admin access to the repository',
    ],
  },
  {
    fault: 'scope missing',
    before: ({ codehost }) => {
      codehost.removeToken('token');
      codehost.addToken('token', ['read:user']);
      return {};
    },
    says: [/^acme\/web {2}polling .*lacks the scope (\S+) .*Run: gh auth refresh -s \1/m],
    doctor: [/^(?:warning|broken) +code-host .*lacks the scope (\S+)[^]*Run: gh auth refresh -s \1/m],
  },
  {
    fault: 'repository gone',
    before: ({ write }) =>
      nothing(
        write('.svc/config.json', {
          svc: {
            projectKey: 'demo',
            repository: { org: 'acme', name: 'gone' },
            monitor: { github: { watchRepos: ['acme/gone'] } },
          },
        }),
      ),
    says: [
      /^acme\/gone {2}polling {2}the repository does not exist or is not visible to gh .*Correct the name: svc config explain svc\.monitor\.github\.watchRepos/m,
    ],
    doctor: [
      /^broken +code-host +acme\/gone has no hook and is polled: the repository does not exist or is not visible to gh/m,
      'Correct the name: svc config explain svc.monitor.github.watchRepos',
    ],
  },
  {
    fault: 'code host answers 500',
    before: ({ codehost }) =>
      nothing(codehost.failNext({ kind: 'server-error', status: 500 }, { times: 99 })),
    says: [
      /^acme\/web {2}polling {2}the code host cannot be reached or has an outage .*It is retried automatically.*gh api user/m,
      /^code host polling +failing .*retried automatically/m,
    ],
    doctor: [
      /^broken +code-host +the code host cannot be polled: the code host cannot be reached or has an outage/m,
      'retried automatically',
    ],
  },
  {
    fault: 'quota used up',
    before: ({ codehost }) => nothing(codehost.setQuota('core', { remaining: 0 })),
    says: [
      /^acme\/web {2}polling {2}the code host's API quota is used up .*it continues automatically at \d{4}-/m,
    ],
    doctor: [
      /^(?:warning|broken) +code-host .*the code host's API quota is used up/m,
      /it continues automatically at \d{4}-/,
    ],
  },
  {
    fault: 'quota of GraphQL used up',
    before: ({ codehost, useChannel }) => {
      useChannel(undefined);
      codehost.setQuota('graphql', { remaining: 0 });
      return {};
    },
    says: [
      /^code host polling +failing {2}last never {2}the code host's API quota is used up .*continues automatically at \d{4}-/m,
    ],
    doctor: [
      /^broken +code-host +the code host cannot be polled: the code host's API quota is used up/m,
      /continues automatically at \d{4}-/,
    ],
  },
  {
    fault: 'nothing watched',
    before: ({ write }) => nothing(write('.svc/config.json', { svc: { projectKey: 'demo' } })),
    says: ['code host polling  disabled  no repository is watched. Run: svc setup-webhooks --add-repo'],
    doctor: [
      /^off +code-host +the code host is not polled: no repository is watched\n +Run: svc setup-webhooks --add-repo/m,
    ],
  },
  {
    fault: 'tracker without a token',
    says: [/^tracker polling +disabled .*Run: svc config set .*svc\.tracker\.apiToken - < token\.txt/m],
    doctor: [
      /^off +tracker +the issue tracker is not polled: .*\n +Run: svc config set .*svc\.tracker\.apiToken - < token\.txt/m,
    ],
  },
  {
    fault: 'tracker token wrong',
    before: async (world) => ({ SVC_TRACKER_API_URL: (await trackerOf(world, 'revoked')).url }),
    says: [
      /^tracker polling +failing$/m,
      /^ {2}ABC {2}last never {2}The issue tracker did not accept the API token.*svc config set svc\.tracker\.apiToken - < token\.txt$/m,
    ],
    doctor: [
      /^broken +tracker +team ABC cannot be polled: The issue tracker did not accept the API token/m,
      'svc config set svc.tracker.apiToken - < token.txt',
    ],
  },
  {
    fault: 'tracker down',
    before: async (world) => {
      await trackerOf(world, 'tracker-token');
      return { SVC_TRACKER_API_URL: `${NOWHERE}/graphql` };
    },
    says: [
      /^tracker polling +failing$/m,
      /^ {2}ABC {2}last never {2}The issue tracker is unavailable.*\. Nothing to do: it is retried automatically every 5 minutes$/m,
    ],
    doctor: [
      /^broken +tracker +team ABC cannot be polled: The issue tracker is unavailable/m,
      'Nothing to do: it is retried automatically every 5 minutes',
    ],
  },
];

test.each(faults)('$fault', async ({ before, after, says, doctor, nowhere }) => {
  const world = await feedWorld();
  const daemon = await world.start(await before?.(world));
  await after?.(world, daemon);
  await untilHolds(async () => {
    const { code, printed } = await world.svc('feeds');
    expect(code).toBe(0);
    for (const words of says) expect(printed).toMatch(words);
  });
  // What the daemon has found by polling.
  let printed = '';
  await untilHolds(async () => {
    ({ printed } = await world.doctor());
    for (const words of doctor) expect(printed).toMatch(words);
  });
  const health = await daemon.get('/api/health');
  expect(health.status).toBe(200);
  if (nowhere === undefined) return;
  const feeds = await daemon.get('/api/feeds');
  const said = [daemon.printed(), JSON.stringify([health.body, feeds.body, daemon.lines()]), printed];
  expect(said.filter((text) => text.includes(nowhere))).toEqual([]);
});

describe('gh hangs', () => {
  /** A program that hangs is stopped soon; on the daemon's clock its whole time has passed. */
  async function withHangingGh(change: (world: FeedWorld) => void = () => undefined) {
    const world = await feedWorld();
    change(world);
    const folder = temporaryFolder();
    const gh = join(folder, 'gh');
    writeFileSync(gh, '#!/bin/sh\nexec sleep 600\n', { mode: 0o755 });
    const began = Date.now();
    const clock = { time: began, isHanging: true };
    const run: RunCommand = async (command) => {
      const startedAt = clock.time;
      const end = await runCommand(clock.isHanging ? { ...command, timeoutMs: 200 } : command);
      if (end.ended === 'timeout') clock.time = Math.max(clock.time, startedAt + command.timeoutMs);
      return end;
    };
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const now = () => new Date(clock.time);
    const daemon = await world.start({ PATH: `${folder}:/usr/bin:/bin` }, { now, run });
    return {
      world,
      daemon,
      secondsPassed: () => (clock.time - began) / 1000,
      polling: async () => {
        const { body } = await daemon.get('/api/health');
        return (body['sources'] as { codehost: { state: string; why: string; remedy: string } }).codehost;
      },
      tenMinutesLater: async () => {
        clock.time += 600_000;
        await vi.advanceTimersByTimeAsync(600_000);
      },
      /** The installed program works. */
      fix: () => {
        rmSync(gh);
        clock.isHanging = false;
      },
    };
  }

  test.each<[string, (world: FeedWorld) => void]>([
    ['a hook is wanted', () => undefined],
    ['it is only polled', ({ useChannel }) => useChannel(undefined)],
  ])('%s: reported within 90 s with how to check it, and well again when gh works', async (_, change) => {
    const { world, polling, secondsPassed, tenMinutesLater, fix } = await withHangingGh(change);
    const named = await until(async () => {
      const report = await polling();
      return report.state === 'failing' ? report : undefined;
    });
    expect(secondsPassed()).toBeLessThanOrEqual(90);
    expect(named.why).toMatch(/cannot be reached or has an outage \(no answer within \d+ s\)/);
    expect(named.remedy).toContain('gh api user');
    expect((await world.doctor()).printed).toMatch(
      /code-host +the code host cannot be polled: .*no answer within/,
    );

    fix();
    await until(async () => {
      await tenMinutesLater();
      return (await polling()).state === 'polling';
    });
    expect(await polling()).toMatchObject({ why: null, remedy: null });
  });

  test('however often it was tried, the reason and the fix stay', async () => {
    const { polling, tenMinutesLater, fix, daemon } = await withHangingGh();
    await until(async () => (await polling()).state === 'failing');
    const given = await until(async () => {
      await tenMinutesLater();
      const report = await polling();
      return report.why.includes('several times in a row') ? report : undefined;
    });
    expect(given.why).toMatch(/several times in a row: no answer within \d+ s/);
    expect(given.remedy).toContain('gh api user');
    fix();
    await until(async () => {
      await tenMinutesLater();
      return (await polling()).state === 'polling' && covered(daemon);
    });
  });
});

test.each([
  ['ahead of', 5 * HOUR_MS],
  ['behind', -5 * HOUR_MS],
])('clock wrong: 5 h %s', async (direction, offMs) => {
  const { codehost, start, svc, doctor } = await feedWorld();
  const first = await start();
  await until(() => covered(first));
  await first.close();
  await codehost.emit('acme/web', 'pull_request', merged);
  const daemon = await start({}, { now: () => new Date(Date.now() + offMs) });
  // The last hour is by the code host's clock: what was missed still comes back.
  await until(() => facts(daemon).length === 1);
  expect(facts(daemon)[0]).toMatchObject({ event: 'codehost.pr.merged', via: 'replay' });
  expect((await svc('feeds')).printed).toContain(
    `clock  this machine's clock is 5 h 0 min ${direction} the code host's. Set the date of this machine`,
  );
  expect((await doctor()).printed).toMatch(/^broken +clock +this machine's clock is 5 h 0 min/m);
  expect((await daemon.get('/api/health')).status).toBe(200);
});

test('a clock that is right is not mentioned, and what was fixed is no longer reported', async () => {
  const { codehost, start, svc } = await feedWorld();
  codehost.failNext({ kind: 'server-error', status: 500 });
  const first = await start();
  await until(async () => (await svc('feeds')).printed.includes('has an outage'));
  await first.close();
  const second = await start();
  await until(async () => /^code host polling +polling {2}last 2/m.test((await svc('feeds')).printed));
  expect((await svc('feeds')).printed).not.toMatch(/clock|outage/);
  expect(await covered(second)).toBe(true);
});

test('every row of docs/internals/faults.md names a test that is here or in the tunnel’s own tests', () => {
  const root = join(import.meta.dirname, '../../..');
  const named = readFileSync(join(root, 'docs/internals/faults.md'), 'utf8')
    .split('\n')
    .map((line) => / \| `([^`]+)` › ([^|]+) \|$/.exec(line))
    .filter((found) => found !== null);
  expect(named.length).toBeGreaterThanOrEqual(faults.length);
  for (const [, file = '', name = ''] of named)
    expect(readFileSync(join(root, 'packages', file), 'utf8')).toContain(name);
});

function nothing(_done: unknown): Variables {
  return {};
}

async function hostileRelay() {
  const relay = await startHostileRelay({ pingMs: 500 });
  onTestFinished(() => relay.stop());
  return relay;
}

/** Our own relay, whose channels have a read key. */
async function ownRelay() {
  const relay = await startHostileRelay({ ours: true, pingMs: 500, readKey: 'the-right-key' });
  onTestFinished(() => relay.stop());
  return relay;
}

/** A project whose token is `token`; the tracker knows another. */
async function trackerOf({ write }: FeedWorld, token: string) {
  const tracker = await testTracker('tracker-token');
  const team = tracker.cloud.addTeam({ key: 'ABC' });
  write('.svc/config.json', { svc: { projectKey: 'demo', tracker: { teamKey: 'ABC', teamId: team.id } } });
  write('.config/svc/config-demo.json', { svc: { tracker: { apiToken: token, teamKey: 'ABC' } } });
  return tracker;
}
