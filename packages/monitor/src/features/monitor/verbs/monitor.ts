// svc monitor start | stop | restart | status | logs | run | install | uninstall
import { type CommandUnknownOpts, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { daemonAt } from '../../../cli/kit/daemon-client.ts';
import { printFinding } from '../../../cli/kit/print.ts';
import { openSession, type Session } from '../../../cli/kit/session.ts';
import {
  AnswerIsNo,
  isInteractive,
  meansYes,
  paint,
  printJson,
  printTable,
  type Terminal,
} from '../../../cli/kit/terminal.ts';
import { verb, verbGroup } from '../../../cli/kit/verb.ts';
import { VERSION } from '../../../cli/kit/version.ts';
import { type LifetimeOptions, runUntilStopped } from '../../../daemon/lifetime.ts';
import type { DoctorFinding } from '../../../kernel/check/finding.ts';
import { Failure } from '../../../kernel/failure.ts';
import { type Host, stopDaemon, thisProcess } from '../../../kernel/instance/control.ts';
import { findDaemon, remedyFor, waitForDaemon } from '../../../kernel/instance/find-daemon.ts';
import { followLines, lastLines, logFileOf } from '../../../kernel/instance/log-file.ts';
import { readableLine } from '../../../kernel/instance/log-text.ts';
import { reportStatus, type StatusReport } from '../../../kernel/instance/status.ts';
import { driftWarning, ownVersion } from '../../../kernel/instance/version-drift.ts';
import {
  factsFor,
  type InstalledService,
  installedService,
  installService,
  managerFor,
  type ServiceManager,
  thisMachine,
  uninstallService,
} from '../../service/verbs/service.ts';
import { environmentWithSecrets, findDrift, startFromTerminal } from './start-from-terminal.ts';

// svc monitor install | uninstall

const ANSWER_WITHIN_MS = 30_000;

/** With these set, gh needs no login; a service does not have the shell's. */
const shellTokens = ['GH_TOKEN', 'GITHUB_TOKEN', 'GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN'];

export function installVerb(terminal: Terminal, host: Host, hostFacts = thisMachine): CommandUnknownOpts {
  return verb('install', {
    summary: 'Run the daemon as a systemd or launchd service',
    details:
      'It starts now, at every login, and after a crash. Run this again after an upgrade that moved node or svc. Secrets are read from files of mode 600, never from the shell.\nExit codes: 0 installed and running, 1 the existing file is not ours, 6 the service manager failed',
    example: ['svc monitor install', 'svc monitor install --linger', 'svc monitor install --print'],
  })
    .option('--print', 'print the service file and install nothing')
    .option('--linger', 'run after log-out and before login too (systemd)')
    .action(async (options) => {
      const session = openSession(terminal);
      const machine = hostFacts();
      const manager = managerFor(terminal, session, machine);
      const { PATH: path } = terminal.environment;
      const facts = factsFor(host.program, session.machine, { path, serviceManager: machine.serviceManager });
      if (options.print) return terminal.out(manager.contentFor(facts).trimEnd());
      const stopOther = () => stopByHand(terminal, host, session);
      const { changed, wasActive } = await installService(manager, facts, stopOther);
      terminal.out(
        `${changed ? (wasActive ? 'Updated' : 'Installed') : 'Already installed'}: ${manager.file}`,
      );
      terminal.out(await answering(terminal, session, manager));
      warnOfShell(terminal, host.program);
      await keepAfterLogout(terminal, manager, options.linger === true);
    });
}

export function uninstallVerb(terminal: Terminal, hostFacts = thisMachine): CommandUnknownOpts {
  return verb('uninstall', {
    summary: 'Remove the service and stop its daemon; all data stays',
    example: 'svc monitor uninstall',
  }).action(async () => {
    const manager = managerFor(terminal, openSession(terminal), hostFacts());
    const removed = await uninstallService(manager);
    terminal.out(removed ? `Stopped and removed: ${manager.file}` : 'Not installed.');
    if (removed && (await manager.lingers()) === true)
      terminal.out(
        'Your user services still run after log-out. If you do not need that: loginctl disable-linger',
      );
  });
}

async function stopByHand(terminal: Terminal, host: Host, { machine }: Session): Promise<void> {
  const pid = await stopDaemon({
    dataDir: machine.dataDir,
    signal: host.signal,
    interrupted: terminal.interrupted,
  });
  if (pid !== undefined) terminal.out(`Stopped the daemon that was started by hand: pid ${pid}`);
}

async function answering(
  terminal: Terminal,
  { machine }: Session,
  { logsCommand }: ServiceManager,
): Promise<string> {
  const found = await waitForDaemon(machine.dataDir, ({ state }) => state === 'running', {
    timeoutMs: ANSWER_WITHIN_MS,
    interrupted: terminal.interrupted,
  });
  if (found.state === 'running') return `Running: pid ${found.daemon.pid}, ${found.daemon.url}`;
  throw new Failure(
    'start-failed',
    `The service is installed, but its daemon does not answer (${found.state}).`,
    `Find out why: ${logsCommand}; svc monitor logs`,
  );
}

function warnOfShell({ environment, err }: Terminal, program: readonly string[]): void {
  const set = shellTokens.filter((name) => (environment[name] ?? '') !== '');
  if (set.length > 0)
    err(
      `warning: ${set.join(', ')} is set only in this shell; the service uses the login of gh. Log in: gh auth login -s admin:repo_hook`,
    );
  if (program.some((word) => word.includes('/_npx/')))
    err(
      'warning: this svc is in the cache of npx, which may be deleted at any time. Install it, then run this again: npm install --global svc-monitor',
    );
}

/** systemd stops a user's services at log-out, unless lingering is enabled. */
async function keepAfterLogout(terminal: Terminal, manager: ServiceManager, wanted: boolean): Promise<void> {
  if ((await manager.lingers()) !== false) return;
  const isWanted =
    wanted ||
    (isInteractive(terminal) &&
      meansYes(await terminal.ask('Keep it running after log-out (loginctl enable-linger)? [Y/n] ')));
  if (!isWanted) {
    terminal.out(
      'It stops when you log out. To keep it running, also after a reboot: loginctl enable-linger',
    );
    return;
  }
  await manager.linger();
  terminal.out('It keeps running after log-out and starts at boot (loginctl enable-linger).');
}

const HEALTH = 'GET /api/health';
const HEALTH_WITHIN_MS = 5_000;

type MakeDoctor = (terminal: Terminal) => LifetimeOptions['runDoctor'];

export function monitorVerbs(
  terminal: Terminal,
  makeDoctor: MakeDoctor,
  host: Host = thisProcess,
): CommandUnknownOpts {
  return verbGroup(
    'monitor',
    { summary: 'Start, stop and inspect the daemon', example: 'svc monitor start' },
    [
      startVerb(terminal, host),
      stopVerb(terminal, host),
      restartVerb(terminal, host),
      statusVerb(terminal),
      logsVerb(terminal),
      runVerb(terminal, makeDoctor, host),
      installVerb(terminal, host),
      uninstallVerb(terminal),
    ],
  );
}

function startVerb(terminal: Terminal, host: Host): CommandUnknownOpts {
  return verb('start', {
    summary: 'Start the daemon in the background, unless it runs',
    example: 'svc monitor start',
    route: HEALTH,
  }).action(() => unlessInterrupted(terminal, start(terminal, host, openSession(terminal))));
}

function stopVerb(terminal: Terminal, host: Host): CommandUnknownOpts {
  return verb('stop', {
    summary: 'Stop the daemon, if it runs',
    example: 'svc monitor stop',
    route: HEALTH,
  }).action(() => unlessInterrupted(terminal, stop(terminal, host, openSession(terminal))));
}

function restartVerb(terminal: Terminal, host: Host): CommandUnknownOpts {
  return verb('restart', {
    summary: 'Restart the daemon with this version and environment',
    example: 'svc monitor restart',
    route: HEALTH,
  }).action(async () => {
    const session = openSession(terminal);
    await unlessInterrupted(terminal, stop(terminal, host, session));
    await unlessInterrupted(terminal, start(terminal, host, session));
  });
}

function statusVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('status', {
    summary: 'Show whether the daemon runs, where, and its problems',
    details: 'Exit codes: 0 it runs and answers, even with problems; 1 it does not',
    example: ['svc monitor status', 'svc monitor status --json'],
    route: `${HEALTH}, GET /api/attention`,
  })
    .option('--json', 'print JSON')
    .action(async (options) => {
      const session = openSession(terminal);
      const { machine } = session;
      const found = await findDaemon(machine.dataDir);
      const own = ownVersion(machine.versionFile, VERSION);
      const report = await reportStatus(found, machine, own);
      const service = await installedService(terminal, session);
      const health = found.state === 'running' ? await healthOf(machine, found.daemon.url) : null;
      if (options.json) printJson(terminal, { ...report, service, health });
      else {
        printStatus(terminal, report, service, health);
        if (found.state === 'not-answering') terminal.err(remedyFor(found, machine.dataDir));
        const remedy = driftWarning(report, own, machine.pluginCacheRoot)?.remedy;
        if (remedy !== undefined) terminal.err(remedy);
      }
      if (!report.running) throw new AnswerIsNo();
    });
}

function logsVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('logs', {
    summary: 'Print the end of the daemon’s log',
    example: ['svc monitor logs --lines 200', 'svc monitor logs --follow'],
  })
    .option('--lines <count>', 'number of lines', countFrom, 50)
    .option('--follow', 'keep printing new lines until Ctrl-C')
    .option('--json', 'print the lines as they are: one JSON object each')
    .action(async (options) => {
      const print = (line: string): void => terminal.out(options.json ? line : readableLine(line));
      const file = logFileOf(openSession(terminal).machine.dataDir);
      const last = lastLines(file, options.lines);
      for (const line of last?.lines ?? []) print(line);
      if (options.follow) return followLines(file, last?.end, print, terminal.interrupted);
      if (last !== undefined) return;
      terminal.err(`There is no log yet (${file}). Start the daemon: svc monitor start`);
      throw new AnswerIsNo();
    });
}

function runVerb(terminal: Terminal, makeDoctor: MakeDoctor, host: Host): CommandUnknownOpts {
  return verb('run', {
    summary: 'Run the daemon in the foreground until Ctrl-C',
    details:
      'Logs go to standard output.\nExit codes: 0 stopped, 6 already running or port taken, 70 a bug, 130 Ctrl-C',
    example: 'svc monitor run',
  })
    .addOption(new Option('--log-file <path>', 'write logs there instead').hideHelp())
    .action(async (options) => {
      const { machine } = openSession(terminal);
      // For this start only: programs that the daemon runs may be another version of svc.
      const { SVC_VERSION_FILE: _, ...own } = terminal.environment;
      // A service manager does not have the shell's secrets; the files have them.
      const err = options.logFile === undefined ? terminal.err : inLogForm(terminal);
      const environment = await environmentWithSecrets({ ...terminal, environment: own, err }, machine);
      await runUntilStopped({
        machine,
        environment,
        folder: terminal.folder,
        version: ownVersion(machine.versionFile, VERSION),
        now: terminal.now,
        host,
        runDoctor: makeDoctor({ ...terminal, environment, out: ignore, err: ignore }),
        logFile: options.logFile,
      });
    });
}

