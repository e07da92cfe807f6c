// Whether the daemon runs and answers. The doctor also checks that it is the only one on its port and on this machine;
// the setup check offers to start it.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type DoctorFinding,
  doctorFinding,
  isInteractive,
  meansYes,
  type SetupFinding,
  setupFinding,
} from '@svc/core';
import type { Machine } from '../../config/environment.ts';
import { type Host, remedyFor } from '../../control/control.ts';
import { askHealth, type FoundDaemon, findDaemon } from '../../control/status.ts';
import { connectDaemon } from '../daemon-client.ts';
import type { Session } from '../session.ts';
import { startFromTerminal } from '../start-from-terminal.ts';
import { AnswerIsNo, type Terminal } from '../terminal.ts';
import { type DoctorResult, type DoctorTools, fixableBy } from './check.ts';

const START = 'Start it: svc-monitor.sh start';
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
  // It could not start where another one sits.
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
        evidence: `nobody holds ${dataDir}/daemon.lock`,
        remedy: START,
      });
    case 'not-answering':
      return doctorFinding('daemon', 'broken', 'the daemon runs and does not answer', {
        evidence: `pid ${found.record.pid}`,
        remedy: remedyFor(found, dataDir),
      });
    case 'starting':
    case 'stopping':
      return doctorFinding('daemon', 'warning', `the daemon is ${found.state}`, {
        remedy: `Check again: svc doctor. If it stays so: ${remedyFor(found, dataDir)}`,
      });
  }
}

/** Port 0 is any that is free: nobody can take it. */
async function checkPort(
  { dataDir, port }: Machine,
  daemon: FoundDaemon,
): Promise<DoctorFinding | undefined> {
  if (port === 0 || (daemon.state === 'running' && daemon.daemon.port === port)) return undefined;
  const other = await askHealth(dataDir, port);
  const otherPort = 'or let ours have another port: SVC_MONITOR_PORT=<port> svc-monitor.sh start';
  if (other !== undefined) {
    const isRunning = daemon.state === 'running';
    const words = isRunning
      ? 'a second svc daemon runs on this machine, with another data root'
      : `port ${port} belongs to the svc daemon of another data root`;
    return doctorFinding(isRunning ? 'daemon' : 'port', isRunning ? 'warning' : 'broken', words, {
      evidence: `pid ${other.pid}, ${other.url}`,
      remedy: isRunning
        ? 'Stop the one that is not wanted: SVC_DATA_DIR=<its data root> svc-monitor.sh stop'
        : `Stop it with its own SVC_DATA_DIR (where that was deleted, make sure that it is svc: ps -p ${other.pid}; then: kill ${other.pid}), ${otherPort}`,
    });
  }
  if (daemon.state !== 'stopped' || !(await isTaken(port))) return undefined;
  return doctorFinding('port', 'broken', `port ${port} is taken by another program`, {
    evidence: `something answers at 127.0.0.1:${port} that is not svc`,
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
const LOOK_AGAIN_MS = 100;

/**
 * With a person at the terminal, a stopped daemon can be started here; without, there is a warning on standard error and
 * the check goes on. Never a reason to fail, unless a start was asked for and fails.
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
  const words = isHanging
    ? `it runs (pid ${found.record.pid}), but does not answer`
    : `it is ${found.state === 'stopped' ? 'not running' : found.state}`;
  const remedy = isHanging ? remedyFor(found, machine.dataDir) : START;
  const warning = setupFinding('daemon', 'warning', words, { remedy });
  if (!isInteractive({ ...terminal, autonomous: terminal.environment['SVC_AUTONOMOUS'] })) {
    terminal.err(`warning: the daemon: ${words}. ${remedy}`);
    return warning;
  }
  // A second one cannot be started beside it.
  if (isHanging) return warning;
  if (!meansYes(await terminal.ask(`The daemon: ${words}. Start it? [Y/n] `))) {
    if (terminal.interrupted.aborted) throw new AnswerIsNo();
    return setupFinding('daemon', 'warning', `${words}, and was not started: declined`, { remedy });
  }
  const folder = options.project ?? terminal.folder;
  const { daemon, wasRunning } = await startFromTerminal({ ...terminal, folder }, options.host, session);
  const done = wasRunning ? 'running' : 'started';
  return setupFinding('daemon', 'ok', `${done}: pid ${daemon.pid}, ${daemon.url}`);
}

type Running = Extract<FoundDaemon, { state: 'running' }>['daemon'];

/** A project that was registered a moment ago is served once the daemon has read the files again. */
async function serving(
  { machine }: Session,
  project: string | undefined,
  daemon: Running,
): Promise<SetupFinding> {
  const found = `running: pid ${daemon.pid}, ${daemon.url}`;
  for (const deadline = performance.now() + SERVED_WITHIN_MS; ; await sleep(LOOK_AGAIN_MS)) {
    const health = await (await connectDaemon(machine))?.get('/api/health');
    if (project === undefined || health?.configuration.folders.includes(project) !== false)
      return setupFinding('daemon', 'ok', found);
    if (performance.now() > deadline) break;
  }
  return setupFinding('daemon', 'warning', `${found}; it does not serve this project`, {
    remedy: 'See why: svc doctor',
  });
}
