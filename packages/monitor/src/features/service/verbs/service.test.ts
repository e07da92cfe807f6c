// The service by a recording runner: which commands, in which order, and that nothing of others is touched. The
// service managers themselves are not run here.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command, CommandEnd } from '@svc/lib/process';
import { temporaryFolder } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { readMachine } from '../../../kernel/config/environment.ts';
import {
  checkService,
  factsFor,
  findService,
  installService,
  serviceManagerOf,
  uninstallService,
} from './service.ts';

const program = ['/opt/node/bin/node', '/opt/svc/svc.js'];

/** `answers`: what a command ends with, by its beginning; 0 otherwise. */
function place(
  serviceManager: 'systemd' | 'launchd' | undefined,
  given: Record<string, { exitCode?: number; said?: string }> = {},
) {
  const answers = { ...given };
  const home = temporaryFolder();
  const commands: string[] = [];
  const run = async ({ file, args }: Command): Promise<CommandEnd> => {
    const words = [file, ...args].join(' ');
    commands.push(words.replaceAll(home, '~'));
    const [, answer] = Object.entries(answers).find(([begin]) => words.startsWith(begin)) ?? [];
    return { ended: 'exit', exitCode: answer?.exitCode ?? 0, stdout: answer?.said ?? '', stderr: '' };
  };
  const environment = { HOME: home, PATH: '/usr/bin', SVC_MONITOR_PORT: '7500', SVC_WEBHOOK_SECRET: 'hush' };
  const machine = readMachine(environment, home);
  const manager = serviceManagerOf(
    { serviceManager, uid: 501, user: 'ann', run },
    { home, environment, dataDir: machine.dataDir },
  );
  const facts = factsFor(program, machine, { path: environment.PATH, serviceManager });
  const install = () => installService(manager, facts, async () => void commands.push('(stop by hand)'));
  const setAnswer = (begin: string, answer: { exitCode?: number; said?: string }): void =>
    void (answers[begin] = answer);
  return { home, manager, facts, machine, commands, install, setAnswer };
}

describe('systemd', () => {
  const inactive = { 'systemctl --user is-active': { exitCode: 3 } };

  test('install writes the unit, stops a daemon that was started by hand, and starts the service', async () => {
    const { manager, home, commands, install } = place('systemd', inactive);
    expect(await install()).toEqual({ changed: true, wasActive: false });
    expect(manager.file).toBe(join(home, '.config/systemd/user/svc-monitor.service'));
    expect(commands).toEqual([
      '(stop by hand)',
      'systemctl --user daemon-reload',
      'systemctl --user enable --now svc-monitor.service',
    ]);
    const unit = readFileSync(manager.file, 'utf8');
    expect(unit).toContain(
      `ExecStart="/opt/node/bin/node" "/opt/svc/svc.js" "monitor" "run" "--log-file" "${home}/svc/logs/monitor.log"`,
    );
    expect(unit).toContain('Environment="PATH=/usr/bin:/opt/node/bin:/usr/local/bin:/bin"');
    expect(unit).toContain('Environment="SVC_MONITOR_PORT=7500"');
    expect(unit).not.toContain('hush');
    expect(await findService(manager)).toEqual({ manager: 'systemd', file: manager.file });
  });

  test('again it changes nothing; a new path of svc restarts it', async () => {
    const { manager, machine, facts, commands, install } = place('systemd');
    await install();
    commands.length = 0;
    expect(await install()).toEqual({ changed: false, wasActive: true });
    expect(commands).toEqual([
      'systemctl --user is-active --quiet svc-monitor.service',
      'systemctl --user daemon-reload',
      'systemctl --user enable --now svc-monitor.service',
    ]);
    const moved = factsFor(['/opt/node/bin/node', '/new/svc.js'], machine, {
      path: '/bin',
      serviceManager: 'systemd',
    });
    expect(moved).not.toEqual(facts);
    await installService(manager, moved, async () => undefined);
    expect(commands.at(-1)).toBe('systemctl --user restart svc-monitor.service');
  });

  test('uninstall stops it and removes the file; again there is nothing to do', async () => {
    const { manager, commands, install } = place('systemd', inactive);
    await install();
    commands.length = 0;
    expect(await uninstallService(manager)).toBe(true);
    expect(existsSync(manager.file)).toBe(false);
    expect(commands).toEqual([
      'systemctl --user disable --now svc-monitor.service',
      'systemctl --user daemon-reload',
    ]);
    expect(await uninstallService(manager)).toBe(false);
    expect(await findService(manager)).toBeNull();
  });

  test('a file that svc did not write is neither replaced nor removed', async () => {
    const { manager, commands, install } = place('systemd');
    mkdirSync(dirname(manager.file), { recursive: true });
    writeFileSync(manager.file, '[Unit]\nDescription=mine\n');
    await expect(install()).rejects.toThrow('was not written by svc');
    await expect(uninstallService(manager)).rejects.toThrow('was not written by svc');
    expect(readFileSync(manager.file, 'utf8')).toBe('[Unit]\nDescription=mine\n');
    expect(commands).toEqual([]);
    expect(await findService(manager)).toBeNull();
  });

  test('without a systemd session it reports how to get one, and the next run continues', async () => {
    const said = 'Failed to connect to bus: No medium found';
    const { manager, commands, install, setAnswer } = place('systemd', {
      ...inactive,
      'systemctl --user daemon-reload': { exitCode: 1, said },
    });
    await expect(install()).rejects.toMatchObject({
      code: 'start-failed',
      message: expect.stringContaining(said),
      remedy: expect.stringContaining('loginctl enable-linger'),
    });
    setAnswer('systemctl --user daemon-reload', {});
    await install();
    expect(commands.at(-1)).toBe('systemctl --user enable --now svc-monitor.service');
    expect(await findService(manager)).not.toBeNull();
  });

  test('lingering is read and enabled by loginctl', async () => {
    const { manager, commands } = place('systemd', { 'loginctl show-user': { said: 'Linger=no\n' } });
    expect(await manager.lingers()).toBe(false);
    await manager.linger();
    expect(commands).toEqual(['loginctl show-user ann --property=Linger', 'loginctl enable-linger ann']);
  });

  test('XDG_CONFIG_HOME is where the unit goes', () => {
    const run = async (): Promise<CommandEnd> => ({ ended: 'stopped' });
    const { file } = serviceManagerOf(
      { serviceManager: 'systemd', uid: 1, user: 'ann', run },
      { home: '/h', environment: { XDG_CONFIG_HOME: '/x' }, dataDir: '/d' },
    );
    expect(file).toBe('/x/systemd/user/svc-monitor.service');
  });
});

