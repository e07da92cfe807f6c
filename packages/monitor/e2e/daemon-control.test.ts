// The daemon as a person and a service manager use it: the built program, real processes, signals and ports.
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { temporaryFolder, until } from '@svc/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { svcInProcess } from './svc-in-process.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const bundle = join(root, 'packages', 'monitor', 'dist', 'svc.js');
const source = join(root, 'packages', 'monitor', 'src', 'cli', 'start.ts');
const script = join(root, 'bin', 'svc-monitor.sh');

type Outcome = { code: number; out: string; err: string };

function run(command: string, words: string[], cwd: string, env: Record<string, string>): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(command, words, { cwd, env }, (error, out, err) =>
      // How long it takes on a busy machine is not what these tests are about.
      resolve({
        code: error === null ? 0 : Number(error.code),
        out,
        err: err.replace(/^Waiting for .*\n/m, ''),
      }),
    );
  });
}

/** A home with a project in it. Any daemon that it starts is stopped when the test ends. */
function setUp(given: { environment?: Record<string, string>; project?: unknown; program?: string } = {}) {
  const home = temporaryFolder();
  const app = join(home, 'app');
  const dataDir = join(home, 'svc');
  const write = (path: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
    chmodSync(join(home, path), mode);
  };
  write('app/.svc/config.json', JSON.stringify(given.project ?? {}));
  const env = {
    HOME: home,
    PATH: process.env['PATH'] ?? '',
    SVC_MONITOR_PORT: '0',
    ...given.environment,
  };
  const started = new Set<number>();
  const runHere = async (command: string, words: string[]) => {
    const outcome = await run(command, words, app, env);
    for (const [, pid] of outcome.out.matchAll(/^Started: pid (\d+)/gm)) started.add(Number(pid));
    return outcome;
  };
  const svc = (...words: string[]) =>
    runHere(process.execPath, [given.program ?? bundle, 'monitor', ...words]);
  const here = svcInProcess({ home, folder: app, environment: env });
  const status = async () => {
    const { code, out } = await here('monitor', 'status', '--json');
    return { code, ...JSON.parse(out) };
  };
  onTestFinished(() => {
    for (const pid of started) if (commandOf(pid).includes(home)) process.kill(pid, 'SIGKILL');
  });
  return {
    app,
    dataDir,
    env,
    write,
    svc,
    status,
    /** The status once it runs. A daemon that is slow to answer counts as not running for that moment. */
    statusOnceRunning: () =>
      until(async () => {
        const reported = await status();
        return reported.running ? reported : undefined;
      }),
    /** What the running daemon wrote about itself, once it does. Costs no process, unlike the status. */
    running: () =>
      until(() => {
        const file = join(dataDir, 'daemon.json');
        const record = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
        return record.state === 'running' && commandOf(record.pid) !== '' ? record : undefined;
      }),
    script: (...words: string[]) => runHere(script, words),
    runInForeground: () => {
      const child = spawn(process.execPath, [bundle, 'monitor', 'run'], { cwd: app, env });
      onTestFinished(() => void child.kill('SIGKILL'));
      return child;
    },
  };
}

/** Empty when there is no such process. */
function commandOf(pid: number): string {
  return existsSync(`/proc/${pid}/cmdline`) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : '';
}

function endOf(child: ChildProcess): Promise<number | NodeJS.Signals | null> {
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
}

async function foreignServer(answer: () => object): Promise<{ port: number; server: Server }> {
  const server = createServer((_request, response) => response.end(JSON.stringify(answer())));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => server.close().closeAllConnections());
  return { port: (server.address() as AddressInfo).port, server };
}

