// `svc demo` as a user starts it, in its own process group and temporary folder.
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { svcProgram, until } from '@svc/testkit';
import { onTestFinished } from 'vitest';

export type DemoProcess = {
  pid: number;
  printed: () => string;
  /** Resolves with the dashboard's URL once it is printed. */
  url: () => Promise<string>;
  /** Like Ctrl-C in a terminal: a signal to the whole group. */
  signalGroup: (name: NodeJS.Signals) => void;
  /** Resolves with the exit code, or the signal that ended it. */
  ended: Promise<number | string>;
};

type Given = { temporary: string; home: string; words: readonly string[]; path?: string };

export function startDemo(given: Given): DemoProcess {
  return started(given, process.execPath, [svcProgram, 'demo', '--no-open', ...given.words]);
}

/** At a real terminal, that of script(1), where a key can be pressed. */
export function startDemoAtTerminal(given: Given): DemoProcess & { press: (keys: string) => void } {
  const words = [process.execPath, svcProgram, 'demo', '--no-open', ...given.words];
  const command = words.map((word) => `'${word}'`).join(' ');
  return started(given, 'script', ['-qfec', `exec ${command}`, '/dev/null']);
}

function started(
  given: Given,
  program: string,
  words: readonly string[],
): DemoProcess & { press: (keys: string) => void } {
  const child = spawn(program, words, {
    cwd: given.home,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      HOME: given.home,
      PATH: given.path ?? process.env['PATH'],
      TMPDIR: given.temporary,
      // The same as without a changed temporary folder.
      NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'),
      GH_TOKEN: 'a-token-of-this-machine',
      HTTPS_PROXY: 'http://127.0.0.1:9',
    },
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('svc demo could not be started');
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (printed += part));
  const ended = endOf(child);
  const signalGroup = (name: NodeJS.Signals): void => void process.kill(-pid, name);
  onTestFinished(() => {
    // The group is empty if all went well.
    if (groupIsAlive(pid)) signalGroup('SIGKILL');
  });
  return {
    pid,
    press: (keys) => void child.stdin.write(keys),
    printed: () => printed,
    url: () =>
      until(() => {
        const url = /^Dashboard: (http:\/\/127\.0\.0\.1:\d+)\r?$/m.exec(printed)?.[1];
        if (url === undefined) throw new Error(`it printed no URL, but:\n${printed}`);
        return url;
      }),
    signalGroup,
    ended,
  };
}

function endOf(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
}

/** Whether any process of the group is running, the daemon included. */
export function groupIsAlive(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}

export const homesIn = (temporary: string): string[] =>
  readdirSync(temporary).filter((name) => name.startsWith('svc-demo-'));

/** The process of the demo itself, started by the verb. */
export function demoPidIn(temporary: string): number {
  const [home = ''] = homesIn(temporary);
  return (JSON.parse(readFileSync(join(temporary, home, 'demo.json'), 'utf8')) as { pid: number }).pid;
}
