import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testTerminal } from '@svc/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../../../cli/run.ts';
import { thisProcess } from '../../../kernel/instance/control.ts';
import { claimInstance } from '../../../kernel/instance/instance.ts';
import { monitorVerbs } from './monitor.ts';

function machine(environment: Record<string, string> = {}) {
  const terminal = testTerminal({ environment });
  const dataDir = join(terminal.home, 'svc');
  return { terminal, dataDir, svc: (...words: string[]) => runCommandLine(terminal, ['monitor', ...words]) };
}

/** The data root as a daemon that hangs leaves it: held, recorded, and nobody answers. */
function hang(dataDir: string) {
  const instance = claimInstance(dataDir);
  onTestFinished(() => instance?.withdraw());
  const record = {
    state: 'running',
    instance: '00000000-0000-4000-8000-000000000001',
    pid: 4_194_305,
    port: 1,
    url: 'http://127.0.0.1:1',
    version: '0.0.1',
    startedAt: '2026-01-02T03:04:05.678Z',
  };
  writeFileSync(join(dataDir, 'daemon.json'), JSON.stringify(record));
}

test('status --json of a stopped daemon: the fields of the interface first, exit 1', async () => {
  const { terminal, dataDir, svc } = machine({ SVC_MONITOR_PORT: '7411' });
  expect(await svc('status', '--json')).toBe(1);
  expect(terminal.printed()).toMatch(/^\{[^]*\}$/);
  expect(Object.entries(JSON.parse(terminal.printed()))).toEqual([
    ['running', false],
    ['pid', null],
    ['port', 7411],
    ['url', 'http://127.0.0.1:7411'],
    ['runningVersion', '0.0.0-source'],
    ['latestAvailableVersion', null],
    ['isStale', false],
    ['state', 'stopped'],
    ['startedAt', null],
    ['instance', null],
    ['dataDir', dataDir],
    ['logFile', join(dataDir, 'logs', 'monitor.log')],
    ['service', null],
    ['health', null],
  ]);
  expect(existsSync(dataDir)).toBe(false);
});

test('status as text shows how to start it', async () => {
  const { terminal, svc } = machine();
  expect(await svc('status')).toBe(1);
  expect(terminal.printed()).toMatch(/^daemon +stopped$/m);
  expect(terminal.printed()).toMatch(/^url +http:\/\/127\.0\.0\.1:7400$/m);
  expect(terminal.complained()).toBe('Start it: svc monitor start');
});

test('status reads the version from the version file and the latest from the cache', async () => {
  const { terminal, svc } = machine();
  const cache = join(terminal.home, '.claude', 'plugins', 'cache', 'svc', 'svc-dev');
  mkdirSync(join(cache, '1.10.0'), { recursive: true });
  mkdirSync(join(cache, '1.9.0'));
  writeFileSync(join(terminal.home, 'version.txt'), '1.9.0\n');
  const withFile = { ...terminal.environment, SVC_VERSION_FILE: '~/version.txt' };
  expect(await runCommandLine({ ...terminal, environment: withFile }, ['monitor', 'status', '--json'])).toBe(
    1,
  );
  expect(JSON.parse(terminal.printed())).toMatchObject({
    runningVersion: '1.9.0',
    latestAvailableVersion: '1.10.0',
    isStale: true,
  });
  expect(await svc('status')).toBe(1);
  expect(terminal.complained()).toContain('svc monitor restart');
});

