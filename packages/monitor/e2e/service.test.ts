// The service as a service manager runs it: with the command and environment of the printed file and nothing from the
// shell. The manager itself is not part of this test.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createCommand } from '@commander-js/extra-typings';
import type { CommandEnd, RunCommand } from '@svc/lib/process';
import { svcProgram, temporaryFolder, testTerminal, until } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../src/cli/run.ts';
import { installVerb, uninstallVerb } from '../src/features/monitor/verbs/monitor.ts';
import { programOfService } from '../src/features/service/service-files.ts';
import { thisProcess } from '../src/kernel/instance/control.ts';

const SECRET = 'f'.repeat(64);

test('a daemon without the shell’s environment gets its secrets from the files, and serves the listed projects', async () => {
  const home = temporaryFolder();
  const project = join(home, 'web');
  const write = (path: string, content: string, mode = 0o600): void => {
    mkdirSync(join(home, path, '..'), { recursive: true });
    writeFileSync(join(home, path), content, { mode });
  };
  write('web/.svc/config.json', JSON.stringify({ svc: { projectKey: 'web' } }), 0o644);
  write('.config/svc/config.json', JSON.stringify({ svc: { projects: [project] } }));
  write('.config/svc/webhook-secret', `${SECRET}\n`);
  write('.config/svc/linear-webhook-secret', 'hush', 0o644);
  const shell = { HOME: home, PATH: '/usr/bin:/bin', SVC_MONITOR_PORT: '0', SVC_WEBHOOK_SECRET: SECRET };
  const svc = (...words: string[]) =>
    execFileSync(process.execPath, [svcProgram, ...words], { cwd: project, env: shell, encoding: 'utf8' });

  const unit = svc('monitor', 'install', '--print');
  expect(unit).not.toContain(SECRET);
  const [node = '', ...words] = programOfService(unit) ?? [];
  const environment = Object.fromEntries(
    [...unit.matchAll(/^Environment="([A-Z_]+)=(.*)"$/gm)].map(([, name = '', value]) => [name, value]),
  );
  const daemon = spawn(node, words, {
    cwd: '/',
    env: { HOME: home, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const said = text(daemon.stderr);
  onTestFinished(() => void daemon.kill('SIGKILL'));
  const record = join(home, 'svc/daemon.json');
  const urlOf = (): string => (JSON.parse(readFileSync(record, 'utf8')) as { url?: string }).url ?? '';
  await until(() => existsSync(record) && urlOf() !== '');
  const url = urlOf();

  const body = JSON.stringify({ zen: 'Keep it logically awesome.', hook_id: 1 });
  const answer = await fetch(`${url}/api/webhook`, {
    method: 'POST',
    body,
    headers: {
      'Content-Type': 'application/json',
      'X-Codehost-Event': 'ping',
      'X-Codehost-Delivery': crypto.randomUUID(),
      'X-Hub-Signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
    },
  });
  expect(answer.status).toBe(200);
  const health = (await (await fetch(`${url}/api/health`)).json()) as { configuration: object };
  expect(health.configuration).toMatchObject({ folders: [project] });

  const ended = new Promise((resolve) => daemon.once('exit', resolve));
  daemon.kill('SIGTERM');
  expect(await ended).toBe(0);
  // A file that others may read is not used, and the message about it has the format of the log.
  expect(JSON.parse(await said)).toMatchObject({ level: 40, msg: expect.stringContaining('wider than 600') });
});

test('install, status and uninstall, with a service manager that obeys', async () => {
  const home = temporaryFolder();
  const file = join(home, '.config/systemd/user/svc-monitor.service');
  const environment = {
    HOME: home,
    PATH: '/usr/bin:/bin',
    SVC_MONITOR_PORT: '0',
    GH_TOKEN: 'hush-token',
  };
  const commands: string[] = [];
  let daemon: ChildProcess | undefined;
  onTestFinished(() => void daemon?.kill('SIGKILL'));
  const run: RunCommand = async ({ file: name, args }) => {
    const words = [name, ...args].join(' ');
    commands.push(words);
    const done = (exitCode: number, stdout = ''): CommandEnd => ({
      ended: 'exit',
      exitCode,
      stdout,
      stderr: '',
    });
    if (words.includes('is-active')) return done(daemon?.exitCode === null ? 0 : 3);
    if (words.includes('show-user')) return done(0, 'Linger=no');
    if (words.includes('enable --now') && daemon?.exitCode !== null) {
      const [node = '', ...rest] = programOfService(readFileSync(file, 'utf8')) ?? [];
      daemon = spawn(node, rest, { cwd: '/', env: { HOME: home, SVC_MONITOR_PORT: '0' }, stdio: 'ignore' });
    }
    if (words.includes('disable --now') && daemon !== undefined) {
      const ended = once(daemon, 'exit');
      daemon.kill('SIGTERM');
      await ended;
    }
    return done(0);
  };
  const place = () => ({ serviceManager: 'systemd' as const, uid: 501, user: 'ann', run });
  const svc = async (answers: string[], ...words: string[]) => {
    const terminal = { ...testTerminal({ environment, answers }), home, folder: home };
    const host = { ...thisProcess, program: [process.execPath, svcProgram] };
    const program = createCommand('svc')
      .addCommand(installVerb(terminal, host, place))
      .addCommand(uninstallVerb(terminal, place));
    await program.parseAsync(words, { from: 'user' });
    return { out: terminal.printed(), err: terminal.complained(), questions: terminal.questions };
  };

  expect((await svc([], 'uninstall')).out).toBe('Not installed.');
  const first = await svc(['y'], 'install');
  expect(first.out).toMatch(/^Installed: .*svc-monitor\.service\nRunning: pid \d+, http:/);
  expect(first.out).toContain('It keeps running after log-out');
  expect(first.questions).toHaveLength(1);
  expect(first.err).toContain('GH_TOKEN is set only in this shell');
  expect(first.out + first.err + readFileSync(file, 'utf8')).not.toContain('hush');
  expect(commands).toContain('loginctl enable-linger ann');

  const again = await svc(['n'], 'install');
  expect(again.out).toMatch(/^Already installed: /);
  expect(again.out).toContain('It stops when you log out.');

  const status = { ...testTerminal({ environment }), home, folder: home };
  expect(await runCommandLine(status, ['monitor', 'status'])).toBe(0);
  expect(status.printed()).toMatch(/^service +systemd, .*svc-monitor\.service$/m);

  expect((await svc([], 'uninstall')).out).toBe(`Stopped and removed: ${file}`);
  expect(existsSync(file)).toBe(false);
});
