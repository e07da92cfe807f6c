// Whether the daemon runs and answers. The doctor also checks that it is the only one on its port and on this machine;
// the setup check offers to start it.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectDaemon } from '../../cli/kit/daemon-client.ts';
import type { Session } from '../../cli/kit/session.ts';
import { AnswerIsNo, isInteractive, meansYes, type Terminal } from '../../cli/kit/terminal.ts';
import { type DoctorResult, type DoctorTools, fixableBy } from '../../kernel/check/check.ts';
import {
  type CheckFinding,
  checkFinding,
  type DoctorFinding,
  doctorFinding,
  type SetupFinding,
  setupFinding,
} from '../../kernel/check/finding.ts';
import type { Machine } from '../../kernel/config/environment.ts';
import type { Host } from '../../kernel/instance/control.ts';
import { askHealth, type FoundDaemon, findDaemon, remedyFor } from '../../kernel/instance/find-daemon.ts';
import { findDrift, startFromTerminal } from './verbs/start-from-terminal.ts';

const START = 'Start it: svc monitor start';
const CONNECT_WITHIN_MS = 2_000;

export async function checkDaemon(
  terminal: Terminal,
  session: Session,
  tools: DoctorTools,
): Promise<{ daemon: FoundDaemon; findings: DoctorResult[] }> {
  const { dataDir } = session.machine;
  const daemon = await findDaemon(dataDir);
  const neighbour = await checkPort(session.machine, daemon);
  const own = judgeDaemon(daemon, dataDir);
  // It could not start while another one uses the port.
  const canStart = daemon.state === 'stopped' && neighbour?.grade !== 'broken';
  const found: DoctorResult = canStart
    ? fixableBy(own, async () => {
        const started = await startFromTerminal(terminal, tools.host, session);
        return `started the daemon: pid ${started.daemon.pid}, ${started.daemon.url}`;
      })
    : own;
  return { daemon, findings: neighbour === undefined ? [found] : [found, neighbour] };
}

function judgeDaemon(found: FoundDaemon, dataDir: string): DoctorFinding {
  switch (found.state) {
    case 'running':
      return doctorFinding('daemon', 'ok', 'the daemon runs and answers', {
        evidence: `pid ${found.daemon.pid}, ${found.daemon.url}`,
      });
    case 'stopped':
      return doctorFinding('daemon', 'broken', 'the daemon is not running', {
        evidence: `no process holds ${dataDir}/daemon.lock`,
        remedy: START,
      });
    case 'not-answering':
      return doctorFinding('daemon', 'broken', 'the daemon runs but does not answer', {
        evidence: `pid ${found.record.pid}`,
        remedy: remedyFor(found, dataDir),
      });
    case 'starting':
    case 'stopping':
      return doctorFinding('daemon', 'warning', `the daemon is ${found.state}`, {
        remedy: `Check again: svc doctor. If it does not change: ${remedyFor(found, dataDir)}`,
      });
  }
}

/** Port 0 means any free port, which cannot be taken. */
async function checkPort(
  { dataDir, port }: Machine,
  daemon: FoundDaemon,
): Promise<DoctorFinding | undefined> {
  if (port === 0 || (daemon.state === 'running' && daemon.daemon.port === port)) return undefined;
  const other = await askHealth(dataDir, port);
  const otherPort = 'or use another port: SVC_MONITOR_PORT=<port> svc monitor start';
  if (other !== undefined) {
    const isRunning = daemon.state === 'running';
    const what = isRunning
      ? 'a second svc daemon runs on this machine, with another data root'
      : `port ${port} is used by the svc daemon of another data root`;
    return doctorFinding(isRunning ? 'daemon' : 'port', isRunning ? 'warning' : 'broken', what, {
      evidence: `pid ${other.pid}, ${other.url}`,
      remedy: isRunning
        ? 'Stop the one you do not need: SVC_DATA_DIR=<its data root> svc monitor stop'
        : `Stop it with its own SVC_DATA_DIR (if that was deleted, check that it is svc: ps -p ${other.pid}; then: kill ${other.pid}), ${otherPort}`,
    });
  }
  if (daemon.state !== 'stopped' || !(await isTaken(port))) return undefined;
  return doctorFinding('port', 'broken', `port ${port} is used by another program`, {
    evidence: `the program at 127.0.0.1:${port} is not svc`,
    remedy: `Find it: fuser -v ${port}/tcp; stop it, ${otherPort}`,
  });
}

