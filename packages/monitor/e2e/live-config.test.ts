// What the daemon uses is what it shows, and an unreadable file never weakens it: through the real daemon, with signed
// deliveries.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { storyRepo, storyTicket, temporaryFolder, until, untilHolds } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import type { BoardView } from '../src/features/board/api.ts';
import { storyDaemon } from './story-daemon.ts';

const valid = {
  svc: {
    projectKey: 'demo',
    project: { ticketPrefix: 'ENG' },
    orchestration: { maxParallel: 2 },
    deploy: { [storyRepo]: { skipDeployVerification: false, timeoutSec: 3600 } },
  },
};
const text = JSON.stringify(valid, null, 2);

/** The file in various broken states; null is removed. */
const broken: [string, string | null][] = [
  ['a wrong value elsewhere', text.replace('"maxParallel": 2', '"maxParallel": 0')],
  ['a conflict marker', `<<<<<<< HEAD\n${text}\n=======\n{}\n>>>>>>> theirs\n`],
  ['half written', text.slice(0, text.length / 2)],
  ['empty', ''],
  ['a list', '[]'],
  ['a wrong type of the key itself', text.replace(': false', ': "false"')],
  ['null for the key itself', text.replace(': false', ': null')],
  ['a misspelt key', text.replace('skipDeployVerification', 'skipDeployVerifcation')],
  ['an unrelated key in its place', text.replace('skipDeployVerification', 'verify')],
  ['a misspelt section', text.replace('"deploy"', '"deplyo"')],
  ['an unrelated section', text.replace('"deploy"', '"x"')],
  ['a misspelt root', text.replace('"svc"', '"scv"')],
  ['an invalid repository name', text.replace(storyRepo, 'acme web')],
  ['an entry that is not an object', text.replace(/\{\s*"skipDeploy[^}]*\}/, 'true')],
  ['a section that is not an object', text.replace(/"deploy": \{[\s\S]*\}\s*\}\s*\}$/, '"deploy": 7 } }')],
  ['gone', null],
];

const fileIn = (home: string): string => join(home, '.svc/config.json');

function write(home: string, content: string | null): void {
  mkdirSync(join(home, '.svc'), { recursive: true });
  if (content === null) rmSync(fileIn(home), { force: true });
  else writeFileSync(fileIn(home), content);
}

/** The global file lists the project, as setup does. */
function listed(): string {
  const home = temporaryFolder();
  mkdirSync(join(home, '.config/svc'), { recursive: true });
  writeFileSync(join(home, '.config/svc/config.json'), JSON.stringify({ svc: { projects: [home] } }), {
    mode: 0o600,
  });
  return home;
}

async function start(home: string, content: string | null) {
  write(home, content);
  const daemon = await storyDaemon({ home, settings: null });
  const board = async () => (await daemon.get('/api/board?all=1')).body as unknown as BoardView;
  const worker = async () => (await board()).workers.find(({ ticket }) => ticket === storyTicket);
  return {
    ...daemon,
    board,
    worker,
    dispatch: async () => {
      daemon.setStatus('implementing');
      await until(worker);
    },
    /** A signed merge, and the status that it leads to. */
    merge: async () => {
      await daemon.happens('pull_request merged');
      const { merge, status, deploy } = await until(async () => {
        const found = await worker();
        return found?.merge === null ? undefined : found;
      });
      expect(merge).not.toBeNull();
      return { status, hasDeploy: deploy !== null };
    },
    attention: async () => (await board()).attention.find(({ reason }) => reason === 'config-invalid'),
    health: async () => (await daemon.get('/api/health')).body,
    config: async (key: string) => {
      const { values } = (await daemon.get('/api/config')).body as { values: Record<string, unknown>[] };
      return values.find((value) => value['key'] === key);
    },
  };
}

describe.each(broken)('a project file with %s', (_, content) => {
  test('at a restart: the last good configuration holds', async () => {
    const home = listed();
    await (await start(home, text)).close();
    const daemon = await start(home, content);
    await daemon.dispatch();
    expect(await daemon.merge()).toEqual({ status: 'merged', hasDeploy: true });
  });

  test('at the very first start: the policy is unknown, and the merge waits', async () => {
    const daemon = await start(listed(), content);
    await daemon.dispatch();
    const { status, hasDeploy } = await daemon.merge();
    expect(status).toBe('merged');
    // Only a wrong value elsewhere leaves the policy readable.
    expect(hasDeploy).toBe(content?.includes('"maxParallel": 0') ?? false);
  });

  test('while the daemon runs: what was in effect stays', async () => {
    const home = listed();
    const daemon = await start(home, text);
    await daemon.dispatch();
    write(home, content);
    await until(async () => (await daemon.health())['status'] === 'degraded' || (await hasProblems(daemon)));
    expect(await daemon.merge()).toEqual({ status: 'merged', hasDeploy: true });
  });
});

const hasProblems = async (daemon: Awaited<ReturnType<typeof start>>): Promise<boolean> =>
  ((await daemon.health())['configuration'] as { problems: string[] }).problems.length > 0;

test('an error is an attention item with file, key, expected and found value, until it is fixed', async () => {
  const home = listed();
  const daemon = await start(home, text.replace('"maxParallel": 2', '"maxParallel": 0'));
  const item = await until(daemon.attention);
  for (const part of [fileIn(home), 'svc.orchestration.maxParallel', 'at least 1', 'found number 0'])
    expect(item.message).toContain(part);
  expect(item).toMatchObject({ severity: 'high', remedy: 'svc config validate' });
  expect(await daemon.health()).toMatchObject({ status: 'degraded' });
  write(home, text);
  await until(async () => (await daemon.attention()) === undefined);
  expect(await daemon.health()).toMatchObject({ status: 'ok' });
});

test('a policy that becomes known decides what waited for it', async () => {
  const home = listed();
  const daemon = await start(home, 'not JSON');
  await daemon.dispatch();
  expect(await daemon.merge()).toEqual({ status: 'merged', hasDeploy: false });
  write(home, text);
  const waiting = await until(async () => {
    const worker = await daemon.worker();
    return worker?.deploy === null ? undefined : worker;
  });
  expect(waiting).toMatchObject({ status: 'merged', policy: { skipDeployVerification: false } });
});

test('a policy that turns out to need no proof ends the wait as done', async () => {
  const home = listed();
  const daemon = await start(home, 'not JSON');
  await daemon.dispatch();
  await daemon.merge();
  write(home, text.replace(': false', ': true'));
  await until(async () => (await daemon.worker())?.status === 'done');
});

test('GET /api/config shows what is used, and why the file is not', async () => {
  const home = listed();
  const daemon = await start(home, text);
  const key = 'svc.orchestration.maxParallel';
  expect(await daemon.config(key)).toMatchObject({ value: 2, differs: null, source: { kind: 'file' } });
  write(home, text.replace('"maxParallel": 2', '"maxParallel": "many"'));
  const entry = await until(async () => {
    const found = await daemon.config(key);
    return found?.['differs'] === null ? undefined : found;
  });
  expect(entry).toMatchObject({ value: 2, source: { kind: 'last-good' } });
  expect(entry['differs']).toContain('found string "many"');
});

test('each change is an event that names its keys, and no values', async () => {
  const home = listed();
  const daemon = await start(home, text);
  write(home, text.replace('"maxParallel": 2', '"maxParallel": 5'));
  await until(async () => (await daemon.config('svc.orchestration.maxParallel'))?.['value'] === 5);
  await untilHolds(async () => {
    const { events } = (await daemon.get('/api/events?event=monitor.config.applied')).body as {
      events: { detail: { keys: string[] } }[];
    };
    expect(events.map(({ detail }) => detail.keys)).toContainEqual(['svc.orchestration.maxParallel']);
  });
});

test('valid values that cannot be saved for the next start: the daemon runs, and reports that until they are', async () => {
  const home = listed();
  const inTheWay = join(home, 'svc/last-good-config.json/x');
  mkdirSync(inTheWay, { recursive: true });
  const daemon = await start(home, text);
  expect(await daemon.health()).toMatchObject({
    status: 'degraded',
    configuration: {
      problems: [
        { severity: 'error', text: expect.stringContaining('could not be saved for the next start') },
      ],
    },
  });
  rmSync(join(inTheWay, '..'), { recursive: true });
  await untilHolds(async () => {
    expect((await daemon.health())['configuration']).toMatchObject({ problems: [] });
  });
  expect(readFileSync(join(home, 'svc/last-good-config.json'), 'utf8')).toContain('skipDeployVerification');
});

test('a global file that cannot be read removes no project', async () => {
  const project = temporaryFolder();
  write(project, text);
  const home = temporaryFolder();
  mkdirSync(join(home, '.config/svc'), { recursive: true });
  const global = join(home, '.config/svc/config.json');
  writeFileSync(global, JSON.stringify({ svc: { projects: [project] } }), { mode: 0o600 });
  const first = await start(home, null);
  expect((await first.health())['configuration']).toMatchObject({ folders: [project] });
  await first.close();
  writeFileSync(global, '{ "svc": ');
  const daemon = await start(home, null);
  expect((await daemon.health())['configuration']).toMatchObject({ folders: [project] });
  await daemon.dispatch();
  expect(await daemon.merge()).toEqual({ status: 'merged', hasDeploy: true });
  expect(readFileSync(global, 'utf8')).toBe('{ "svc": ');
});

test('no agent is started on a configuration that never was valid: a refusal with its fix, no failure of the daemon', async () => {
  const home = temporaryFolder();
  const daemon = await start(home, '{ "svc": ');
  const refused = {
    status: 409,
    body: {
      code: 'config-invalid',
      error: expect.stringContaining(fileIn(home)),
      remedy: 'Fix the file, then check it: svc config validate',
    },
  };
  const headers = { 'Content-Type': 'application/json' };
  for (const [path, body] of [
    ['/api/runs', { tickets: ['ENG-1'] }],
    ['/api/runs/preflight', { tickets: ['ENG-1'] }],
    ['/api/runs/preflight', { task: 'local' }],
    ['/api/tasks', { text: 'Fix it', local: true }],
    ['/api/agents/check', { name: 'codex' }],
  ] as const)
    expect([
      path,
      await daemon.post(path, JSON.stringify({ project: home, ...body }), headers),
    ]).toMatchObject([path, refused]);
});
