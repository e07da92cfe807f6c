// check-project-setup.sh as a person and an unattended run use it: real processes, a real pseudo-terminal, a
// real daemon.
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { svcProgram, temporaryFolder, until } from '@svc/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { svcInProcess } from './svc-in-process.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const helper = join(root, 'bin', 'check-project-setup.sh');
/** Runs a command at its own pseudo-terminal; part of every Linux. */
const pseudoTerminal = '/usr/bin/script';

const project = { svc: { projectKey: 'app', project: { ticketPrefix: 'ABC' }, tracker: { teamKey: 'ABC' } } };

/** A home with a project in it. Any daemon that it starts is stopped when the test ends. */
function setUp(more: Record<string, string> = {}) {
  const home = temporaryFolder();
  const app = join(home, 'app');
  const write = (path: string, text: string, mode: number) => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text, { mode });
  };
  write('app/.svc/config.json', JSON.stringify(project), 0o644);
  write(
    '.config/svc/config-app.json',
    JSON.stringify({ svc: { tracker: { apiToken: 'hush-tracker', teamKey: 'ABC' } } }),
    0o600,
  );
  write('bin/gh', '#!/bin/sh\necho "Logged in to code.example as ann"\n', 0o755);
  execFileSync('git', ['init', '--quiet', app]);
  const env = {
    HOME: home,
    PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}`,
    SVC_MONITOR_PORT: '0',
    TERM: 'dumb',
    ...more,
  };
  const run = (file: string, words: string[]) =>
    new Promise<{ code: number; out: string; err: string }>((resolve) => {
      const child = execFile(file, words, { cwd: app, env }, (error, out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code), out, err }),
      );
      child.stdin?.end();
    });
  const svc = (...words: string[]) => run(process.execPath, [svcProgram, ...words]);
  const here = svcInProcess({ home, folder: app, environment: env });
  const status = async () => JSON.parse((await here('monitor', 'status', '--json')).out);
  onTestFinished(async () => {
    await until(async () => (await here('monitor', 'stop')).code === 0);
  });
  return {
    app,
    home,
    run,
    svc,
    status,
    /** The status once it runs. A daemon that is slow to answer counts as not running for that moment. */
    running: () =>
      until(async () => {
        const current = await status();
        return current.running ? current : undefined;
      }),
    /** At a terminal; `answer` is typed when the question appears. */
    atTerminal: (answer: string) => atTerminal({ cwd: app, env }, answer),
  };
}

async function atTerminal(place: { cwd: string; env: Record<string, string> }, answer: string) {
  const command = [process.execPath, svcProgram, 'check-project-setup'].map((word) => `'${word}'`).join(' ');
  const child = spawn(pseudoTerminal, ['-qec', command, '/dev/null'], place);
  onTestFinished(() => void child.kill('SIGKILL'));
  let screen = '';
  let isAnswered = false;
  child.stdout.on('data', (chunk: Buffer) => {
    screen += chunk.toString();
    if (isAnswered || !screen.includes('[Y/n]')) return;
    isAnswered = true;
    child.stdin.write(answer);
  });
  return { code: await endOf(child), screen, isAsked: () => screen.includes('[Y/n]') };
}

function endOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('close', resolve));
}

describe.skipIf(!existsSync(pseudoTerminal))('at a terminal', () => {
  test.each([
    ['an empty line', '\n'],
    ['y', 'y\n'],
  ])('%s starts the daemon, which serves the project; the next run has nothing to ask', async (_, answer) => {
    const { atTerminal: check, running, app } = setUp();
    const first = await check(answer);
    expect(first.screen).toContain('The daemon: it is not running. Start it? [Y/n] ');
    expect(first.screen).toMatch(/^ok +daemon +started: pid \d+, http:\/\/127\.0\.0\.1:\d+\r?$/m);
    expect(first.code).toBe(0);
    const { pid, url } = await running();
    const health = (await (await fetch(`${url}/api/health`)).json()) as { configuration: object };
    expect(health.configuration).toMatchObject({ folders: [app] });

    const second = await check('');
    expect(second.isAsked()).toBe(false);
    expect(second.screen).toMatch(new RegExp(`^ok +daemon +running: pid ${pid}, ${url}`, 'm'));
    expect(second.code).toBe(0);
  });

  test('n leaves it stopped, with a warning that fails nothing', async () => {
    const { atTerminal: check, status } = setUp();
    const { code, screen } = await check('n\n');
    expect(screen).toMatch(
      /^warning +daemon +it is not running, and was not started: declined\. Start it: /m,
    );
    expect(code).toBe(0);
    expect((await status()).running).toBe(false);
  });

  test('Ctrl-D is not a yes, and Ctrl-C ends it with 130', async () => {
    const { atTerminal: check, status } = setUp();
    expect(await check('\u0004')).toMatchObject({ code: 0 });
    expect(await check('\u0003')).toMatchObject({ code: 130 });
    expect((await status()).running).toBe(false);
  });

  test('with SVC_AUTONOMOUS=1 nothing is asked', async () => {
    const { atTerminal: check, status } = setUp({ SVC_AUTONOMOUS: '1' });
    const { code, screen, isAsked } = await check('');
    expect(isAsked()).toBe(false);
    expect(screen).toContain('warning: the daemon: it is not running. Start it: svc monitor start');
    expect(code).toBe(0);
    expect((await status()).running).toBe(false);
  });
});

test('without a terminal it warns on stderr, continues, and prints no secret', async () => {
  const { svc, home, app } = setUp();
  const { code, out, err } = await svc('check-project-setup', '--json');
  expect(code).toBe(0);
  expect(err).toBe('warning: the daemon: it is not running. Start it: svc monitor start\n');
  const { findings } = JSON.parse(out);
  expect(findings.at(-1)).toMatchObject({ check: 'version', level: 'ok' });
  expect(out + err).not.toContain('hush');
  const global = JSON.parse(readFileSync(join(home, '.config/svc/config.json'), 'utf8'));
  expect(global.svc.projects).toEqual([app]);
});

test('a daemon that was started before the project was registered serves it from then on', async () => {
  const { run, svc, home } = setUp();
  const elsewhere = join(home, 'elsewhere');
  mkdirSync(elsewhere);
  await run('/bin/sh', ['-c', `cd '${elsewhere}' && '${process.execPath}' '${svcProgram}' monitor start`]);
  expect((await svc('check-project-setup')).out).toMatch(/^ok +daemon +running: /m);
});

test('check-project-setup.sh is this verb', async () => {
  const { run } = setUp();
  const { code, out } = await run(helper, []);
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringMatching(/^ok +project-file /) });
});