describe('launchd', () => {
  const notLoaded = { 'launchctl print': { exitCode: 113 } };

  test('install writes the agent and bootstraps it; again it does nothing; after a change it is loaded again', async () => {
    const { manager, machine, home, commands, install, setAnswer } = place('launchd', notLoaded);
    expect(await install()).toEqual({ changed: true, wasActive: false });
    const agent = '~/Library/LaunchAgents/svc.monitor.plist';
    expect(commands).toEqual([
      '(stop by hand)',
      'launchctl enable gui/501/svc.monitor',
      `launchctl bootstrap gui/501 ${agent}`,
    ]);
    expect(readFileSync(join(home, 'Library/LaunchAgents/svc.monitor.plist'), 'utf8')).not.toContain('hush');
    setAnswer('launchctl print', {});
    commands.length = 0;
    expect(await install()).toEqual({ changed: false, wasActive: true });
    expect(commands).toEqual(['launchctl print gui/501/svc.monitor']);
    await installService(
      manager,
      factsFor(['/new/node', '/new/svc.js'], machine, { path: '/bin', serviceManager: 'launchd' }),
      async () => undefined,
    );
    expect(commands.slice(-3)).toEqual([
      'launchctl bootout gui/501/svc.monitor',
      'launchctl enable gui/501/svc.monitor',
      `launchctl bootstrap gui/501 ${agent}`,
    ]);
  });

  test('uninstall removes it, whether or not it is loaded', async () => {
    const { manager, commands, install } = place('launchd', notLoaded);
    await install();
    commands.length = 0;
    expect(await uninstallService(manager)).toBe(true);
    expect(commands).toEqual(['launchctl print gui/501/svc.monitor']);
    expect(existsSync(manager.file)).toBe(false);
    expect(await manager.lingers()).toBeUndefined();
  });
});

test('on another system the error shows the alternative', () => {
  expect(() => place(undefined)).toThrow('no service manager of this system');
});

test('a program without an absolute path is rejected', () => {
  const { machine } = place('systemd');
  expect(() => factsFor(['node'], machine, { path: '/bin', serviceManager: 'systemd' })).toThrow(
    'not an absolute path',
  );
});

test('the doctor finds a service whose program no longer exists', async () => {
  const { manager, install } = place('systemd');
  expect(await checkService(manager)).toEqual([]);
  await install();
  expect(await checkService(manager, () => true)).toMatchObject([{ part: 'daemon', grade: 'ok' }]);
  expect(await checkService(manager, (path) => path !== '/opt/svc/svc.js')).toMatchObject([
    {
      part: 'daemon',
      grade: 'broken',
      what: 'the installed service starts a program that is gone',
      evidence: `/opt/svc/svc.js, named in ${manager.file}`,
      remedy: expect.stringContaining('svc monitor install'),
    },
  ]);
});
