// The real daemon in the demo's home, as `svc monitor run` starts it, with an environment that holds nothing of
// this machine: no login, no key, no proxy, and no program to be found but the demo's own.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DemoHome } from './home.ts';

const START_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 2_000;
const SHOWN_LINES = 10;
/** Of the machine: where temporary files lie, its language and its time zone. */
const passedOn = ['TMPDIR', 'LANG', 'LC_ALL', 'TZ', 'SVC_VERSION_FILE', 'NODE_COMPILE_CACHE'];

/** Where the daemon answers, and the headers of every request to it. */
export type DaemonAddress = { url: string; headers: Record<string, string> };

type DemoDaemon = DaemonAddress & {
  ended: Promise<string>;
  /** What it printed last. */
  lastWords: () => string;
};

type StartingDaemon = {
  ready: Promise<DemoDaemon>;
  stop: () => Promise<void>;
  /** At once, without waiting. */
  kill: () => void;
};

export class DaemonDidNotStart extends Error {}

export function startDemoDaemon(given: {
  home: DemoHome;
  /** The command that runs svc: node, its flags, the start file. */
  program: readonly string[];
  port: number;
  /** Where the code host is. */
  codehost: string;
  environment: NodeJS.ProcessEnv;
}): StartingDaemon {
  const { home, program, port, codehost, environment } = given;
  const [command = process.execPath, ...words] = program;
  const log = join(home.path, 'daemon.log');
  const output = openSync(log, 'a', 0o600);
  const child = spawn(command, [...words, 'monitor', 'run'], {
    cwd: home.project,
    env: {
      ...Object.fromEntries(passedOn.map((name) => [name, environment[name]])),
      HOME: home.path,
      PATH: join(home.path, 'bin'),
      GH_HOST: codehost,
      SVC_CONFIG_DIR: join(home.path, '.config/svc'),
      SVC_DATA_DIR: home.dataDir,
      SVC_MONITOR_PORT: String(port),
      SVC_WEBHOOK_SECRET: home.secrets.codehost,
      SVC_TRACKER_WEBHOOK_SECRET: home.secrets.tracker,
    },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  const kill = (): void => void child.kill('SIGKILL');
  const ready = untilReady(child, ended, home, log);
  // Whoever leaves while it starts has no use for the rejection.
  ready.catch(() => undefined);
  return { ready, stop: () => stop(child, ended), kill };
}

async function untilReady(
  child: ChildProcess,
  ended: Promise<string>,
  home: DemoHome,
  log: string,
): Promise<DemoDaemon> {
  const lastWords = (): string =>
    readFileSync(log, 'utf8').trimEnd().split('\n').slice(-SHOWN_LINES).join('\n');
  let ending: string | undefined;
  void ended.then((how) => (ending = how));
  const deadline = performance.now() + START_WITHIN_MS;
  for (;;) {
    const url = announcedBy(child.pid, join(home.dataDir, 'daemon.json'));
    if (url !== undefined) return { url, headers: tokenHeader(home.dataDir), ended, lastWords };
    if (ending !== undefined || performance.now() > deadline)
      throw new DaemonDidNotStart(
        `The daemon did not start (${ending ?? 'it does not answer'}). It said:\n${lastWords()}`,
      );
    await sleep(20);
  }
}

/** A daemon that cannot tell users apart, as on macOS, asks for the token of a file. */
export function tokenHeader(dataDir: string): Record<string, string> {
  const file = join(dataDir, 'api-token');
  return existsSync(file) ? { authorization: `Bearer ${readFileSync(file, 'utf8').trim()}` } : {};
}

/** In the person's browser. Where there is none nothing happens: the address has been printed. */
export function openDashboard(
  program: readonly string[],
  { dataDir }: DemoHome,
  environment: NodeJS.ProcessEnv,
): void {
  const [command = process.execPath, ...words] = program;
  const opener = spawn(command, [...words, 'open'], {
    stdio: 'ignore',
    detached: true,
    env: { ...environment, SVC_DATA_DIR: dataDir },
  });
  opener.on('error', () => undefined);
  opener.unref();
}

function announcedBy(pid: number | undefined, file: string): string | undefined {
  try {
    const found = JSON.parse(readFileSync(file, 'utf8')) as { pid: number; url: string; state?: string };
    return found.pid === pid && found.state === 'running' ? found.url : undefined;
  } catch {
    // Not there yet; it is looked at again.
    return undefined;
  }
}

/** Nothing of it is kept, so that it need not be waited for long. */
async function stop(child: ChildProcess, ended: Promise<string>): Promise<void> {
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
  await ended;
  clearTimeout(late);
}
