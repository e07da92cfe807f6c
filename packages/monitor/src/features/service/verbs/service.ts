// Installs and removes the daemon as a service of systemd (Linux, for the user) or launchd (macOS). Both can be repeated;
// neither touches a file that svc did not write. Commands go through one runner, which tests replace.
import { unlink } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { systemErrorCode } from '@svc/lib/errors';
import { ifPresent } from '@svc/lib/files';
import { lookNow, readText } from '@svc/lib/paths';
import { type RunCommand, runCommand } from '@svc/lib/process';
import { type System, system } from '@svc/lib/system';
import type { Session } from '../../../cli/kit/session.ts';
import type { Terminal } from '../../../cli/kit/terminal.ts';
import { type DoctorFinding, doctorFinding } from '../../../kernel/check/finding.ts';
import type { Machine } from '../../../kernel/config/environment.ts';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import { writeFileAtomically } from '../../../kernel/disk/atomic-write.ts';
import { Failure } from '../../../kernel/failure.ts';
import { logFileOf } from '../../../kernel/instance/log-file.ts';
import { plainWords } from '../../codehost/api-answer.ts';
import {
  isOwnService,
  LAUNCHD_LABEL,
  launchdAgent,
  programOfService,
  SERVICE_NAME,
  type ServiceFacts,
  servicePath,
  serviceProblem,
  systemdUnit,
} from '../service-files.ts';

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 1024 * 1024;
const UNIT = `${SERVICE_NAME}.service`;

export type ServiceManager = {
  name: 'systemd' | 'launchd';
  file: string;
  contentFor: (facts: ServiceFacts) => string;
  isActive: () => Promise<boolean>;
  /** Reads the file and runs the daemon, now and at every login; `changed`: the file is different than before. */
  start: (change: { changed: boolean; wasActive: boolean }) => Promise<void>;
  /** Stops the daemon and disables it; the file still exists. */
  stop: () => Promise<void>;
  /** Called after the file was removed. */
  forget: () => Promise<void>;
  /** Whether the daemon keeps running after log-out; undefined if there is no such setting. */
  lingers: () => Promise<boolean | undefined>;
  linger: () => Promise<void>;
  /** Shows why it did not start. */
  logsCommand: string;
};

export type ServiceHost = Pick<System, 'serviceManager'> & { uid: number; user: string; run: RunCommand };

export function serviceManagerOf(
  host: ServiceHost,
  given: { home: string; environment: Environment; dataDir: string },
): ServiceManager {
  if (host.serviceManager === 'systemd') return systemd(host, given);
  if (host.serviceManager === 'launchd') return launchd(host, given);
  throw new Failure(
    'not-in-this-version',
    'svc supports systemd (Linux) and launchd (macOS), but no service manager of this system.',
    'Configure your service manager to run this at login: svc monitor run',
  );
}

