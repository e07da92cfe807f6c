// svc monitor start | stop | restart | status | logs | run | install | uninstall
import { type CommandUnknownOpts, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import {
  type DoctorFinding,
  inDoctorOrder,
  isInteractive,
  judgeFeeds,
  judgeHealth,
  meansYes,
} from '@svc/core';
import { type Host, remedyFor, stopDaemon, thisProcess } from '../../control/control.ts';
import { followLines, lastLines, logFileOf } from '../../control/log-file.ts';
import { findDaemon, reportStatus, type StatusReport, waitForDaemon } from '../../control/status.ts';
import { driftWarning, ownVersion } from '../../control/version-drift.ts';
import { runUntilStopped } from '../../daemon/lifetime.ts';
import { Failure } from '../../errors.ts';
import { createDoctorReports } from '../checks/doctor.ts';
import { printFinding } from '../checks/print.ts';
import { daemonAt } from '../daemon-client.ts';
import {
  factsFor,
  type InstalledService,
  installedService,
  installService,
  managerFor,
  type ServiceManager,
  thisMachine,
  uninstallService,
} from '../service/service.ts';

import { openSession, type Session } from '../session.ts';
import { environmentWithSecrets, findDrift, startFromTerminal } from '../start-from-terminal.ts';
import { AnswerIsNo, paint, printJson, printTable, type Terminal } from '../terminal.ts';
import { verb, verbGroup } from '../verb.ts';
import { VERSION } from '../version.ts';

// svc monitor install | uninstall

const ANSWER_WITHIN_MS = 30_000;

/** By these alone gh is logged in, or not; a service does not have the shell's. */
const shellTokens = ['GH_TOKEN', 'GITHUB_TOKEN', 'GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN'];

export function installVerb(terminal: Terminal, host: Host, place = thisMachine): CommandUnknownOpts {
  return verb('install', {
    summary: 'Let systemd or launchd run the daemon: from now on, at every login, and after a crash',
    example: ['svc monitor install', 'svc monitor install --linger', 'svc monitor install --print'],
  })
    .option('--print', 'show the file, and install nothing')
    .option('--linger', 'also after log-out and before login: loginctl enable-linger (systemd)')
    .addHelpText(
      'after',
      '\nRun it again after an upgrade that moved node or svc. Secrets are read from the files of mode 600, never from the shell.\nExit codes: 0 installed and running, 1 the file there is not ours, 6 the service manager refused',
    )
    .action(async (options) => {
      const session = openSession(terminal);
      const machine = place();
      const manager = managerFor(terminal, session, machine);
      const { PATH: path } = terminal.environment;
      const facts = factsFor(host.program, session.machine, { path, platform: machine.platform });
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

export function uninstallVerb(terminal: Terminal, place = thisMachine): CommandUnknownOpts {
  return verb('uninstall', {
    summary: 'Stop the daemon that systemd or launchd runs, and remove the service; all data stays',
    example: 'svc monitor uninstall',
  }).action(async () => {
    const manager = managerFor(terminal, openSession(terminal), place());
    const removed = await uninstallService(manager);
    terminal.out(removed ? `Stopped and removed: ${manager.file}` : 'Not installed.');
    if (removed && (await manager.lingers()) === true)
      terminal.out('Your other services still run after log-out. If none needs it: loginctl disable-linger');
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
    `See why: ${logsCommand}; svc monitor logs`,
  );
}

function warnOfShell({ environment, err }: Terminal, program: readonly string[]): void {
  const set = shellTokens.filter((name) => (environment[name] ?? '') !== '');
  if (set.length > 0)
    err(
      `warning: ${set.join(', ')} is set in this shell alone; the service has only the login of gh. Run: gh auth login -s admin:repo_hook`,
    );
  if (program.some((word) => word.includes('/_npx/')))
    err(
      'warning: this svc is in the cache of npx, which may go at any time. Install it, and run this again: npm install --global svc',
    );
}

/** systemd ends a person's services when they log out, unless they linger. */
async function keepAfterLogout(terminal: Terminal, manager: ServiceManager, wanted: boolean): Promise<void> {
  if ((await manager.lingers()) !== false) return;
  const autonomous = terminal.environment['SVC_AUTONOMOUS'];
  const canAsk = isInteractive({ inputIsTerminal: terminal.inputIsTerminal, autonomous });
  const isWanted =
    wanted ||
    (canAsk &&
      meansYes(await terminal.ask('Keep it running after log-out (loginctl enable-linger)? [Y/n] ')));
  if (!isWanted) {
    terminal.out('It ends when you log out. To keep it running, also from boot on: loginctl enable-linger');
    return;
  }
  await manager.linger();
  terminal.out('It goes on after log-out, and starts with the machine (loginctl enable-linger).');
}

const HEALTH = 'GET /api/health';
const HEALTH_WITHIN_MS = 5_000;

export function monitorVerbs(terminal: Terminal, host: Host = thisProcess): CommandUnknownOpts {
  return verbGroup(
    'monitor',
    { summary: 'The daemon of this machine: start, stop, status, logs', example: 'svc monitor start' },
    [
      startVerb(terminal, host),
      stopVerb(terminal, host),
      restartVerb(terminal, host),
      statusVerb(terminal),
      logsVerb(terminal),
      runVerb(terminal, host),
      installVerb(terminal, host),
      uninstallVerb(terminal),
    ],
  );
}

function startVerb(terminal: Terminal, host: Host): CommandUnknownOpts {
  return verb('start', {
    summary: 'Start the daemon in the background; does nothing when it runs',
    example: 'svc-monitor.sh start',
    route: HEALTH,
  }).action(() => unlessInterrupted(terminal, start(terminal, host, openSession(terminal))));
}

function stopVerb(terminal: Terminal, host: Host): CommandUnknownOpts {
  return verb('stop', {
    summary: 'Stop the daemon; does nothing when it is stopped',
    example: 'svc-monitor.sh stop',
    route: HEALTH,
  }).action(() => unlessInterrupted(terminal, stop(terminal, host, openSession(terminal))));
}

function restartVerb(terminal: Terminal, host: Host): CommandUnknownOpts {
  return verb('restart', {
    summary: 'Stop the daemon if it runs, then start it with this version and this environment',
    example: 'svc-monitor.sh restart',
    route: HEALTH,
  }).action(async () => {
    const session = openSession(terminal);
    await unlessInterrupted(terminal, stop(terminal, host, session));
    await unlessInterrupted(terminal, start(terminal, host, session));
  });
}

function statusVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('status', {
    summary: 'Show whether the daemon runs, where, and what is wrong with it',
    example: ['svc-monitor.sh status', 'svc-monitor.sh status --json'],
    route: `${HEALTH}, GET /api/attention`,
  })
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExit codes: 0 it runs and answers, also when something is wrong with it; 1 it does not',
    )
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
    summary: 'The last lines of the daemon’s log, one JSON object each',
    example: ['svc-monitor.sh logs --lines 200', 'svc-monitor.sh logs --follow'],
  })
    .option('--lines <count>', 'how many lines', countFrom, 50)
    .option('--follow', 'go on with what is added, until Ctrl-C')
    .action(async (options) => {
      const file = logFileOf(openSession(terminal).machine.dataDir);
      const last = lastLines(file, options.lines);
      for (const line of last?.lines ?? []) terminal.out(line);
      if (options.follow) return followLines(file, last?.end, terminal.out, terminal.interrupted);
      if (last !== undefined) return;
      terminal.err(`There is no log yet (${file}). It is written by: svc monitor start`);
      throw new AnswerIsNo();
    });
}

function runVerb(terminal: Terminal, host: Host): CommandUnknownOpts {
  return verb('run', {
    summary: 'Run the daemon in the foreground until Ctrl-C; logs go to standard output',
    example: 'svc monitor run',
  })
    .addHelpText('after', '\nExit codes: 0 stopped, 6 already running or port taken, 70 a bug, 130 Ctrl-C')
    .addOption(new Option('--log-file <path>', 'where logs go instead').hideHelp())
    .action(async (options) => {
      const { machine } = openSession(terminal);
      // Of this start only: what the daemon runs may be another version of svc.
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
        runDoctor: createDoctorReports({ ...terminal, environment, out: ignore, err: ignore }),
        logFile: options.logFile,
      });
    });
}

