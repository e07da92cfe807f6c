// The eight rules of registration, with a count of calls, and every step cut off and run again.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type FakeTracker, temporaryFolder, testTracker } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { readMachine } from '../../../kernel/config/environment.ts';
import { createConfigStore } from '../../../kernel/config/store.ts';
import { createFileLocks } from '../../../kernel/disk/lock.ts';
import { loadConfig } from '../../configure.ts';
import type { LinearClient } from '../io/linear/client.ts';
import {
  deregisterTrackerWebhook,
  type RegisterOptions,
  registerTrackerWebhook,
} from '../io/linear/register-webhook.ts';
import { requireLinear } from '../io/open-tracker.ts';
import { clientOf, meansOf, TOKEN } from '../testing/client-of.ts';

const CHANNEL = 'https://relay.example/AbC123';
const OTHER = 'https://relay.example/other';
const NOW = '2026-01-02T03:04:05.678Z';
const resourceTypes = ['Issue', 'Comment', 'IssueLabel', 'Cycle', 'Reaction', 'Project'];

type Given = { linear?: object; project?: object; secrets?: object; environment?: Record<string, string> };
type Change = Partial<RegisterOptions> & { crash?: Crash };
type Crash = { at: number; when: 'before' | 'after' };

/** A machine with a project, its tracker, and the two commands as the setup command runs them. */
async function setup(given: Given = {}) {
  const tracker = await testTracker(TOKEN);
  const team = tracker.cloud.addTeam({ key: 'ABC' });
  const home = temporaryFolder();
  const path = (name: string) => join(home, name);
  const write = (name: string, value: unknown) => {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), JSON.stringify(value, null, 4));
  };
  const layer1 = { projectKey: 'demo', tracker: { teamKey: 'ABC', teamId: team.id }, ...given.project };
  write('.svc/config.json', { svc: layer1 });
  write(
    '.config/svc/config-demo.json',
    given.secrets ?? { svc: { tracker: { apiToken: TOKEN, teamKey: 'ABC' } } },
  );
  write('.config/svc/config.json', {
    zeal: 1,
    svc: { monitor: { linear: given.linear ?? {} }, projects: [] },
  });

  const machine = readMachine({}, home);
  const secretFile = path('.config/svc/linear-webhook-secret');
  const printed: string[] = [];
  let channels = 0;

  const surroundings = async (crash?: Crash) => {
    const loaded = await loadConfig(machine, given.environment ?? {}, home);
    const { config, files } = loaded;
    if (!config) throw new Error(JSON.stringify(loaded.problems));
    const effects = crashing(crash);
    const store = createConfigStore({ locks: createFileLocks({ folder: machine.locksDir }), files });
    return {
      config,
      secretFile,
      tell: (line: string) => void printed.push(line),
      store: { setMany: effects.around(store.setMany) },
      connect: (): LinearClient => {
        const client = config.svc.tracker.apiToken
          ? clientOf(tracker)
          : requireLinear({ config, files }, meansOf(tracker));
        return {
          ...client,
          listWebhooks: effects.around(client.listWebhooks),
          createWebhook: effects.around(client.createWebhook),
          deleteWebhook: effects.around(client.deleteWebhook),
        };
      },
      provisionChannel: effects.around(async () => {
        channels += 1;
        return channels === 1 ? CHANNEL : `${CHANNEL}-${channels}`;
      }),
    };
  };
  return {
    tracker,
    team,
    printed,
    secretFile,
    path,
    channels: () => channels,
    register: async ({ crash, ...change }: Change = {}) =>
      registerTrackerWebhook({
        force: false,
        clock: { now: () => Date.parse(NOW) },
        ...(await surroundings(crash)),
        ...change,
      }),
    deregister: async (crash?: Crash) => deregisterTrackerWebhook(await surroundings(crash)),
    global: () => JSON.parse(readFileSync(path('.config/svc/config.json'), 'utf8')),
    record: () => JSON.parse(readFileSync(path('.config/svc/config.json'), 'utf8')).svc.monitor.linear,
    secret: () => (existsSync(secretFile) ? readFileSync(secretFile, 'utf8').trim() : undefined),
    webhooks: () => tracker.cloud.webhooks,
  };
}