describe('an older version', () => {
  /** Version 1.9.0 beside an installed 1.10.0; whatever it starts ends at once. */
  async function older(verb: string, project: object = {}) {
    const { terminal } = machine();
    const inside = {
      ...terminal,
      environment: { ...terminal.environment, SVC_VERSION_FILE: '~/version.txt' },
    };
    mkdirSync(join(terminal.home, '.claude/plugins/cache/svc/svc-dev/1.10.0'), { recursive: true });
    mkdirSync(join(terminal.home, '.svc'));
    writeFileSync(join(terminal.home, '.svc/config.json'), JSON.stringify(project));
    writeFileSync(join(terminal.home, 'version.txt'), '1.9.0\n');
    const verbs = monitorVerbs(inside, () => undefined, { ...thisProcess, program: ['/bin/false'] });
    await expect(verbs.parseAsync([verb], { from: 'user' })).rejects.toMatchObject({ code: 'start-failed' });
    return terminal;
  }

  test.each(['start', 'restart'])('%s warns of it on stderr, with the remedy', async (verb) => {
    const terminal = await older(verb);
    // A slow start says more.
    expect(terminal.complained()).toMatch(
      /^warning: version 1\.9\.0 is older than the installed 1\.10\.0\.\nUpdate svc, then run: svc monitor restart/,
    );
    expect(terminal.printed()).not.toContain('1.10.0');
  });

  test.each(['start', 'restart'])('%s does not warn where the project suppresses it', async (verb) => {
    const terminal = await older(verb, { svc: { monitor: { suppressVersionWarning: true } } });
    expect(terminal.complained()).toBe('');
  });
});

test('from a clone without a plugin cache the version is that of its version.txt, and none is newer', async () => {
  const { terminal } = machine();
  writeFileSync(join(terminal.home, 'version.txt'), '7.8.9\n');
  const environment = { ...terminal.environment, SVC_VERSION_FILE: '~/version.txt' };
  expect(await runCommandLine({ ...terminal, environment }, ['monitor', 'status', '--json'])).toBe(1);
  expect(JSON.parse(terminal.printed())).toMatchObject({
    runningVersion: '7.8.9',
    latestAvailableVersion: null,
    isStale: false,
  });
});

test('a daemon that hangs is neither running nor stopped, and its pid is not signalled', async () => {
  const { terminal, dataDir, svc } = machine();
  hang(dataDir);
  expect(await svc('status', '--json')).toBe(1);
  expect(JSON.parse(terminal.printed())).toMatchObject({
    running: false,
    pid: 4_194_305,
    state: 'not-answering',
    runningVersion: '0.0.1',
  });
  expect(await svc('status')).toBe(1);
  expect(terminal.printed()).toContain('running, but not answering');
  expect(await svc('stop')).toBe(6);
  expect(terminal.complained()).toContain('does not answer');
  expect(terminal.complained()).toContain('kill -9 4194305');
});

test.each(['start', 'run'])('%s with an unusable data root is an error', async (verb) => {
  const { terminal, svc } = machine({ SVC_DATA_DIR: '~/file' });
  writeFileSync(join(terminal.home, 'file'), '');
  expect(await svc(verb)).toBe(6);
  expect(terminal.complained()).toContain(`The data root ${join(terminal.home, 'file')} cannot be used`);
});

test('stopping a stopped daemon does nothing', async () => {
  const { terminal, svc } = machine();
  expect(await svc('stop')).toBe(0);
  expect(terminal.printed()).toBe('Not running.');
});

test('logs: the last lines, or that there are none', async () => {
  const { terminal, dataDir, svc } = machine();
  expect(await svc('logs')).toBe(1);
  expect(terminal.complained()).toContain('There is no log yet');
  mkdirSync(join(dataDir, 'logs'), { recursive: true });
  writeFileSync(
    join(dataDir, 'logs', 'monitor.log'),
    Array.from({ length: 60 }, (_, n) => `line ${n}\n`).join(''),
  );
  expect(await svc('logs')).toBe(0);
  expect(terminal.printed().split('\n')).toHaveLength(50);
  expect(await svc('logs', '--lines', '1')).toBe(0);
  expect(terminal.printed().split('\n').slice(50)).toEqual(['line 59']);
  expect(await svc('logs', '--lines', 'many')).toBe(2);
  const line = '{"level":30,"time":"2026-01-02T03:04:05.678Z","pid":7,"msg":"listening","port":7400}';
  writeFileSync(join(dataDir, 'logs', 'monitor.log'), `${line}\n`);
  expect(await svc('logs', '--lines', '1')).toBe(0);
  expect(await svc('logs', '--lines', '1', '--json')).toBe(0);
  expect(terminal.printed().split('\n').slice(51)).toEqual([
    '2026-01-02T03:04:05.678Z info  listening port=7400',
    line,
  ]);
});
