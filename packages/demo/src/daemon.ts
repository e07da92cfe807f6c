// The real daemon in the demo's home, as `svc monitor run` starts it, in a clean environment: no login, no key, no
// proxy, and no programs on the PATH but the demo's own.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DemoHome } from './home.ts';

const START_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 2_000;
const SHOWN_LINES = 10;
/** Variables passed on from the machine: temporary folder, language and time zone. */
const passedOn = ['TMPDIR', 'LANG', 'LC_ALL', 'TZ', 'SVC_VERSION_FILE', 'NODE_COMPILE_CACHE'];

/** The daemon's URL, and the headers for every request to it. */
export type DaemonAddress = { url: string; headers: Record<string, string> };

type DemoDaemon = DaemonAddress & {
  ended: Promise<string>;
  /** The last lines it printed. */
  lastOutput: () => string;
};

type StartingDaemon = {
  ready: Promise<DemoDaemon>;
  stop: () => Promise<void>;
  /** Immediately, without waiting. */
  kill: () => void;
};

export class DaemonDidNotStart extends Error {}

export function startDemoDaemon(given: {
  home: DemoHome;
  /** The command that runs svc: node, its flags, the start file. */
  program: readonly string[];
  port: number;
  /** The code host's host and port. */
  codehost: string;
  /** The address of the tracker's API. */
  tracker: string;
  environment: NodeJS.ProcessEnv;
}): StartingDaemon {
  const { home, program, port, codehost, tracker, environment } = given;
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
      SVC_TRACKER_API_URL: tracker,
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
  // A caller that leaves while it starts does not handle the rejection.
  ready.catch(() => undefined);
  return { ready, stop: () => stop(child, ended), kill };
}

async function untilReady(
  child: ChildProcess,
  ended: Promise<string>,
  home: DemoHome,
  log: string,
): Promise<DemoDaemon> {
  const lastOutput = (): string =>
    readFileSync(log, 'utf8').trimEnd().split('\n').slice(-SHOWN_LINES).join('\n');
  let ending: string | undefined;
  void ended.then((how) => (ending = how));
  const deadline = performance.now() + START_WITHIN_MS;
  for (;;) {
    const url = announcedBy(child.pid, join(home.dataDir, 'daemon.json'));
    if (url !== undefined) return { url, headers: tokenHeader(home.dataDir), ended, lastOutput };
    if (ending !== undefined || performance.now() > deadline)
      throw new DaemonDidNotStart(
        `The daemon did not start (${ending ?? 'no response'}). Its last output:\n${lastOutput()}`,
      );
    await sleep(20);
  }
}

/** A daemon that cannot distinguish users, as on macOS, requires the token in a file. */
export function tokenHeader(dataDir: string): Record<string, string> {
  const file = join(dataDir, 'api-token');
  return existsSync(file) ? { authorization: `Bearer ${readFileSync(file, 'utf8').trim()}` } : {};
}

/** Opens the user's browser. Without a browser nothing happens: the URL has been printed. */
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
    // Not there yet; the caller retries.
    return undefined;
  }
}

/** Its data is not kept, so a short timeout is enough. */
async function stop(child: ChildProcess, ended: Promise<string>): Promise<void> {
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
  await ended;
  clearTimeout(late);
}
