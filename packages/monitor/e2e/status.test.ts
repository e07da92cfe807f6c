// What `svc-monitor.sh status` and `svc doctor` report about a daemon that runs and is degraded, from anywhere on the
// machine.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, testTerminal, until, untilHolds } from '@svc/testkit';
import { expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import { runDoctor } from './run-doctor.ts';
import { storyDaemon } from './story-daemon.ts';

async function svc(home: string, ...words: string[]) {
  const terminal = { ...testTerminal(), home, folder: temporaryFolder() };
  const code = await runCommandLine(terminal, words);
  return { code, printed: terminal.printed(), complained: terminal.complained() };
}

const wrongValue =
  /^broken +configuration +.*\.svc\/config\.json:1: svc\.orchestration\.maxParallel: expected a whole number of at least 1, found number 0\n +See the allowed values: svc config explain svc\.orchestration\.maxParallel$/m;

test('a healthy daemon: status has nothing to add', async () => {
  const { home } = await storyDaemon();
  const { code, printed } = await svc(home, 'monitor', 'status');
  expect(code).toBe(0);
  expect(printed).toMatch(/^daemon +running$/m);
  expect(printed).not.toMatch(/broken|attention/);
  const { health } = JSON.parse((await svc(home, 'monitor', 'status', '--json')).printed);
  expect(health).toMatchObject({ status: 'ok', attention: [] });
});

test('a running daemon: status --json has the fields of the interface first, and start leaves it alone', async () => {
  const { home, port, url } = await storyDaemon();
  mkdirSync(join(home, '.claude/plugins/cache/svc/svc-dev/99.0.0'), { recursive: true });
  const { code, printed } = await svc(home, 'monitor', 'status', '--json');
  expect(code).toBe(0);
  expect(Object.entries(JSON.parse(printed)).slice(0, 7)).toEqual([
    ['running', true],
    ['pid', process.pid],
    ['port', port],
    ['url', `http://127.0.0.1:${port}`],
    ['runningVersion', '1.2.3'],
    ['latestAvailableVersion', '99.0.0'],
    ['isStale', true],
  ]);
  expect(await svc(home, 'monitor', 'start')).toMatchObject({
    code: 0,
    printed: `Already running: pid ${process.pid}, ${url}`,
    complained: expect.stringContaining('warning: version 1.2.3 is older than the installed 99.0.0.'),
  });
});

test('a degraded daemon: status lists every problem with its fix, and the open item', async () => {
  const { home } = await storyDaemon({ settings: { orchestration: { maxParallel: 0 }, feedbak: {} } });
  await untilHolds(async () => {
    const { code, printed } = await svc(home, 'monitor', 'status');
    expect(code).toBe(0);
    expect(printed).toMatch(/^daemon +running, degraded$/m);
    expect(printed).toMatch(/^attention +config-invalid \(svc attention\)$/m);
    expect(printed).toMatch(wrongValue);
    expect(printed).toMatch(/^warning +configuration +.*svc\.feedbak: unknown key\n +Did you mean/m);
  });
  const { code, printed } = await svc(home, 'monitor', 'status', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(printed)).toMatchObject({
    running: true,
    isStale: false,
    health: {
      status: 'degraded',
      problems: [
        { part: 'configuration', grade: 'broken', remedy: expect.stringContaining('svc config explain') },
        { part: 'configuration', grade: 'warning' },
      ],
      attention: ['config-invalid'],
    },
  });
});

test('status lists the parts that do not work, with their fixes', async () => {
  const { home } = await storyDaemon({ environment: { SVC_WEBHOOK_SECRET: 'fifteen letters' } });
  const { code, printed } = await svc(home, 'monitor', 'status');
  expect(code).toBe(0);
  expect(printed).toMatch(
    /^broken +receiver +the codehost receiver .*SVC_WEBHOOK_SECRET is not used: a secret of fewer than 16 characters[^]*Make a new one: svc setup-webhooks --force/m,
  );
});

test('doctor lists the problems of a served project, even when it is run elsewhere', async () => {
  const { home, get } = await storyDaemon();
  const elsewhere = { home, folder: temporaryFolder() };
  expect((await runDoctor(elsewhere)).printed).not.toContain('maxParallel');
  // The project is served because the daemon was started in it; no list names it.
  writeFileSync(join(home, '.svc/config.json'), '{"svc": {"orchestration": {"maxParallel": 0}}}');
  await until(async () => (await get('/api/health')).body['status'] === 'degraded');
  const { code, printed } = await runDoctor(elsewhere);
  expect(code).toBe(1);
  expect(printed).toMatch(wrongValue);
  // In the project the same is reported once.
  const there = await runDoctor({ home });
  expect(there.printed.match(/maxParallel: expected/g)).toHaveLength(1);
});

test('config show and explain: what the daemon uses in place of what the file gives', async () => {
  const { home, get } = await storyDaemon({ settings: { orchestration: { maxParallel: 2 } } });
  const inProject = async (...words: string[]) => {
    const terminal = { ...testTerminal(), home, folder: home };
    expect(await runCommandLine(terminal, ['config', ...words])).toBe(0);
    return terminal.printed();
  };
  expect(await inProject('show')).not.toContain('The daemon uses');
  writeFileSync(
    join(home, '.svc/config.json'),
    '{"svc": {"projectKey": "demo", "orchestration": {"maxParallel": 0}}}',
  );
  await until(async () => (await get('/api/health')).body['status'] === 'degraded');
  const inEffect =
    /2 \(last good value; .*\): .*maxParallel: expected a whole number of at least 1, found number 0/;
  expect(await inProject('show')).toMatch(
    new RegExp(`^The daemon uses other values:\nsvc\\.orchestration\\.maxParallel +${inEffect.source}`, 'm'),
  );
  expect(await inProject('explain', 'svc.orchestration.maxParallel')).toMatch(
    new RegExp(`^ {2}in effect {2}${inEffect.source}`, 'm'),
  );
  expect(JSON.parse(await inProject('explain', 'svc.orchestration.maxParallel', '--json'))[0]).toMatchObject({
    inDaemon: { value: 2, why: expect.stringContaining('expected a whole number') },
  });
});

test('a deprecated name is reported by start and by validate, and by nothing else', async () => {
  const home = temporaryFolder();
  mkdirSync(join(home, '.config/svc'), { recursive: true });
  const otel = { prometheus: 'http://127.0.0.1:9', loki: 'http://127.0.0.1:9' };
  writeFileSync(join(home, '.config/svc/config.json'), JSON.stringify({ otel }), { mode: 0o600 });
  const daemon = await storyDaemon({ home });
  for (const key of ['otel.prometheus', 'otel.loki'])
    expect(daemon.printed().split(`${key}: is deprecated here`), key).toHaveLength(2);
  for (const words of [
    'monitor status',
    'config show',
    'worktree list',
    'archive list',
    'feedback-consent check',
    'feedback-consent status',
    'findings list',
    'rules list',
    'telemetry attributes web',
    'board',
  ]) {
    const { complained, printed } = await svc(home, ...words.split(' '));
    expect(complained, words).not.toContain('stops working in version');
    expect(printed, words).not.toContain('stops working in version');
  }
  expect((await svc(home, 'config', 'validate')).printed.match(/stops working in version/g)).toHaveLength(2);
});