test.each(['daemon.lock', '.'])(
  '%s of the data root is removed: it is reported, and restart works',
  async (gone) => {
    const { svc, running, statusOnceRunning, dataDir } = setUp();
    expect((await svc('start')).code).toBe(0);
    const first = await running();
    const healthOf = async (url: string) =>
      (await (await fetch(`${url}/api/health`)).json()) as { dataRoot: { state: string; why?: string } };
    rmSync(join(dataDir, gone), { recursive: true });
    expect((await healthOf(first.url)).dataRoot.why).toContain(`(pid ${first.pid})`);
    // The daemon takes the lock again on its own.
    expect((await statusOnceRunning()).pid).toBe(first.pid);
    const restarted = await svc('restart');
    expect(restarted.out).toMatch(new RegExp(`^Stopped: pid ${first.pid}\nStarted: pid \\d+, http`));
    expect((await healthOf((await running()).url)).dataRoot).toEqual({ state: 'live' });
  },
);

test('start, start again, kill -9, start, restart, stop', async () => {
  const { svc, status, statusOnceRunning, dataDir, app } = setUp();
  const before = await svc('status', '--json');
  expect(before.code).toBe(1);
  expect(JSON.parse(before.out)).toMatchObject({ running: false, pid: null, state: 'stopped' });

  const first = await svc('start');
  expect(first).toMatchObject({ code: 0, err: '' });
  expect(first.out).toMatch(/^Started: pid \d+, http:\/\/127\.0\.0\.1:\d+\n$/);
  const running = await statusOnceRunning();
  expect(running).toMatchObject({ code: 0, running: true, state: 'running', latestAvailableVersion: null });
  expect(running.port).toBeGreaterThan(0);
  expect(readlinkSync(`/proc/${running.pid}/cwd`)).toBe(app);
  expect(statSync(running.logFile).mode & 0o777).toBe(0o600);

  expect(await svc('start')).toMatchObject({
    code: 0,
    out: `Already running: pid ${running.pid}, ${running.url}\n`,
  });
  expect((await statusOnceRunning()).pid).toBe(running.pid);

  process.kill(running.pid, 'SIGKILL');
  await until(() => commandOf(running.pid) === '');
  expect(existsSync(join(dataDir, 'daemon.json'))).toBe(true);
  expect(await status()).toMatchObject({ code: 1, running: false, pid: null, state: 'stopped' });

  expect((await svc('start')).code).toBe(0);
  const second = await statusOnceRunning();
  expect(second.instance).not.toBe(running.instance);

  const restarted = await svc('restart');
  expect(restarted.code).toBe(0);
  expect(restarted.out).toMatch(new RegExp(`^Stopped: pid ${second.pid}\nStarted: pid \\d+, http`));
  const third = await statusOnceRunning();
  expect(third).toMatchObject({ code: 0, running: true });
  expect(third.pid).not.toBe(second.pid);

  expect(await svc('stop')).toMatchObject({ code: 0, out: `Stopped: pid ${third.pid}\n` });
  await until(() => commandOf(third.pid) === '');
  expect(existsSync(join(dataDir, 'daemon.json'))).toBe(false);
  expect(await svc('stop')).toMatchObject({ code: 0, out: 'Not running.\n' });
});

test('ten starts at the same time are one daemon', async () => {
  const { svc, running } = setUp();
  const outcomes = await Promise.all(Array.from({ length: 10 }, () => svc('start')));
  expect(outcomes.map(({ code }) => code)).toEqual(Array(10).fill(0));
  const { pid } = await running();
  expect(new Set(outcomes.map(({ out }) => /pid (\d+)/.exec(out)?.[1]))).toEqual(new Set([String(pid)]));
  expect(outcomes.filter(({ out }) => out.startsWith('Started'))).toHaveLength(1);
});

