// The service manager of this machine: systemd for the user on Linux, launchd on macOS. Which file it reads, and
// which of its commands run the daemon, keep it after log-out, and end it. The commands go through one runner, which
// tests replace.
// Installs and removes the daemon as a service. Both may be repeated; neither touches a file that is not ours.

import { existsSync } from 'node:fs';
import { readFile, unlink } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import {
  type DoctorFinding,
  doctorFinding,
  type Environment,
  isOwnService,
  LAUNCHD_LABEL,
  launchdAgent,
  plainWords,
  programOfService,
  SERVICE_NAME,
  type ServiceFacts,
  servicePath,
  serviceProblem,
  systemdUnit,
} from '@svc/core';
import { systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { type RunCommand, runCommand } from '@svc/lib/process';
import type { Machine } from '../../config/environment.ts';
import { logFileOf } from '../../control/log-file.ts';
import { writeFileAtomically } from '../../disk/atomic-write.ts';
import { Failure } from '../../errors.ts';
import type { Session } from '../session.ts';
import type { Terminal } from '../terminal.ts';

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

/** Of one start, or for tests: they are not this machine's. */
const passing = new Set(['SVC_ORCHESTRATE_TIMINGS']);

export function factsFor(
  program: readonly string[],
  machine: Machine,
  given: { path: string | undefined; platform: string },
): ServiceFacts {
  const [node = ''] = program;
  const facts = {
    program: [...program, 'monitor', 'run', '--log-file', logFileOf(machine.dataDir)],
    path: servicePath(given.path, { nodeFolder: dirname(node), platform: given.platform }),
    settings: machine.settings.filter(
      ({ fromEnvironment, variable }) => fromEnvironment && !passing.has(variable),
    ),
  };
  const problem = serviceProblem(facts);
  if (problem === undefined) return facts;
  throw new Failure('usage', `The service cannot be written: ${problem}.`);
}

/** The file of the service, when it is there. */
function readService(file: string): Promise<string | undefined> {
  return ifPresent(readFile(file, 'utf8'));
}

export type Installed = { changed: boolean; wasActive: boolean };

export async function installService(
  manager: ServiceManager,
  facts: ServiceFacts,
  /** Ends a daemon that was started by hand: two cannot have one data root. */
  stopOther: () => Promise<void>,
): Promise<Installed> {
  const before = await readService(manager.file);
  demandOwn(manager, before);
  const content = manager.contentFor(facts);
  const changed = content !== before;
  const wasActive = before !== undefined && (await manager.isActive());
  if (changed) await writeFileAtomically(manager.file, content, { mode: 0o644 });
  if (!wasActive) await stopOther();
  await manager.start({ changed, wasActive });
  return { changed, wasActive };
}

/** False when there was nothing to remove. */
export async function uninstallService(manager: ServiceManager): Promise<boolean> {
  const before = await readService(manager.file);
  if (before === undefined) return false;
  demandOwn(manager, before);
  await manager.stop();
  await unlink(manager.file);
  await manager.forget();
  return true;
}

function demandOwn({ file }: ServiceManager, text: string | undefined): void {
  if (text === undefined || isOwnService(text)) return;
  throw new Failure(
    'not-allowed-now',
    `${file} was not made by svc, so that it is left alone.`,
    'If it is not needed, remove it by hand and run this again.',
  );
}

// The service as it is on the disk: for `status`, and for the doctor, who looks whether its programs are still there.

export type InstalledService = { manager: ServiceManager['name']; file: string };

export async function findService(
  manager: Pick<ServiceManager, 'name' | 'file'>,
): Promise<InstalledService | null> {
  const text = await readService(manager.file);
  return text !== undefined && isOwnService(text) ? { manager: manager.name, file: manager.file } : null;
}

/** Node and the start file of svc may move with an upgrade; the service would fail at the next login. */
export async function checkService(
  manager: Pick<ServiceManager, 'name' | 'file'>,
  exists: (path: string) => boolean = existsSync,
): Promise<DoctorFinding[]> {
  const text = await readService(manager.file);
  if (text === undefined || !isOwnService(text)) return [];
  const program = programOfService(text) ?? [];
  // What begins with a slash before the verb: node, and svc.
  const files = program.slice(0, program.indexOf('monitor')).filter((word) => word.startsWith('/'));
  const gone = files.filter((path) => !exists(path));
  if (gone.length === 0 && files.length > 0)
    return [
      doctorFinding('daemon', 'ok', `the ${manager.name} service is installed`, { evidence: manager.file }),
    ];
  return [
    doctorFinding('daemon', 'broken', 'the installed service starts a program that is gone', {
      evidence: `${gone.join(', ') || 'no program'}, named in ${manager.file}`,
      remedy: 'Write it anew with the svc of today: svc monitor install',
    }),
  ];
}
