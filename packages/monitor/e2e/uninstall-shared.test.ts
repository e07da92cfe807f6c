// svc uninstall, for what is not only svc's: the team, the service manager, and the settings of Claude Code. Nothing of
// others is changed, and what cannot be undone is named.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { natsForTest, svcProgram, temporaryFolder, until } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { testRepository } from '../src/features/worktrees/testing/repository.ts';
import { machine, relayAt } from './team-world.ts';

/** svc as a process of its own, because its daemon is ended. */
function processes(home: string, folder: string, environment: Record<string, string> = {}) {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    SVC_MONITOR_PORT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    ...environment,
  };
  const svc = (...words: string[]) =>
    new Promise<{ code: number; out: string; err: string }>((resolve) => {
      execFile(process.execPath, [svcProgram, ...words], { cwd: folder, env }, (error, out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code), out, err }),
      );
    });
  onTestFinished(async () => {
    await until(async () => (await svc('monitor', 'stop')).code === 0);
  });
  const must = async (...words: string[]): Promise<string> => {
    const { code, out, err } = await svc(...words);
    expect(code, `svc ${words.join(' ')}\n${out}\n${err}`).toBe(0);
    return out;
  };
  return { svc, must };
}

async function teamOfTwo() {
  const nats = await natsForTest();
  const relay = await relayAt(nats.url);
  const one = await machine('one');
  const home = temporaryFolder();
  const two = { home, ...processes(home, home) };
  await two.must('monitor', 'start');
  const args = ['--relay', relay.url, '--name', 'web', '--machine-name', 'one'];
  expect((await one.svc('team', 'create', ...args)).exit).toBe(0);
  const { invitation } = JSON.parse((await one.svc('team', 'invite', '--json')).text) as {
    invitation: string;
  };
  await two.must('team', 'join', invitation, '--machine-name', 'two', '--person', 'kim');
  await until(async () => (await one.teamBoard()).length === 2);
  return { one, two };
}

test('the team: a machine leaves it, and the others no longer see it', async () => {
  const { one, two } = await teamOfTwo();
  expect(await two.must('uninstall', '--dry-run')).toContain(
    'remove  the membership of two in web\n        its keys here, and what this machine published at the relay\n',
  );
  expect(await two.must('uninstall', '--yes')).toContain('Left web\n');
  await until(async () => (await one.teamBoard()).length === 1);
  expect(readdirSync(two.home)).toEqual([]);
});

test('the team: without a daemon its keys go, and the command that removes the machine is named', async () => {
  const { one, two } = await teamOfTwo();
  await two.must('monitor', 'stop');
  const { code, out, err } = await two.svc('uninstall', '--yes');
  expect([code, out]).toEqual([1, expect.stringContaining('Left the team\n')]);
  expect(err).toContain('two in the list of the team: the daemon was not running\n');
  expect(err).toContain("At the administrator's machine: svc team remove two\n");
  expect(existsSync(join(two.home, '.config/svc'))).toBe(false);
  expect((await one.teamBoard()).map(({ machine: name }) => name).toSorted()).toEqual(['one', 'two']);
  expect((await one.svc('team', 'remove', 'two')).exit).toBe(0);
  await until(async () => (await one.teamBoard()).length === 1);
});

const UNIT = '.config/systemd/user/svc-monitor.service';

/** A service manager that does what it is asked, or refuses to; it writes each command down. */
async function serviceWorld({ dataDir }: { dataDir?: string } = {}) {
  const home = temporaryFolder();
  const asked = join(home, 'asked');
  const program = `#!/bin/sh\necho "$*" >> '${asked}'\n[ ! -e '${home}/refuses' ] || { echo 'Failed to connect to bus' >&2; exit 1; }\ncase "$*" in *is-active*) exit 3 ;; esac\n`;
  const write = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text, { mode });
  };
  for (const name of ['systemctl', 'loginctl']) write(`bin/${name}`, program, 0o755);
  const { svc, must } = processes(home, home, { PATH: `${home}/bin:${process.env['PATH']}` });
  const other = processes(home, home, dataDir === undefined ? {} : { SVC_DATA_DIR: dataDir });
  write(UNIT, await other.must('monitor', 'install', '--print'));
  await must('monitor', 'start');
  const unit = (): string | undefined =>
    existsSync(join(home, UNIT)) ? readFileSync(join(home, UNIT), 'utf8') : undefined;
  return { home, svc, must, write, unit, asked: () => readFileSync(asked, 'utf8').trim().split('\n') };
}