/** The process ends just before or just after its nth side effect. */
function crashing(crash: Crash | undefined) {
  let count = 0;
  return {
    around:
      <Words extends unknown[], Result>(effect: (...words: Words) => Promise<Result>) =>
      async (...words: Words): Promise<Result> => {
        count += 1;
        const isHere = crash?.at === count;
        if (isHere && crash.when === 'before') throw new Error('crash');
        const result = await effect(...words);
        if (isHere) throw new Error('crash');
        return result;
      },
  };
}

type Setup = Awaited<ReturnType<typeof setup>>;

/** A webhook that was registered before, with its record and its secret. */
async function registeredSetup(url = CHANNEL): Promise<Setup> {
  const made = await setup();
  await made.register({ webhookUrl: url });
  made.tracker.forgetCalls();
  made.printed.splice(0);
  return made;
}

function expectInPlace(made: Setup, url = CHANNEL): void {
  const [webhook, ...others] = made.webhooks();
  expect(others).toEqual([]);
  expect(webhook).toMatchObject({ url, teamId: made.team.id, enabled: true, resourceTypes });
  expect(made.record()).toMatchObject({ webhookId: webhook?.id, webhookUrl: url, registeredAt: NOW });
  expect(made.secret()).toBe(webhook?.secret);
  expect(statSync(made.secretFile).mode & 0o777).toBe(0o600);
  expect(made.printed.join('\n')).not.toContain(TOKEN);
  expect(made.printed.join('\n')).not.toContain(webhook?.secret);
}

describe('rule 1: the token is in layer 2 and the team id in layer 1', () => {
  test('no token: the file and the command are named, nothing is changed', async () => {
    const made = await setup({ secrets: {} });
    await expect(made.register()).rejects.toMatchObject({
      code: 'not-configured',
      exitCode: 4,
      message: expect.stringContaining(made.path('.config/svc/config-demo.json')),
      remedy: expect.stringContaining('svc config set svc.tracker.apiToken -'),
    });
    expect([made.tracker.calls(), made.channels(), made.record()]).toEqual([[], 0, {}]);
  });

  test('no team id: it has to be resolved first, nothing is changed', async () => {
    const made = await setup({ project: { tracker: { teamKey: 'ABC' } } });
    await expect(made.register()).rejects.toMatchObject({
      remedy: expect.stringContaining('svc resolve-tracker-ids'),
    });
    expect([made.tracker.calls(), made.channels(), made.record()]).toEqual([[], 0, {}]);
  });
});