test('a start that finds another daemon ends its own process, which may still be loading', async () => {
  const home = temporaryFolder();
  const loading = join(home, 'loading');
  const program = join(home, 'slow-svc.mjs');
  writeFileSync(
    program,
    `import { writeFileSync } from 'node:fs';
     if (!process.argv.includes('run')) await import(${JSON.stringify(bundle)});
     else {
       writeFileSync(${JSON.stringify(loading)}, String(process.pid));
       setInterval(() => undefined, 1000);
     }`,
  );
  const { svc, runInForeground, running } = setUp({ program });
  const start = svc('start');
  const pid = await until(
    () => (existsSync(loading) ? Number(readFileSync(loading, 'utf8')) : 0) || undefined,
  );
  onTestFinished(() => void (commandOf(pid).includes(program) && process.kill(pid, 'SIGKILL')));
  const other = runInForeground();
  const { url } = await running();
  expect(await start).toMatchObject({ code: 0, out: `Already running: pid ${other.pid}, ${url}\n` });
  await until(() => commandOf(pid) === '');
});

test('a leftover record of a live foreign process is not the daemon, and that process is left alone', async () => {
  const { svc, status, running, dataDir, write } = setUp();
  const foreigner = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  onTestFinished(() => void foreigner.kill('SIGKILL'));
  const instance = '00000000-0000-4000-8000-000000000001';
  const said = { version: '1.0.0', startedAt: '2026-01-02T03:04:05.678Z', pid: foreigner.pid };
  const { port } = await foreignServer(() => ({
    ...said,
    port,
    url: `http://127.0.0.1:${port}`,
    instance: '00000000-0000-4000-8000-000000000002',
  }));
  const url = `http://127.0.0.1:${port}`;
  write('svc/daemon.json', JSON.stringify({ state: 'running', ...said, instance, port, url }));
  expect(await status()).toMatchObject({ code: 1, running: false, pid: null, state: 'stopped' });
  expect(await svc('stop')).toMatchObject({ code: 0, out: 'Not running.\n' });
  expect((await svc('start')).code).toBe(0);
  expect((await running()).pid).not.toBe(foreigner.pid);
  expect(foreigner.exitCode ?? foreigner.signalCode).toBeNull();
  expect(readFileSync(join(dataDir, 'daemon.json'), 'utf8')).not.toContain(instance);
});

test('a port that another program has is reported with the variable to change', async () => {
  const { port } = await foreignServer(() => ({}));
  const { svc, status } = setUp({ environment: { SVC_MONITOR_PORT: String(port) } });
  const start = await svc('start');
  expect(start.code).toBe(6);
  expect(start.err).toContain(`Port ${port} is in use by another program.`);
  expect(start.err).toContain('SVC_MONITOR_PORT');
  // Only why, without the lines of its log.
  expect(start.err).toMatch(/^error: /);
  expect(start.err).not.toContain('{"');
  const foreground = await svc('run');
  expect(foreground.code).toBe(6);
  expect(foreground.err).toContain(`error: Port ${port} is in use by another program.`);
  expect(await status()).toMatchObject({ code: 1, state: 'stopped', port });
});

test('a daemon that does not answer is distinguished from a stopped one, and is not signalled', async () => {
  const { svc, status, running, statusOnceRunning } = setUp();
  await svc('start');
  const { pid } = await running();
  process.kill(pid, 'SIGSTOP');
  expect(await status()).toMatchObject({ code: 1, running: false, pid, state: 'not-answering' });
  const stop = await svc('stop');
  expect(stop.code).toBe(6);
  expect(stop.err).toContain(`(pid ${pid}) does not answer`);
  process.kill(pid, 'SIGCONT');
  expect(await statusOnceRunning()).toMatchObject({ code: 0, running: true, pid });
});

