// For verbs that ask the daemon and have no answer without it.
import { Failure } from '../errors.ts';
import { connectDaemon, type DaemonClient } from './daemon-client.ts';
import { openSession } from './session.ts';
import type { Terminal } from './terminal.ts';

export async function needDaemon(terminal: Terminal): Promise<DaemonClient> {
  const daemon = await connectDaemon(openSession(terminal).machine);
  if (daemon) return daemon;
  throw new Failure('daemon-needed', 'The daemon is not running.', 'Start it: svc-monitor.sh start');
}

/** Who speaks, as far as the machine knows. */
export function speaker(terminal: Terminal): { by?: string } {
  const name = terminal.environment['USER'] ?? terminal.environment['LOGNAME'];
  return name === undefined || name === '' ? {} : { by: name.slice(0, 100) };
}
