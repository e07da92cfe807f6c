// The service manager of this machine: systemd for the user on Linux, launchd on macOS. Which file it reads, and
// which of its commands run the daemon, keep it after log-out, and end it. The commands go through one runner, which
// tests replace.
import { join } from 'node:path';
import {
  type Environment,
  LAUNCHD_LABEL,
  launchdAgent,
  plainWords,
  SERVICE_NAME,
  type ServiceFacts,
  systemdUnit,
} from '@svc/core';
import type { RunCommand } from '@svc/lib/process';
import { Failure } from '../../errors.ts';

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 1024 * 1024;
const UNIT = `${SERVICE_NAME}.service`;

export type ServiceManager = {
  name: 'systemd' | 'launchd';
  file: string;
  contentFor: (facts: ServiceFacts) => string;
  isActive: () => Promise<boolean>;
  /** Reads the file and runs the daemon, now and at every login; `changed`: the file is not the one before. */
  start: (change: { changed: boolean; wasActive: boolean }) => Promise<void>;
  /** Ends the daemon, and forgets it; the file is still there. */
  stop: () => Promise<void>;
  /** After the file was removed. */
  forget: () => Promise<void>;
  /** Whether the daemon goes on after log-out; undefined where that is not a question. */
  lingers: () => Promise<boolean | undefined>;
  linger: () => Promise<void>;
  /** Where a person sees why it did not start. */
  logsCommand: string;
};

export type ServiceHost = { platform: string; uid: number; user: string; run: RunCommand };

export function serviceManagerOf(
  host: ServiceHost,
  given: { home: string; environment: Environment; dataDir: string },
): ServiceManager {
  if (host.platform === 'linux') return systemd(host, given);
  if (host.platform === 'darwin') return launchd(host, given);
  throw new Failure(
    'not-in-this-version',
    `svc knows no service manager on ${host.platform}; it knows systemd (Linux) and launchd (macOS).`,
    'Let yours run, at every login: svc monitor run',
  );
}

function systemd(
  host: ServiceHost,
  { home, environment }: { home: string; environment: Environment },
): ServiceManager {
  const configHome = environment['XDG_CONFIG_HOME'];
  const folder = configHome?.startsWith('/') === true ? configHome : join(home, '.config');
  const ask = asker(host.run, environment);
  const systemctl = (...words: string[]) => ask('systemctl', ['--user', ...words]);
  const need = async (...words: string[]): Promise<void> => {
    const { exitCode, said } = await systemctl(...words);
    if (exitCode === 0) return;
    throw new Failure(
      'start-failed',
      `systemctl --user ${words.join(' ')} failed: ${said || `exit code ${exitCode}`}`,
      /bus|XDG_RUNTIME_DIR/i.test(said)
        ? 'There is no session of systemd for you here. Log in as this user (not by su or sudo), or run first: loginctl enable-linger'
        : `See: systemctl --user status ${UNIT}`,
    );
  };
  return {
    name: 'systemd',
    file: join(folder, 'systemd', 'user', UNIT),
    contentFor: systemdUnit,
    isActive: async () => (await systemctl('is-active', '--quiet', UNIT)).exitCode === 0,
    async start({ changed, wasActive }) {
      await need('daemon-reload');
      await need('enable', '--now', UNIT);
      if (changed && wasActive) await need('restart', UNIT);
    },
    stop: () => need('disable', '--now', UNIT),
    forget: () => need('daemon-reload'),
    async lingers() {
      const { said } = await ask('loginctl', ['show-user', host.user, '--property=Linger']);
      return said.includes('Linger=yes');
    },
    async linger() {
      const { exitCode, said } = await ask('loginctl', ['enable-linger', host.user]);
      if (exitCode === 0) return;
      throw new Failure(
        'start-failed',
        `loginctl enable-linger failed: ${said || `exit code ${exitCode}`}`,
        `Let an administrator run: loginctl enable-linger ${host.user}`,
      );
    },
    logsCommand: `journalctl --user -u ${UNIT} -n 50`,
  };
}

function launchd(
  host: ServiceHost,
  { home, environment, dataDir }: { home: string; environment: Environment; dataDir: string },
): ServiceManager {
  const file = join(home, 'Library', 'LaunchAgents', `${LAUNCHD_LABEL}.plist`);
  const errorFile = join(dataDir, 'logs', 'service.log');
  const domain = `gui/${host.uid}`;
  const target = `${domain}/${LAUNCHD_LABEL}`;
  const ask = asker(host.run, environment);
  const need = async (...words: string[]): Promise<void> => {
    const { exitCode, said } = await ask('launchctl', words);
    if (exitCode === 0) return;
    throw new Failure(
      'start-failed',
      `launchctl ${words.join(' ')} failed: ${said || `exit code ${exitCode}`}`,
      `See: launchctl print ${target}`,
    );
  };
  const isLoaded = async (): Promise<boolean> => (await ask('launchctl', ['print', target])).exitCode === 0;
  return {
    name: 'launchd',
    file,
    contentFor: (facts) => launchdAgent(facts, { errorFile }),
    isActive: isLoaded,
    async start({ changed, wasActive }) {
      if (wasActive && !changed) return;
      if (wasActive) await need('bootout', target);
      await need('enable', target);
      await need('bootstrap', domain, file);
    },
    async stop() {
      if (await isLoaded()) await need('bootout', target);
    },
    forget: async () => undefined,
    // An agent of launchd runs as long as its user is logged in.
    lingers: async () => undefined,
    linger: async () => undefined,
    logsCommand: `cat '${errorFile}'`,
  };
}

function asker(run: RunCommand, given: Environment) {
  const environment = Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return async (file: string, args: readonly string[]): Promise<{ exitCode: number; said: string }> => {
    const end = await run({ file, args, environment, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
    if (end.ended === 'exit') return { exitCode: end.exitCode, said: plainWords(end.stdout + end.stderr) };
    const why = end.ended === 'not-started' ? `it cannot be started (${end.reason})` : end.ended;
    throw new Failure('start-failed', `${file}: ${why}.`, 'Without a service manager: svc monitor start');
  };
}