function systemd(
  host: ServiceHost,
  { home, environment }: { home: string; environment: Environment },
): ServiceManager {
  const configHome = environment['XDG_CONFIG_HOME'];
  const folder = configHome?.startsWith('/') === true ? configHome : join(home, '.config');
  const ask = commandRunner(host.run, environment);
  const systemctl = (...args: string[]) => ask('systemctl', ['--user', ...args]);
  const need = async (...args: string[]): Promise<void> => {
    const { exitCode, output } = await systemctl(...args);
    if (exitCode === 0) return;
    throw new Failure(
      'start-failed',
      `systemctl --user ${args.join(' ')} failed: ${output || `exit code ${exitCode}`}`,
      /bus|XDG_RUNTIME_DIR/i.test(output)
        ? 'There is no systemd session for this user. Log in as this user (not by su or sudo), or run first: loginctl enable-linger'
        : `Find out why: systemctl --user status ${UNIT}`,
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
      const { output } = await ask('loginctl', ['show-user', host.user, '--property=Linger']);
      return output.includes('Linger=yes');
    },
    async linger() {
      const { exitCode, output } = await ask('loginctl', ['enable-linger', host.user]);
      if (exitCode === 0) return;
      throw new Failure(
        'start-failed',
        `loginctl enable-linger failed: ${output || `exit code ${exitCode}`}`,
        `Ask an administrator to run: loginctl enable-linger ${host.user}`,
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
  const ask = commandRunner(host.run, environment);
  const need = async (...args: string[]): Promise<void> => {
    const { exitCode, output } = await ask('launchctl', args);
    if (exitCode === 0) return;
    throw new Failure(
      'start-failed',
      `launchctl ${args.join(' ')} failed: ${output || `exit code ${exitCode}`}`,
      `Find out why: launchctl print ${target}`,
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
    // A launchd agent runs as long as its user is logged in.
    lingers: async () => undefined,
    linger: async () => undefined,
    logsCommand: `cat '${errorFile}'`,
  };
}

function commandRunner(run: RunCommand, given: Environment) {
  const environment = Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return async (file: string, args: readonly string[]): Promise<{ exitCode: number; output: string }> => {
    const end = await run({ file, args, environment, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
    if (end.ended === 'exit') return { exitCode: end.exitCode, output: plainWords(end.stdout + end.stderr) };
    const why = end.ended === 'not-started' ? `it cannot be started (${end.reason})` : end.ended;
    throw new Failure('start-failed', `${file}: ${why}.`, 'Without a service manager: svc monitor start');
  };
}

export const thisMachine = (read: typeof userInfo = userInfo): ServiceHost => {
  const { uid, username } = whoRuns(read);
  return { serviceManager: system.serviceManager, uid, user: username, run: runCommand };
};

/** In a container a user may have no name; a service manager accepts the number too. */
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

/** Undefined without a supported service manager. */
export function managerIfAny(terminal: Terminal, session: Session): ServiceManager | undefined {
  const host = thisMachine();
  return host.serviceManager === undefined ? undefined : managerFor(terminal, session, host);
}

export async function installedService(
  terminal: Terminal,
  session: Session,
): Promise<InstalledService | null> {
  const manager = managerIfAny(terminal, session);
  return manager === undefined ? null : findService(manager);
}

/** Settings for one start or for tests, which do not belong in the service file. */
const temporary = new Set(['SVC_ORCHESTRATE_TIMINGS']);

export function factsFor(
  program: readonly string[],
  machine: Machine,
  given: Pick<System, 'serviceManager'> & { path: string | undefined },
): ServiceFacts {
  const [node = ''] = program;
  const facts = {
    program: [...program, 'monitor', 'run', '--log-file', logFileOf(machine.dataDir)],
    path: servicePath(given.path, { nodeFolder: dirname(node), serviceManager: given.serviceManager }),
    settings: machine.settings.filter(
      ({ fromEnvironment, variable }) => fromEnvironment && !temporary.has(variable),
    ),
  };
  const problem = serviceProblem(facts);
  if (problem === undefined) return facts;
  throw new Failure('usage', `The service file cannot be written: ${problem}.`);
}

/** The text of the service file, if it exists. */
function readService(file: string): Promise<string | undefined> {
  return ifPresent(readText(file));
}

export type Installed = { changed: boolean; wasActive: boolean };

export async function installService(
  manager: ServiceManager,
  facts: ServiceFacts,
  /** Stops a daemon that was started by hand: two cannot share a data root. */
  stopOther: () => Promise<void>,
): Promise<Installed> {
  const before = await readService(manager.file);
  requireOwnFile(manager, before);
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
  requireOwnFile(manager, before);
  await manager.stop();
  await unlink(manager.file);
  await manager.forget();
  return true;
}

function requireOwnFile({ file }: ServiceManager, text: string | undefined): void {
  if (text === undefined || isOwnService(text)) return;
  throw new Failure(
    'not-allowed-now',
    `${file} was not written by svc, so it was not changed.`,
    'If you do not need it, remove it and run this again.',
  );
}

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
  exists: (path: string) => boolean = (path) => lookNow(path).state === 'present',
): Promise<DoctorFinding[]> {
  const text = await readService(manager.file);
  if (text === undefined || !isOwnService(text)) return [];
  const program = programOfService(text) ?? [];
  // The absolute paths before the verb: node and svc.
  const files = program.slice(0, program.indexOf('monitor')).filter((word) => word.startsWith('/'));
  const gone = files.filter((path) => !exists(path));
  if (gone.length === 0 && files.length > 0)
    return [
      doctorFinding('daemon', 'ok', `the ${manager.name} service is installed`, { evidence: manager.file }),
    ];
  return [
    doctorFinding('daemon', 'broken', 'the installed service starts a program that is gone', {
      evidence: `${gone.join(', ') || 'no program'}, named in ${manager.file}`,
      remedy: 'Write it again with the current svc: svc monitor install',
    }),
  ];
}