const ignore = (): void => undefined;

/** With `start`, standard error is the log, in which every line is an object. */
function inLogForm({ err, now }: Terminal): Terminal['err'] {
  return (text) => err(JSON.stringify({ level: 40, time: now().toISOString(), msg: text }));
}

async function start(terminal: Terminal, host: Host, session: Session): Promise<void> {
  await warnOfDrift(terminal, session);
  const { daemon, wasRunning } = await startFromTerminal(terminal, host, session);
  terminal.out(`${wasRunning ? 'Already running' : 'Started'}: pid ${daemon.pid}, ${daemon.url}`);
}

async function stop(terminal: Terminal, host: Host, { machine }: Session): Promise<void> {
  const pid = await stopDaemon({
    dataDir: machine.dataDir,
    signal: host.signal,
    interrupted: terminal.interrupted,
  });
  terminal.out(pid === undefined ? 'Not running.' : `Stopped: pid ${pid}`);
}

/** Ctrl-C while waiting is not a failure: it prints how to check the result. */
async function unlessInterrupted(terminal: Terminal, work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!terminal.interrupted.aborted) throw error;
    terminal.err('Interrupted. Check the result: svc monitor status');
    throw new AnswerIsNo();
  });
}

async function warnOfDrift(terminal: Terminal, session: Session): Promise<void> {
  const { suppressed, warning } = await findDrift(session);
  if (warning !== undefined && !suppressed) terminal.err(`warning: ${warning.warning}\n${warning.remedy}`);
}

type HealthSummary = {
  status: 'ok' | 'degraded';
  problems: DoctorFinding[];
  /** The reasons of open items; null when they cannot be read. */
  attention: string[] | null;
};

async function healthOf(machine: Session['machine'], url: string): Promise<HealthSummary> {
  const daemon = daemonAt(machine, url, HEALTH_WITHIN_MS);
  const [health, attention] = await Promise.all([
    daemon.get('/api/health'),
    daemon.get('/api/attention').catch(() => null),
  ]);
  return {
    status: health.status,
    problems: health.findings.filter(({ grade }) => grade !== 'ok'),
    attention: attention && [...new Set(attention.open.map(({ reason }) => reason))],
  };
}

const stateTexts = {
  running: ['green', 'running'],
  starting: ['yellow', 'starting'],
  stopping: ['yellow', 'stopping'],
  'not-answering': ['red', 'running, but not answering'],
  stopped: ['red', 'stopped'],
} as const;

function printStatus(
  terminal: Terminal,
  report: StatusReport,
  service: InstalledService | null,
  health: HealthSummary | null,
): void {
  const isDegraded = health?.status === 'degraded';
  const [colour, text] = isDegraded ? (['red', 'running, degraded'] as const) : stateTexts[report.state];
  const waiting = health?.attention ?? [];
  const { latestAvailableVersion: latest, isStale } = report;
  const newest = latest === null ? '' : isStale ? `; ${latest} is installed` : ', the newest installed';
  printTable(terminal, [
    ['daemon', paint(terminal, colour, text)],
    ...(report.pid === null ? [] : [['pid', String(report.pid)]]),
    ['url', report.url],
    ['version', report.runningVersion + newest],
    ...(report.startedAt === null ? [] : [['started', report.startedAt]]),
    ['data', report.dataDir],
    ['log', report.logFile],
    ...(service === null ? [] : [['service', `${service.manager}, ${service.file}`]]),
    ...(waiting.length === 0 ? [] : [['attention', `${waiting.join(', ')} (svc attention)`]]),
  ]);
  for (const problem of health?.problems ?? []) printFinding(terminal, problem);
  if (report.state === 'stopped') terminal.err('Start it: svc monitor start');
}

function countFrom(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw new InvalidArgumentError('Expected a whole number.');
}
