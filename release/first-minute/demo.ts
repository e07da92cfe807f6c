// `npx svc demo` as a person starts it in their project, and Ctrl-C.
import { spawn } from 'node:child_process';
import { until, WAIT_MS } from '../../packages/testkit/src/waiting.ts';
import type { Person } from './person.ts';

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
      const url = (): string | undefined => /^Dashboard: (http:\/\/127\.0\.0\.1:\d+)$/m.exec(printed)?.[1];
      await until(() => url() !== undefined || ended.code !== undefined);
      const found = url();
      if (found === undefined) throw new Error(`svc demo ended with ${ended.code}`);
      return found;
    },
    async end() {
      if (ended.code !== undefined) return [`svc demo had ended by itself with ${ended.code}`];
      process.kill(-pid, 'SIGINT');
      await until(() => ended.code !== undefined && !isAlive(-pid)).catch(() => undefined);
      if (isAlive(-pid)) {
        process.kill(-pid, 'SIGKILL');
        return [`svc demo did not end within ${WAIT_MS / 1_000} s of Ctrl-C:\n${printed}`];
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