describe('rule 2: without --webhook-url there is a relay channel', () => {
  test('a new one is made, and is written to the global file', async () => {
    const made = await setup();
    await made.register();
    expectInPlace(made);
    expect(made.record().smeeChannel).toBe(CHANNEL);
    expect(made.channels()).toBe(1);
  });

  test('the one in SVC_TRACKER_RELAY_CHANNEL is used, and is written to the global file', async () => {
    const made = await setup({ environment: { SVC_TRACKER_RELAY_CHANNEL: OTHER } });
    await made.register();
    expectInPlace(made, OTHER);
    expect([made.record().smeeChannel, made.channels()]).toEqual([OTHER, 0]);
  });

  test('the one in the global file is used', async () => {
    const made = await setup({ linear: { smeeChannel: OTHER } });
    await made.register();
    expectInPlace(made, OTHER);
    expect(made.channels()).toBe(0);
  });

  test('with --webhook-url no channel is made or written', async () => {
    const made = await setup();
    await made.register({ webhookUrl: OTHER });
    expectInPlace(made, OTHER);
    expect([made.record().smeeChannel, made.channels()]).toEqual([undefined, 0]);
  });

  test('--webhook-url has to be a URL', async () => {
    const made = await setup();
    await expect(made.register({ webhookUrl: 'relay.example' })).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('rule 3: the record matches', () => {
  test.each([
    ['the same URL', CHANNEL],
    ['the same but for case', CHANNEL.toUpperCase()],
    ['no URL given', undefined],
  ])('already registered, with zero calls: %s', async (_, webhookUrl) => {
    const made = await registeredSetup();
    const before = made.global();
    expect(await made.register({ webhookUrl })).toMatchObject({
      outcome: 'already-registered',
      secret: 'kept',
    });
    expect(made.printed.join('\n')).toContain('already registered');
    expect([made.tracker.calls(), made.global(), made.channels()]).toEqual([[], before, 0]);
  });

  test('not even a token is needed', async () => {
    const linear = { webhookId: 'w-1', webhookUrl: CHANNEL, registeredAt: NOW };
    const made = await setup({ linear, secrets: {}, project: { tracker: {} } });
    expect(await made.register({ webhookUrl: CHANNEL })).toMatchObject({ secret: 'missing' });
    expect(made.printed.join('\n')).toContain('--force');
  });
});

describe('rule 4: the record holds another URL', () => {
  test.each([
    ['by --webhook-url', {}, OTHER],
    ['by the environment', { SVC_TRACKER_RELAY_CHANNEL: OTHER }, undefined],
  ])('it is an error, and the record is untouched: %s', async (_, environment, webhookUrl) => {
    const linear = { webhookId: 'w-1', webhookUrl: CHANNEL, registeredAt: NOW, resourceTypes };
    const made = await setup({ linear, environment });
    const before = readFileSync(made.path('.config/svc/config.json'));
    await expect(made.register({ webhookUrl })).rejects.toMatchObject({
      code: 'registered-elsewhere',
      exitCode: 2,
      message: expect.stringContaining(CHANNEL),
      remedy: expect.stringContaining('--force'),
    });
    expect(readFileSync(made.path('.config/svc/config.json'))).toEqual(before);
    expect(made.tracker.calls()).toEqual([]);
  });

  test('a record without a URL matches nothing', async () => {
    const made = await setup({ linear: { webhookId: 'w-1' } });
    await expect(made.register()).rejects.toMatchObject({ code: 'registered-elsewhere' });
    expect(made.channels()).toBe(0);
  });
});

describe('rule 5: --force', () => {
  test.each([
    ['the same URL', undefined, CHANNEL],
    ['another URL', OTHER, OTHER],
  ])(
    'deletes the recorded webhook, creates a new one, rewrites the record: %s',
    async (_, webhookUrl, url) => {
      const made = await registeredSetup();
      const [old, oldSecret] = [made.record().webhookId, made.secret()];
      expect(await made.register({ webhookUrl, force: true })).toMatchObject({ outcome: 'created' });
      expect(made.tracker.calls()).toEqual(['webhookDelete', 'webhookCreate']);
      expect(made.tracker.requests()[0]?.variables).toEqual({ id: old });
      expectInPlace(made, url);
      expect(made.record().webhookId).not.toBe(old);
      expect(made.secret()).not.toBe(oldSecret);
    },
  );

  test('a recorded webhook that is already gone does not matter', async () => {
    const made = await registeredSetup();
    made.webhooks().splice(0);
    await made.register({ force: true });
    expectInPlace(made);
    expect(made.printed.join('\n')).toContain('was already gone');
  });

  test('a 404 that is not from the API changes nothing', async () => {
    const made = await registeredSetup();
    const before = made.global();
    made.tracker.failNext({ kind: 'not-found', text: '<html>no such page</html>' });
    await expect(made.register({ force: true })).rejects.toMatchObject({ code: 'tracker-unavailable' });
    expect(made.global()).toEqual(before);
  });

  test('a partial record becomes a complete one', async () => {
    const made = await setup();
    made.tracker.cloud.addWebhook({ url: CHANNEL });
    await made.register({ webhookUrl: CHANNEL });
    expect(made.record()).not.toHaveProperty('resourceTypes');
    await made.register({ webhookUrl: CHANNEL, force: true });
    expectInPlace(made);
    expect(made.record().resourceTypes).toEqual(resourceTypes);
  });
});

describe('rule 6: without a record', () => {
  test('a webhook with the URL is reused, case ignored, on whatever page it is; the record is partial', async () => {
    const made = await setup();
    const existing = made.tracker.cloud.addWebhook({ url: CHANNEL, teamId: made.team.id, resourceTypes });
    for (let index = 0; index < 9; index += 1) made.tracker.cloud.addWebhook({ url: `${OTHER}/${index}` });
    made.tracker.limitPages(4);
    const url = CHANNEL.toLowerCase();
    writeFileSync(made.secretFile, 'known\n');
    expect(await made.register({ webhookUrl: url })).toMatchObject({ outcome: 'reused', secret: 'kept' });
    expect(made.record()).toEqual({ webhookId: existing.id, webhookUrl: url, registeredAt: NOW });
    expect(made.tracker.calls()).toEqual(['webhooks', 'webhooks', 'webhooks']);
    expect([made.webhooks().length, made.secret()]).toEqual([10, 'known']);
    expect(made.printed.join('\n')).not.toContain('warning');
  });

  test('differences of a reused webhook are reported', async () => {
    const made = await setup();
    made.tracker.cloud.addWebhook({ url: CHANNEL, enabled: false });
    expect(await made.register({ webhookUrl: CHANNEL })).toMatchObject({ secret: 'missing' });
    expect(made.printed.filter((line) => line.startsWith('warning:'))).toEqual([
      expect.stringContaining('disabled in the tracker'),
      expect.stringContaining('does not send Comment, IssueLabel, Cycle, Reaction, Project'),
      expect.stringContaining('only once'),
    ]);
  });

  test('otherwise one is created', async () => {
    const made = await setup();
    made.tracker.cloud.addWebhook({ url: OTHER });
    await made.register({ webhookUrl: CHANNEL });
    expect(made.tracker.calls()).toEqual(['webhooks', 'webhookCreate']);
    expect(made.webhooks()).toHaveLength(2);
  });

  test('a list that cannot be fetched is never treated as empty', async () => {
    const made = await setup();
    made.tracker.failNext({ kind: 'server-error', status: 502 }, { field: 'webhooks' });
    await expect(made.register()).rejects.toMatchObject({ code: 'tracker-unavailable' });
    expect(made.tracker.calls()).toEqual(['webhooks']);
  });
});

test('rule 7: resourceTypes is exactly the six, for the team', async () => {
  const made = await setup();
  await made.register();
  expect(made.tracker.requests().at(-1)?.variables).toEqual({
    input: {
      url: CHANNEL,
      teamId: made.team.id,
      resourceTypes,
      label: 'svc demo',
      secret: made.secret(),
      enabled: true,
    },
  });
  expect(made.record()).toEqual({
    smeeChannel: CHANNEL,
    webhookId: made.webhooks()[0]?.id,
    webhookUrl: CHANNEL,
    registeredAt: NOW,
    resourceTypes,
  });
  expect(made.global()).toMatchObject({ zeal: 1, svc: { projects: [] } });
});

describe('rule 8: the secret', () => {
  test('is 32 bytes in hex, in a file of mode 600, even where the file was open to others', async () => {
    const made = await setup();
    writeFileSync(made.secretFile, 'old\n', { mode: 0o644 });
    await made.register();
    expect(made.secret()).toMatch(/^[0-9a-f]{64}$/);
    expectInPlace(made);
  });

  test('is the one that the tracker returns, when that is another', async () => {
    const made = await setup();
    const client = clientOf(made.tracker);
    const createWebhook: LinearClient['createWebhook'] = async (webhook) => ({
      ...(await client.createWebhook(webhook)),
      secret: 'lin_wh_other',
    });
    await made.register({ connect: () => ({ ...client, createWebhook }) });
    expect(made.secret()).toBe('lin_wh_other');
  });

  test.each([
    ['an existing file keeps its content', 'known'],
    ['a new file is removed again', undefined],
  ])('when the tracker refuses, %s', async (_, before) => {
    const made = await setup();
    if (before !== undefined) writeFileSync(made.secretFile, before);
    made.tracker.failNext({ kind: 'graphql-error', message: 'no' }, { field: 'webhookCreate' });
    await expect(made.register()).rejects.toMatchObject({ code: 'tracker-error' });
    expect(made.secret()).toBe(before);
  });
});

describe('faults of the tracker at every step', () => {
  const faults = [
    { kind: 'unauthorised' },
    { kind: 'too-many-requests', retryAfter: '5' },
    { kind: 'server-error', status: 500 },
    { kind: 'cut', when: 'before' },
    { kind: 'cut', when: 'after' },
    { kind: 'cut', when: 'within' },
    { kind: 'graphql-error', message: 'odd' },
    { kind: 'body', text: '{"data":' },
  ] as const satisfies Parameters<FakeTracker['failNext']>[0][];
  const rows = faults.flatMap((fault) =>
    [
      [false, 'webhooks'],
      [false, 'webhookCreate'],
      [true, 'webhookDelete'],
      [true, 'webhookCreate'],
    ].map(([force, field]) => [JSON.stringify(fault), field as string, force as boolean, fault] as const),
  );

  test.each(rows)(
    '%s at %s, force %s: the same command again completes it',
    async (_, field, force, fault) => {
      const made = force ? await registeredSetup() : await setup();
      made.tracker.failNext(fault, { field });
      const again = { force, webhookUrl: force ? CHANNEL : undefined };
      await expect(made.register(again)).rejects.toMatchObject({ name: 'TrackerError' });
      await made.register(again);
      expectInPlace(made);
    },
  );
});

describe('cut off at every step', () => {
  const crashes = (steps: number): Crash[] =>
    Array.from({ length: steps }, (_, index) => index + 1).flatMap((at) => [
      { at, when: 'before' as const },
      { at, when: 'after' as const },
    ]);

  test.each(crashes(5))('registering, at step $at, $when it: the next run completes it', async (crash) => {
    const made = await setup();
    await expect(made.register({ crash })).rejects.toThrow('crash');
    await made.register();
    // Only a channel that was made and not yet saved is lost, and then a second one is made.
    const lost = crash.at === 1 && crash.when === 'after';
    const url = lost || (crash.at === 2 && crash.when === 'before') ? `${CHANNEL}-2` : CHANNEL;
    expectInPlace(made, url);
    made.tracker.forgetCalls();
    expect(await made.register()).toMatchObject({ outcome: 'already-registered' });
    expect(made.tracker.calls()).toEqual([]);
  });

  test.each(crashes(4))('replacing, at step $at, $when it: the next run completes it', async (crash) => {
    const made = await registeredSetup();
    await expect(made.register({ force: true, crash })).rejects.toThrow('crash');
    await made.register({ force: true, webhookUrl: CHANNEL });
    expectInPlace(made);
  });

  test.each(crashes(2))('deregistering, at step $at, $when it: the next run completes it', async (crash) => {
    const made = await registeredSetup();
    await expect(made.deregister(crash)).rejects.toThrow('crash');
    if (made.record().webhookId !== undefined) await made.deregister();
    expect([made.webhooks(), made.record(), made.secret()]).toEqual([[], {}, undefined]);
  });

  test('there are no more steps than these', async () => {
    await (await setup()).register({ crash: { at: 6, when: 'before' } });
    await (await registeredSetup()).register({ force: true, crash: { at: 5, when: 'before' } });
    await (await registeredSetup()).deregister({ at: 3, when: 'before' });
    expect.assertions(0);
  });
});

describe('deregistering', () => {
  test('deletes the webhook, clears the record, removes the secret file; the channel stays', async () => {
    const made = await setup();
    await made.register();
    made.tracker.forgetCalls();
    const { webhookId } = made.record();
    expect(await made.deregister()).toEqual({ webhookId });
    expect(made.tracker.calls()).toEqual(['webhookDelete']);
    expect([made.webhooks(), made.record(), made.secret()]).toEqual([
      [],
      { smeeChannel: CHANNEL },
      undefined,
    ]);
    expect(made.printed.join('\n')).not.toContain(TOKEN);
  });

  test('without a record it fails, with zero calls', async () => {
    const made = await setup();
    await expect(made.deregister()).rejects.toMatchObject({ code: 'not-registered', exitCode: 1 });
    expect(made.tracker.calls()).toEqual([]);
  });

  test('a webhook that is already gone does not matter', async () => {
    const made = await registeredSetup();
    made.webhooks().splice(0);
    await made.deregister();
    expect([made.record(), made.secret()]).toEqual([{}, undefined]);
  });

  test.each(['unauthorised', 'rate-limited'] as const)(
    '%s: record and secret stay, and the next run completes it',
    async (kind) => {
      const made = await registeredSetup();
      const before = [made.record(), made.secret()];
      made.tracker.failNext({ kind });
      await expect(made.deregister()).rejects.toMatchObject({ name: 'TrackerError' });
      expect([made.record(), made.secret()]).toEqual(before);
      await made.deregister();
      expect([made.webhooks(), made.record()]).toEqual([[], {}]);
    },
  );
});