describe('in the foreground', () => {
  test.each([
    ['SIGTERM', 0],
    ['SIGINT', 130],
  ] as const)('%s closes everything and ends with %i', async (signal, code) => {
    const { runInForeground, running, dataDir } = setUp();
    const child = runInForeground();
    const ended = endOf(child);
    let logged = '';
    child.stdout.on('data', (chunk: Buffer) => (logged += chunk.toString()));
    await running();
    child.kill(signal);
    expect(await ended).toBe(code);
    const messages = logged
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg);
    expect(messages).toContain('daemon started');
    expect(messages.slice(-2)).toEqual(['stopping', 'daemon stopped']);
    expect(existsSync(join(dataDir, 'daemon.json'))).toBe(false);
  });

  test('a second one names the first, and start counts that as success', async () => {
    const { runInForeground, svc, running } = setUp();
    const child = runInForeground();
    const { url } = await running();
    const second = await svc('run');
    expect(second.code).toBe(6);
    expect(second.err).toContain(`is already running: pid ${child.pid}, ${url}`);
    expect(await svc('start')).toMatchObject({ code: 0, out: `Already running: pid ${child.pid}, ${url}\n` });
  });
});

test('it starts and restarts from source as well, each with the warning about a newer version', async () => {
  const { svc, env } = setUp({ program: source });
  mkdirSync(join(env.HOME, '.claude/plugins/cache/svc/svc-dev/99.0.0'), { recursive: true });
  const warning = 'warning: version 0.0.0-source is older than the installed 99.0.0.';
  const started = await svc('start');
  expect(started).toMatchObject({ code: 0, err: expect.stringContaining(warning) });
  const pid = /^Started: pid (\d+), http/.exec(started.out)?.[1];
  expect(commandOf(Number(pid))).toContain(source);
  const restarted = await svc('restart');
  expect(restarted).toMatchObject({ code: 0, err: expect.stringContaining(warning) });
  expect(restarted.out).toMatch(new RegExp(`^Stopped: pid ${pid}\nStarted: pid (?!${pid},)\\d+, http`));
});

describe('version drift', () => {
  const withCache = (project: unknown = {}) => {
    const place = setUp({ project });
    mkdirSync(join(place.env.HOME, '.claude/plugins/cache/svc/svc-dev/99.0.0'), { recursive: true });
    return place;
  };

  test('start and restart warn on stderr, status --json has the same data', async () => {
    const { script: monitor } = withCache();
    const own = readFileSync(join(root, 'version.txt'), 'utf8').trim();
    for (const verb of ['start', 'restart']) {
      const { code, out, err } = await monitor(verb);
      expect(code).toBe(0);
      expect(out).not.toContain('99.0.0');
      expect(err).toContain(`warning: version ${own} is older than the installed 99.0.0.`);
      expect(err).toContain('svc monitor restart');
    }
    const { code, out } = await monitor('status', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      runningVersion: own,
      latestAvailableVersion: '99.0.0',
      isStale: true,
    });
  });

  test('suppressVersionWarning suppresses it', async () => {
    const { script: monitor } = withCache({ svc: { monitor: { suppressVersionWarning: true } } });
    expect(await monitor('start')).toMatchObject({ code: 0, err: '' });
    expect(await monitor('restart')).toMatchObject({ code: 0, err: '' });
  });

  test('an older daemon that still runs is reported at start', async () => {
    const { svc, env, write } = setUp({ environment: { SVC_VERSION_FILE: '~/version.txt' } });
    write('version.txt', '0.0.1');
    await svc('start');
    write('version.txt', '0.0.2');
    const { code, err } = await svc('start');
    expect(code).toBe(0);
    expect(err).toContain('the daemon runs version 0.0.1, older than this svc (0.0.2)');
    expect(env.SVC_MONITOR_PORT).toBe('0');
  });
});

test('start warns once about each deprecated name', async () => {
  const project = { svc: { monitor: { github: { smeeChannel: 'https://relay.example/old' } } } };
  const { svc, write } = setUp({ project });
  const otel = { prometheus: 'http://127.0.0.1:9090', loki: 'http://127.0.0.1:3100' };
  write('.config/svc/config.json', JSON.stringify({ otel }));
  const { code, err } = await svc('start');
  expect(code).toBe(0);
  for (const key of ['svc.monitor.github.smeeChannel', 'otel.prometheus', 'otel.loki']) {
    expect(err.split('\n').filter((line) => line.includes(`${key}: is deprecated here`))).toHaveLength(1);
  }
});

