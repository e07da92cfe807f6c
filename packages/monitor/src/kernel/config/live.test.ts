import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, until } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { openLiveConfig } from '../../features/configure.ts';
import type { EventDraft } from '../log/event-line.ts';
import { readMachine } from './environment.ts';

const proofOf = (skipDeployVerification: boolean): string =>
  JSON.stringify({ svc: { projectKey: 'demo', deploy: { 'acme/web': { skipDeployVerification } } } });

test('a policy that cannot be logged is reported, and logged when the disk has space again', async () => {
  const home = temporaryFolder();
  mkdirSync(join(home, '.svc'));
  const file = join(home, '.svc/config.json');
  writeFileSync(file, proofOf(true));
  const machine = readMachine({}, home);
  mkdirSync(machine.dataDir, { recursive: true });
  const failures: unknown[] = [];
  const live = await openLiveConfig({
    machine,
    environment: {},
    folder: home,
    onFailure: (error) => void failures.push(error),
  });
  onTestFinished(live.stop);
  const disk = { isFull: true };
  const lines: EventDraft[] = [];
  let calls = 0;
  live.onChange(() => void (calls += 1));
  await live.start(async (draft) => {
    if (disk.isFull) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    lines.push(draft);
  });
  expect(live.current().problems).toMatchObject([
    { severity: 'error', file: machine.eventsDir, message: expect.stringContaining('(ENOSPC)') },
  ]);
  writeFileSync(file, proofOf(false));
  await until(() => live.current().projects[0]?.applied.deploy['acme/web']?.skipDeployVerification === false);
  expect(lines).toEqual([]);
  // Retried with every check, and reported in the daemon's log once.
  expect(failures).toHaveLength(1);

  const before = calls;
  disk.isFull = false;
  await until(() => calls > before);
  expect(live.current().problems).toEqual([]);
  expect(lines).toMatchObject([
    { detail: { project: home, deploy: { 'acme/web': { skipDeployVerification: false } } } },
  ]);
  expect(readFileSync(join(machine.dataDir, 'last-good-config.json'), 'utf8')).toContain('"value":false');
});

/** A home with these projects and a live configuration that has logged them. */
async function served(files: Record<string, unknown>, global: unknown = {}) {
  const home = temporaryFolder();
  const machine = readMachine({}, home);
  mkdirSync(machine.dataDir, { recursive: true });
  mkdirSync(machine.configDir, { recursive: true });
  const folderOf = (name: string): string => join(home, name);
  const write = (name: string, content: unknown): void => {
    mkdirSync(join(folderOf(name), '.svc'), { recursive: true });
    writeFileSync(join(folderOf(name), '.svc/config.json'), JSON.stringify(content));
  };
  for (const [name, content] of Object.entries(files)) write(name, content);
  const list = { svc: { projects: Object.keys(files).map(folderOf) }, ...(global as object) };
  writeFileSync(join(machine.configDir, 'config.json'), JSON.stringify(list));
  const lines: EventDraft[] = [];
  const live = await openLiveConfig({ machine, environment: {}, folder: home, onFailure: () => undefined });
  onTestFinished(live.stop);
  return { live, lines, write, folderOf, start: () => live.start(async (draft) => void lines.push(draft)) };
}

const deploy = (skipDeployVerification: unknown) => ({
  svc: { projectKey: 'demo', deploy: { 'acme/web': { skipDeployVerification, timeoutSec: 60 } } },
});

test('a file that is half valid stays unknown, however often it is read', async () => {
  const { live } = await served({ web: { svc: { projectKey: 'demo', deploy: [] } } });
  for (let times = 0; times < 3; times += 1) {
    expect(live.current().projects[0]?.applied.others).toBe('unknown');
    await live.refresh();
  }
  const entry = await served({ web: deploy('false') });
  for (let times = 0; times < 3; times += 1) {
    expect(entry.live.current().projects[0]?.applied.deploy).toMatchObject({
      'acme/web': { skipDeployVerification: null },
    });
    await entry.live.refresh();
  }
});

test('the project that requires proof is logged first', async () => {
  const { start, lines, folderOf } = await served({ lax: deploy(true), strict: deploy(false) });
  await start();
  expect(lines.map(({ detail }) => Reflect.get(detail, 'project'))).toEqual([
    folderOf('strict'),
    folderOf('lax'),
  ]);
});

test('what cannot be read is logged before what requires nothing', async () => {
  const broken = { svc: { projectKey: 'broken', deploy: 7 } };
  const { start, lines, folderOf } = await served({ lax: deploy(true), broken });
  await start();
  expect(lines.map(({ detail }) => Reflect.get(detail, 'project'))).toEqual([
    folderOf('broken'),
    folderOf('lax'),
  ]);
});

test('a project of an earlier start that is no longer served is logged', async () => {
  const { live, start, lines, folderOf } = await served({ web: deploy(false) });
  await start();
  await live.compareWith([folderOf('web'), '/gone']);
  expect(lines.map(({ detail }) => detail)).toMatchObject([
    { project: folderOf('web'), served: true },
    { project: '/gone', served: false },
  ]);
});

test('readings do not queue up while one is slow: all callers share the next one', async () => {
  const { live } = await served({ web: { svc: { projectKey: 'web' } } });
  const held = Promise.withResolvers<void>();
  let applied = 0;
  live.onChange(() => {
    applied += 1;
    return held.promise;
  });
  const first = live.refresh();
  await until(() => applied === 1);
  const others = Array.from({ length: 20 }, () => live.refresh());
  held.resolve();
  await Promise.all([first, ...others]);
  expect(applied).toBe(2);
});
