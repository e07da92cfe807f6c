// The service manager of this machine: systemd for the user on Linux, launchd on macOS. Which file it reads, and
// which of its commands run the daemon, keep it after log-out, and end it. The commands go through one runner, which
// tests replace.

import { userInfo } from 'node:os';
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
import { systemErrorCode } from '@svc/lib/errors';
import { type RunCommand, runCommand } from '@svc/lib/process';
import { Failure } from '../../errors.ts';
import type { Session } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { findService, type InstalledService } from './install.ts';

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

// The service manager of the machine that svc runs on, for the person who runs it.

export const thisMachine = (read: typeof userInfo = userInfo): ServiceHost => {
  const { uid, username } = whoRuns(read);
  return { platform: process.platform, uid, user: username, run: runCommand };
};

/** A user of a container may have a number and no name: a service manager takes the number too. */
function whoRuns(read: typeof userInfo): { uid: number; username: string } {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Error) || systemErrorCode(error) !== 'ERR_SYSTEM_ERROR') throw error;
    const uid = process.getuid?.() ?? -1;
    return { uid, username: String(uid) };
  }
}

export function managerFor(terminal: Terminal, { machine }: Session, host: ServiceHost): ServiceManager {
  return serviceManagerOf(host, {
    home: terminal.home,
    environment: terminal.environment,
    dataDir: machine.dataDir,
  });
}

/** Undefined where there is no service manager that svc knows. */
export function managerIfAny(terminal: Terminal, session: Session): ServiceManager | undefined {
  const host = thisMachine();
  return host.platform === 'linux' || host.platform === 'darwin'
    ? managerFor(terminal, session, host)
    : undefined;
}

export async function installedService(
  terminal: Terminal,
  session: Session,
): Promise<InstalledService | null> {
  const manager = managerIfAny(terminal, session);
  return manager === undefined ? null : findService(manager);
}