test.runIf(process.platform === 'linux')(
  'the service: it is disabled before its file is removed, and its folders are, if they are empty',
  async () => {
    const { home, must, asked, unit } = await serviceWorld();
    expect(await must('uninstall', '--dry-run')).toContain(
      `remove  the service ${join(home, UNIT)}\n        it starts the daemon at login\n`,
    );
    expect(unit()).toBeDefined();
    expect(await must('uninstall', '--yes')).toContain(`Removed the service ${join(home, UNIT)}\n`);
    expect(asked()).toEqual(['--user disable --now svc-monitor.service', '--user daemon-reload']);
    expect(readdirSync(home).toSorted()).toEqual(['asked', 'bin']);
  },
);

test.runIf(process.platform === 'linux')(
  'the service: while it cannot be disabled, nothing else is removed, because it would start the daemon again',
  async () => {
    const { home, svc, must, write, unit } = await serviceWorld();
    write('refuses', '');
    const { code, err } = await svc('uninstall', '--yes');
    expect([code, err]).toEqual([6, expect.stringContaining('systemctl --user disable')]);
    expect(err).toContain('loginctl enable-linger');
    expect(unit()).toBeDefined();
    expect(existsSync(join(home, 'svc/events'))).toBe(true);
    writeFileSync(join(home, 'bin/systemctl'), '#!/bin/sh\n', { mode: 0o755 });
    await must('uninstall', '--yes');
    expect(unit()).toBeUndefined();
  },
);

test.runIf(process.platform === 'linux')('the service of another data folder stays', async () => {
  const { home, must, asked, unit } = await serviceWorld({ dataDir: join(temporaryFolder(), 'elsewhere') });
  const before = unit();
  const out = await must('uninstall', '--yes');
  expect(out).toContain(`keep    the service ${join(home, UNIT)}\n        it serves another data folder\n`);
  expect(unit()).toBe(before);
  expect(() => asked()).toThrow('ENOENT');
});

const settings = (more: object): string =>
  `${JSON.stringify({ theme: 'dark', projects: { '/home/kim/own': { hasTrustDialogAccepted: true } }, ...more }, null, 3)}\n`;

async function trustWorld(text: string | undefined) {
  const { home, folder, write, environment } = testRepository(temporaryFolder());
  write(folder, '.svc/config.json', JSON.stringify({ svc: { projectKey: 'demo' } }));
  mkdirSync(join(home, '.claude'));
  const file = join(home, '.claude.json');
  if (text !== undefined) writeFileSync(file, text, { mode: 0o600 });
  const { svc, must } = processes(home, folder, environment);
  await must('worktree', 'create', 'ABC-1');
  const worktree = join(home, 'svc/wt/demo/ABC-1');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ projects: { [worktree]: {} } });
  return { home, folder, file, worktree, svc, must };
}

test('trust in Claude Code: entries of worktrees go, also of those that are gone, and every other byte stays', async () => {
  const before = settings({ last: [1, 2] });
  const { file, worktree, must } = await trustWorld(before);
  const gone = join(dirname(worktree), 'ABC-0');
  const data = JSON.parse(readFileSync(file, 'utf8')) as { projects: Record<string, object> };
  data.projects[gone] = { hasTrustDialogAccepted: true };
  writeFileSync(file, `${JSON.stringify(data, null, 3)}\n`);
  expect(await must('uninstall', '--dry-run')).toContain(
    'remove  the folders of worktrees in ~/.claude.json\n        svc marked 2 worktrees as trusted there\n',
  );
  expect(await must('uninstall', '--yes')).toContain('Removed the folders of worktrees in ~/.claude.json\n');
  expect(readFileSync(file, 'utf8')).toBe(before);
});

test('trust in Claude Code: a file that only svc has written goes', async () => {
  const { file, must } = await trustWorld(undefined);
  await must('uninstall', '--yes');
  expect(existsSync(file)).toBe(false);
});

test('trust in Claude Code: a file that cannot be read is not changed, and is named', async () => {
  const { home, file, svc, must } = await trustWorld(settings({}));
  const broken = readFileSync(file, 'utf8').slice(0, -4);
  writeFileSync(file, broken);
  const { code, err } = await svc('uninstall', '--yes');
  expect([code, err]).toEqual([1, expect.stringContaining('the folders of worktrees in ~/.claude.json: ')]);
  expect(err).toContain(`${file} is not valid JSON`);
  expect(readFileSync(file, 'utf8')).toBe(broken);
  expect(existsSync(join(home, '.config/svc'))).toBe(false);
  writeFileSync(file, settings({}));
  await must('uninstall', '--yes');
});
