// What a verb needs that only asks the daemon. It is in the way of most commands, so it loads no schema and no configuration.
import { readMachine } from '../../kernel/config/environment.ts';
import { type DaemonClient, needDaemonOf } from './daemon-client.ts';
import type { Terminal } from './terminal.ts';

/** For verbs that cannot work without the daemon. */
export function needDaemon(terminal: Terminal): Promise<DaemonClient> {
  return needDaemonOf(readMachine(terminal.environment, terminal.home));
}

/** The name of the user who runs the verb, if known. */
export function requestedBy(terminal: Terminal): { by?: string } {
  const name = terminal.environment['USER'] ?? terminal.environment['LOGNAME'];
  return name === undefined || name === '' ? {} : { by: name.slice(0, 100) };
}
