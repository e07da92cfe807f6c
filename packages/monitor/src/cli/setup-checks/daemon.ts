// Whether the daemon runs. With a person at the terminal, one that does not run may be started here; without,
// it is said on standard error and the check goes on. Never a reason to fail, unless a start was asked for.
import { setTimeout as sleep } from 'node:timers/promises';
import { isInteractive, meansYes, type SetupFinding } from '@svc/core';
import { type Host, remedyFor } from '../../control/control.ts';
import { type FoundDaemon, findDaemon } from '../../control/status.ts';
import { connectDaemon } from '../daemon-client.ts';
import type { Session } from '../session.ts';
import { startFromTerminal } from '../start-from-terminal.ts';
import { AnswerIsNo, type Terminal } from '../terminal.ts';

const check = 'daemon';
const START = 'Start it: svc-monitor.sh start';
const SERVED_WITHIN_MS = 5_000;
const LOOK_AGAIN_MS = 100;

export async function checkDaemon(
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
  const warning: SetupFinding = {
    check,
    level: 'warning',
    found: words,
    remedy: isHanging ? remedyFor(found, machine.dataDir) : START,
  };
  if (!isInteractive({ ...terminal, autonomous: terminal.environment['SVC_AUTONOMOUS'] })) {
    terminal.err(`warning: the daemon: ${words}. ${warning.remedy}`);
    return warning;
  }
  // A second one cannot be started beside it.
  if (isHanging) return warning;
  if (!meansYes(await terminal.ask(`The daemon: ${words}. Start it? [Y/n] `))) {
    if (terminal.interrupted.aborted) throw new AnswerIsNo();
    return { ...warning, found: `${words}, and was not started: declined` };
  }
  const folder = options.project ?? terminal.folder;
  const { daemon, wasRunning } = await startFromTerminal({ ...terminal, folder }, options.host, session);
  const done = wasRunning ? 'running' : 'started';
  return { check, level: 'ok', found: `${done}: pid ${daemon.pid}, ${daemon.url}` };
}

type Running = Extract<FoundDaemon, { state: 'running' }>['daemon'];

/** One that was registered a moment ago is served after the daemon's next look at the files. */
async function serving(
  { machine }: Session,
  project: string | undefined,
  daemon: Running,
): Promise<SetupFinding> {
  const found = `running: pid ${daemon.pid}, ${daemon.url}`;
  for (const deadline = performance.now() + SERVED_WITHIN_MS; ; await sleep(LOOK_AGAIN_MS)) {
    const health = await (await connectDaemon(machine))?.get('/api/health');
    if (project === undefined || health?.configuration.folders.includes(project) !== false)
      return { check, level: 'ok', found };
    if (performance.now() > deadline) break;
  }
  return {
    check,
    level: 'warning',
    found: `${found}; it does not serve this project`,
    remedy: 'See why: svc doctor',
  };
}