function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: CONNECT_WITHIN_MS });
    const end = (taken: boolean): void => {
      socket.destroy();
      resolve(taken);
    };
    socket.on('connect', () => end(true));
    socket.on('timeout', () => end(true));
    socket.on('error', () => end(false));
  });
}

const SERVED_WITHIN_MS = 5_000;
const POLL_MS = 100;

/**
 * At a terminal it offers to start a stopped daemon; otherwise it warns on standard error and the check continues. It fails
 * only if a requested start fails.
 */
export async function checkDaemonForSetup(
  terminal: Terminal,
  session: Session,
  options: { host: Pick<Host, 'program'>; project: string | undefined },
): Promise<SetupFinding> {
  const { machine } = session;
  const found = await findDaemon(machine.dataDir);
  if (found.state === 'running') return serving(session, options.project, found.daemon);
  const isHanging = found.state === 'not-answering';
  const state = isHanging
    ? `it runs (pid ${found.record.pid}) but does not answer`
    : `it is ${found.state === 'stopped' ? 'not running' : found.state}`;
  const remedy = isHanging ? remedyFor(found, machine.dataDir) : START;
  const warning = setupFinding('daemon', 'warning', state, { remedy });
  if (!isInteractive(terminal)) {
    terminal.err(`warning: the daemon: ${state}. ${remedy}`);
    return warning;
  }
  // A second one cannot be started.
  if (isHanging) return warning;
  if (!meansYes(await terminal.ask(`The daemon: ${state}. Start it? [Y/n] `))) {
    if (terminal.interrupted.aborted) throw new AnswerIsNo();
    return setupFinding('daemon', 'warning', `${state}, and was not started: declined`, { remedy });
  }
  const folder = options.project ?? terminal.folder;
  const { daemon, wasRunning } = await startFromTerminal({ ...terminal, folder }, options.host, session);
  const done = wasRunning ? 'running' : 'started';
  return setupFinding('daemon', 'ok', `${done}: pid ${daemon.pid}, ${daemon.url}`);
}

type Running = Extract<FoundDaemon, { state: 'running' }>['daemon'];

/** A newly registered project is served once the daemon has read the files again. */
async function serving(
  { machine }: Session,
  project: string | undefined,
  daemon: Running,
): Promise<SetupFinding> {
  const found = `running: pid ${daemon.pid}, ${daemon.url}`;
  for (const deadline = performance.now() + SERVED_WITHIN_MS; ; await sleep(POLL_MS)) {
    const health = await (await connectDaemon(machine))?.get('/api/health');
    if (project === undefined || health?.configuration.folders.includes(project) !== false)
      return setupFinding('daemon', 'ok', found);
    if (performance.now() > deadline) break;
  }
  return setupFinding('daemon', 'warning', `${found}; it does not serve this project`, {
    remedy: 'Find out why: svc doctor',
  });
}

/** Version drift; the doctor shows the same. */
export async function checkVersion(session: Session): Promise<CheckFinding<'version'>> {
  const { drift, warning, suppressed } = await findDrift(session);
  if (warning !== undefined && !suppressed)
    return checkFinding('version', 'warning', warning.warning.replace(/\.$/, ''), { remedy: warning.remedy });
  const { runningVersion, latestAvailableVersion: latest } = drift;
  const newest = latest === null ? 'no other is installed' : `${latest} is the newest installed`;
  const silent = warning === undefined ? '' : '; the warning is suppressed';
  return checkFinding('version', 'ok', `${runningVersion}; ${newest}${silent}`);
}
