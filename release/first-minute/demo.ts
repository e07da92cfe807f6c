// `npx svc demo` as a person starts it in their project, and Ctrl-C.
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Person } from './person.ts';

const ADDRESS_WITHIN_MS = 60_000;
const END_WITHIN_MS = 15_000;

export type Demo = {
  printed: () => string;
  /** The dashboard's address, when it is printed. */
  url: () => Promise<string>;
  /** Ctrl-C: a signal to the whole group, as a terminal sends it. Resolves with what is wrong with how it ended. */
  end: () => Promise<string[]>;
};

export function startDemo({ project, environment }: Person): Demo {
  const child = spawn('npx', ['svc', 'demo', '--no-open'], {
    cwd: project,
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('npx could not be started');
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (printed += part));
  const ended: { code?: number | string } = {};
  child.once('close', (code, signal) => (ended.code = code ?? signal ?? 'unknown'));

  return {
    printed: () => printed,
    async url() {
      const deadline = performance.now() + ADDRESS_WITHIN_MS;
      for (;;) {
        const url = /^Dashboard: (http:\/\/127\.0\.0\.1:\d+)$/m.exec(printed)?.[1];
        if (url !== undefined) return url;
        if (ended.code !== undefined) throw new Error(`svc demo ended with ${ended.code}`);
        if (performance.now() > deadline) throw new Error('svc demo gave no address');
        await sleep(20);
      }
    },
    async end() {
      if (ended.code !== undefined) return [`svc demo had ended by itself with ${ended.code}`];
      process.kill(-pid, 'SIGINT');
      const deadline = performance.now() + END_WITHIN_MS;
      while ((ended.code === undefined || isAlive(-pid)) && performance.now() < deadline) await sleep(20);
      if (isAlive(-pid)) {
        process.kill(-pid, 'SIGKILL');
        return [`svc demo did not end within ${END_WITHIN_MS / 1_000} s of Ctrl-C:\n${printed}`];
      }
      return printed.includes('Nothing is left behind')
        ? []
        : [`svc demo did not say that it ended:\n${printed}`];
    },
  };
}

function isAlive(group: number): boolean {
  try {
    process.kill(group, 0);
    return true;
  } catch {
    return false;
  }
}