const ignore = (): void => undefined;

/** Started by `start`, standard error is the log, in which every line is an object. */
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

/** A person who does not want to wait any longer is told where to look, not that something failed. */
async function unlessInterrupted(terminal: Terminal, work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!terminal.interrupted.aborted) throw error;
    terminal.err('Interrupted. What became of it: svc monitor status');
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
  /** The reasons of open items; null while nobody can tell. */
  attention: string[] | null;
};

/** Deprecated names work, and are reported by `start` and `svc config validate`. */
async function healthOf(machine: Session['machine'], url: string): Promise<HealthSummary> {
  const daemon = daemonAt(machine, url, HEALTH_WITHIN_MS);
  const [health, attention] = await Promise.all([
    daemon.get('/api/health'),
    daemon.get('/api/attention').catch(() => null),
  ]);
  const { configuration, sources } = health;
  const problems = configuration.problems.filter(({ severity }) => severity !== 'deprecated');
  const findings = [
    ...judgeHealth({ ...health, configuration: { problems } }),
    ...(sources === undefined ? [] : judgeFeeds(sources)),
  ];
  return {
    status: health.status,
    problems: inDoctorOrder(findings.filter(({ grade }) => grade !== 'ok')),
    attention: attention && [...new Set(attention.open.map(({ reason }) => reason))],
  };
}

const stateWords = {
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
  const [colour, words] = isDegraded ? (['red', 'running, degraded'] as const) : stateWords[report.state];
  const waiting = health?.attention ?? [];
  const { latestAvailableVersion: latest, isStale } = report;
  const newest = latest === null ? '' : isStale ? `; ${latest} is installed` : ', the newest installed';
  printTable(terminal, [
    ['daemon', paint(terminal, colour, words)],
    ...(report.pid === null ? [] : [['pid', String(report.pid)]]),
    ['url', report.url],
    ['version', report.runningVersion + newest],
    ...(report.startedAt === null ? [] : [['started', report.startedAt]]),
    ['data', report.dataDir],
    ['log', report.logFile],
    ...(service === null ? [] : [['service', `${service.manager}, ${service.file}`]]),
    ...(waiting.length === 0 ? [] : [['attention', `${waiting.join(', ')}; see: svc attention`]]),
  ]);
  for (const problem of health?.problems ?? []) printFinding(terminal, problem);
  if (report.state === 'stopped') terminal.err('Start it: svc monitor start');
}

function countFrom(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw new InvalidArgumentError('Expected a whole number.');
}
