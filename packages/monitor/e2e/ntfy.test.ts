// A real ntfy server: what arrives there when somebody is asked. `.ci/ntfy` downloads the server; without one the test is
// skipped, which the report names, and the texts are tested with a server of our own (src/features/attention/io/notifiers).
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom, temporaryFolder, until } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../testkit/src/daemon/free-port.ts';
import { startInProcess } from './in-process-daemon.ts';

const fetched = join(import.meta.dirname, '../../../.cache/ntfy/usr/bin/ntfy');
const program = process.env['NTFY'] ?? (existsSync(fetched) ? fetched : 'ntfy');
const isThere = spawnSync(program, ['serve', '--help'], { stdio: 'ignore' }).status === 0;

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  await ended;
}

/** An ordinary process on loopback, with its own empty configuration, that keeps its messages in memory. */
async function startNtfy(): Promise<string> {
  const folder = temporaryFolder();
  const port = await freePort(createRandom(process.pid * 1_000 + (Date.now() % 1_000)));
  const url = `http://127.0.0.1:${port}`;
  writeFileSync(join(folder, 'server.yml'), '');
  const server = spawn(
    program,
    [
      'serve',
      '--config',
      join(folder, 'server.yml'),
      '--base-url',
      url,
      '--listen-http',
      `127.0.0.1:${port}`,
    ],
    { cwd: folder, env: { PATH: process.env['PATH'], HOME: folder }, stdio: 'ignore' },
  );
  onTestFinished(() => end(server));
  await until(() =>
    fetch(`${url}/v1/health`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return url;
}

type Message = { event: string; title: string; message: string; priority: number; tags: string[] };

test.skipIf(!isThere)(
  'the question and its ticket arrive at a real ntfy server (needs .ci/ntfy)',
  async () => {
    const topic = `${await startNtfy()}/svc-of-kim`;
    const home = temporaryFolder();
    mkdirSync(join(home, '.config/svc'), { recursive: true, mode: 0o700 });
    const settings = { svc: { notify: { ntfy: { url: topic }, minSeverity: 'low' } } };
    writeFileSync(join(home, '.config/svc/config.json'), JSON.stringify(settings), { mode: 0o600 });
    const daemon = await startInProcess({ home });
    const question = 'Which berths count as „Winterplätze“? \u202e\u001b[31m';
    const event = {
      event: 'comms.attention',
      source: 'orchestrator',
      via: 'local',
      scope: { orchestrator: 'run-1', ticket: 'ENG-7' },
      detail: { reason: 'question', severity: 'high', message: question, remedy: 'svc attention' },
    };
    const json = { 'Content-Type': 'application/json' };
    expect((await daemon.post('/api/events', JSON.stringify(event), json)).status).toBe(200);
    const messages = async (): Promise<Message[]> =>
      (await (await fetch(`${topic}/json?poll=1`)).text())
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Message);
    await until(async () => (await messages()).length > 0);
    const [message, ...others] = await messages();
    expect(others).toEqual([]);
    expect(message).toMatchObject({
      event: 'message',
      title: 'svc: ENG-7: question',
      message: expect.stringMatching(/^Which berths count as „Winterplätze“\?.*\nsvc attention$/),
      priority: 5,
      tags: ['rotating_light'],
    });
    expect(message?.message).not.toMatch(/\p{Cc}(?<!\n)|\p{Cf}/u);
  },
);