describe('secret files', () => {
  const project = { svc: { monitor: { github: { webhookSecretEnv: 'APP_SECRET' } } } };

  test('fill unset variables of the daemon, and show up nowhere else', async () => {
    const { svc, statusOnceRunning, write } = setUp({
      project,
      environment: { SVC_TRACKER_WEBHOOK_SECRET: '' },
    });
    write('.config/svc/webhook-secret', 'hush-codehost\n', 0o600);
    write('.config/svc/linear-webhook-secret', 'hush-tracker\n', 0o600);
    const start = await svc('start');
    expect(start).toMatchObject({ code: 0, err: '' });
    const { pid, logFile } = await statusOnceRunning();
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    expect(environment).toContain('APP_SECRET=hush-codehost');
    expect(environment).toContain('SVC_TRACKER_WEBHOOK_SECRET=hush-tracker');
    for (const text of [start.out, commandOf(pid), readFileSync(logFile, 'utf8')])
      expect(text).not.toContain('hush');
  });

  test('that others may read are refused with a warning', async () => {
    const { svc, running, write } = setUp({ project });
    write('.config/svc/webhook-secret', 'hush\n', 0o644);
    const start = await svc('start');
    expect(start.code).toBe(0);
    expect(start.err).toMatch(/^warning: .*webhook-secret was not used: its mode 644 is wider than 600/);
    expect(readFileSync(`/proc/${(await running()).pid}/environ`, 'utf8')).not.toContain('hush');
  });

  test('that differ from the variable are reported; the variable wins and no value is printed', async () => {
    const { svc, running, write } = setUp({ project, environment: { APP_SECRET: 'hush-before' } });
    write('.config/svc/webhook-secret', 'hush-rotated\n', 0o600);
    const start = await svc('start');
    expect(start.err).toContain('APP_SECRET differs from the secret in');
    expect(start.out + start.err).not.toContain('hush');
    expect(readFileSync(`/proc/${(await running()).pid}/environ`, 'utf8')).toContain(
      'APP_SECRET=hush-before',
    );
  });
});

test('logs are the daemon’s lines, and --follow continues until Ctrl-C', async () => {
  const { svc, env, app } = setUp();
  await svc('start');
  const { code, out } = await svc('logs', '--json');
  expect(code).toBe(0);
  expect(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg),
  ).toContain('daemon started');
  const following = spawn(process.execPath, [bundle, 'monitor', 'logs', '--follow', '--lines', '1'], {
    cwd: app,
    env,
  });
  onTestFinished(() => void following.kill('SIGKILL'));
  const ended = endOf(following);
  let seen = '';
  following.stdout.on('data', (chunk: Buffer) => (seen += chunk.toString()));
  await until(() => seen !== '');
  await svc('stop');
  await until(() => seen.includes('daemon stopped'));
  following.kill('SIGINT');
  expect(await ended).toBe(130);
});

describe('a project file that nobody can read', () => {
  test.each([
    ['a pipe', (file: string) => void execFileSync('mkfifo', [file])],
    ['a link to itself', (file: string) => symlinkSync('config.json', file)],
  ])('%s: start ends, the daemon stays, stop works', async (_, damage) => {
    const { app, svc, status } = setUp();
    const file = join(app, '.svc/config.json');
    rmSync(file);
    damage(file);
    const { code, out, err } = await svc('start');
    expect({ code, out }, err).toEqual({ code: 0, out: expect.stringMatching(/^Started: pid \d+/) });
    expect(err).toContain(file);
    const { url } = await status();
    // Started means that the first look at every file is over.
    const health = await fetch(`${url}/api/health`).then((answer) => answer.json());
    expect(health).toMatchObject({ filesChecked: true, status: 'degraded' });
    expect(JSON.stringify(health)).toContain(file);
    await expect(svc('stop')).resolves.toMatchObject({ code: 0 });
  });
});
