// A new user's machine: a fresh checkout, the real gh against a fake code host, a fake tracker and a relay; and
// `svc` as a process, at a pseudo-terminal or without one, or in this process. Any daemon that it starts is stopped.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import {
  codehostForTest,
  ghEnvironment,
  startPublicRelay,
  svcProgram,
  temporaryFolder,
  testToken,
  testTracker,
  until,
  WAIT_MS,
} from '@svc/testkit';
import { onTestFinished } from 'vitest';
import { svcInProcess } from './svc-in-process.ts';

/** Runs a command at its own pseudo-terminal; part of every Linux. */
export const pseudoTerminal = '/usr/bin/script';
export const TRACKER_TOKEN = 'hush-tracker-token';

/** A text that appears on the screen, and what is typed then. Each is awaited in order, after the previous one. */
export type Turn = readonly [appears: string, typed: string];

export async function initWorld(more: Record<string, string> = {}) {
  const relay = await startPublicRelay({ pingMs: 500 });
  onTestFinished(() => relay.stop());
  const codehost = await codehostForTest();
  codehost.cloud.addRepo('acme/web');
  const tracker = await testTracker(TRACKER_TOKEN);
  const home = temporaryFolder();
  const folder = join(home, 'web');
  mkdirSync(folder);
  execFileSync('git', ['init', '--quiet', folder]);
  execFileSync('git', ['-C', folder, 'remote', 'add', 'origin', 'git@code.example:acme/web.git']);
  const env: Record<string, string> = {
    ...ghEnvironment(codehost, testToken, `/usr/bin:/bin`),
    HOME: home,
    TERM: 'xterm',
    SVC_MONITOR_PORT: '0',
    SVC_TRACKER_API_URL: tracker.url,
    SVC_RELAY_URL: relay.url,
    ...more,
  };

  const svc = (words: readonly string[], { input = '', cwd = folder } = {}) =>
    new Promise<{ code: number; out: string; err: string }>((resolve) => {
      const child = execFile(process.execPath, [svcProgram, ...words], { cwd, env }, (error, out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code), out, err }),
      );
      child.stdin?.end(input);
    });
  const here = svcInProcess({ home, folder, environment: env });
  onTestFinished(async () => {
    await until(async () => (await here('monitor', 'stop')).code === 0);
  });

  return {
    relay,
    codehost,
    tracker,
    home,
    folder,
    env,
    svc,
    here,
    atTerminal: (words: readonly string[], turns: readonly Turn[]) =>
      atTerminal(words, turns, { cwd: folder, env }),
    read: (path: string) => JSON.parse(readFileSync(join(home, path), 'utf8')),
    text: (path: string) =>
      existsSync(join(home, path)) ? readFileSync(join(home, path), 'utf8') : undefined,
  };
}

async function atTerminal(
  words: readonly string[],
  turns: readonly Turn[],
  place: { cwd: string; env: Record<string, string> },
) {
  const svc = [process.execPath, svcProgram, ...words].map((word) => `'${word}'`).join(' ');
  const child = spawn(pseudoTerminal, ['-qec', `stty rows 50 cols 120; exec ${svc}`, '/dev/null'], place);
  let stuck = setTimeout(() => child.kill('SIGKILL'), WAIT_MS);
  onTestFinished(() => void child.kill('SIGKILL'));
  const open = [...turns];
  let screen = '';
  let seen = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    screen += stripVTControlCharacters(chunk.toString());
    for (let turn = open[0]; turn !== undefined; turn = open[0]) {
      const [appears, typed] = turn;
      const at = screen.indexOf(appears, seen);
      if (at === -1) return;
      seen = at + appears.length;
      open.shift();
      clearTimeout(stuck);
      stuck = setTimeout(() => child.kill('SIGKILL'), WAIT_MS);
      // A prompt reads input before it draws itself.
      if (typed !== '') child.stdin.write(typed);
    }
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(stuck);
  return { code, screen, untyped: open.map(([appears]) => appears) };
}
