// Whether the daemon runs and answers, and whether it is alone: on its port and on this machine.
import { connect } from 'node:net';
import { type DoctorFinding, doctorFinding } from '@svc/core';
import type { Machine } from '../../config/environment.ts';
import { remedyFor } from '../../control/control.ts';
import { askHealth, type FoundDaemon, findDaemon } from '../../control/status.ts';
import type { Session } from '../session.ts';
import { startFromTerminal } from '../start-from-terminal.ts';
import type { Terminal } from '../terminal.ts';
import { type DoctorTools, type Found, fixableBy } from './check.ts';

const CONNECT_WITHIN_MS = 2_000;

export type LookedFor = { daemon: FoundDaemon; findings: Found[] };

export async function lookForDaemon(
  terminal: Terminal,
  session: Session,
  tools: DoctorTools,
): Promise<LookedFor> {
  const { dataDir } = session.machine;
  const daemon = await findDaemon(dataDir);
  const neighbour = await lookAtPort(session.machine, daemon);
  const own = judge(daemon, dataDir);
  // It could not start where another one sits.
  const canStart = daemon.state === 'stopped' && neighbour?.grade !== 'broken';
  const found: Found = canStart
    ? fixableBy(own, async () => {
        const started = await startFromTerminal(terminal, tools.host, session);
        return `started the daemon: pid ${started.daemon.pid}, ${started.daemon.url}`;
      })
    : own;
  return { daemon, findings: neighbour === undefined ? [found] : [found, neighbour] };
}

function judge(found: FoundDaemon, dataDir: string): DoctorFinding {
  switch (found.state) {
    case 'running':
      return doctorFinding('daemon', 'ok', 'the daemon runs and answers', {
        evidence: `pid ${found.daemon.pid}, ${found.daemon.url}`,
      });
    case 'stopped':
      return doctorFinding('daemon', 'broken', 'the daemon is not running', {
        evidence: `nobody holds ${dataDir}/daemon.lock`,
        remedy: 'Start it: svc-monitor.sh start',
      });
    case 'not-answering':
      return doctorFinding('daemon', 'broken', 'the daemon runs and does not answer', {
        evidence: `pid ${found.record.pid}`,
        remedy: remedyFor(found, dataDir),
      });
    case 'starting':
    case 'stopping':
      return doctorFinding('daemon', 'warning', `the daemon is ${found.state}`, {
        remedy: `Look again: svc doctor. If it stays so: ${remedyFor(found, dataDir)}`,
      });
  }
}

/** Port 0 is any that is free: nobody can take it. */
async function lookAtPort(
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
