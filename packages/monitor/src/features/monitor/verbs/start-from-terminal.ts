// Shared by the verbs that start the daemon: its environment with the secrets filled in, and version drift.

import type { Session } from '../../../cli/kit/session.ts';
import type { Terminal } from '../../../cli/kit/terminal.ts';
import { VERSION } from '../../../cli/kit/version.ts';
import { formatProblem } from '../../../kernel/config/problems.ts';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import { refuseNewerData } from '../../../kernel/disk/data-format.ts';
import { type Host, type Started, startDaemon } from '../../../kernel/instance/control.ts';
import { findDaemon } from '../../../kernel/instance/find-daemon.ts';
import { fillSecrets } from '../../../kernel/instance/secrets-file.ts';
import {
  type Drift,
  type DriftWarning,
  driftWarning,
  measureDrift,
  ownVersion,
} from '../../../kernel/instance/version-drift.ts';
import { loadProjects } from '../../configure.ts';
import { readSecrets } from '../../feeds/io/feed.ts';
import { readKeyVariables } from '../../feeds/io/provision-channel.ts';

export async function startFromTerminal(
  terminal: Terminal,
  host: Pick<Host, 'program'>,
  { machine }: Session,
): Promise<Started> {
  // Said here, so that it need not be looked for in the daemon's log.
  refuseNewerData(machine.dataDir);
  return startDaemon({
    dataDir: machine.dataDir,
    program: host.program,
    environment: () => environmentWithSecrets(terminal, machine),
    folder: terminal.folder,
    interrupted: terminal.interrupted,
    onWaiting: () => terminal.err('Waiting for the daemon to answer …'),
  });
}

/** Fills unset variables that the configuration names as secrets from their files of mode 600. */
export async function environmentWithSecrets(
  terminal: Terminal,
  machine: Session['machine'],
): Promise<Environment> {
  const { configs, problems } = await loadProjects(machine, terminal.environment, terminal.folder);
  for (const problem of problems) terminal.err(`warning: ${formatProblem(problem)}`);
  const { codehost, tracker } = readSecrets(configs, terminal.environment);
  const { environment, warnings } = await fillSecrets(machine.configDir, terminal.environment, {
    codehost: codehost.variables,
    tracker: tracker.variables,
    readKeys: readKeyVariables(configs),
  });
  for (const warning of warnings) terminal.err(`warning: ${warning}`);
  return environment;
}

export type FoundDrift = { drift: Drift; warning: DriftWarning | undefined; suppressed: boolean };

/** For the running daemon, otherwise for this svc. */
export async function findDrift({ machine, load }: Session): Promise<FoundDrift> {
  const { values } = await load();
  const own = ownVersion(machine.versionFile, VERSION);
  const found = await findDaemon(machine.dataDir);
  const running = found.state === 'running' ? found.daemon.version : own;
  const drift = await measureDrift(running, machine.pluginCacheRoot);
  return {
    drift,
    warning: driftWarning(drift, own, machine.pluginCacheRoot),
    suppressed: values.some(
      ({ key, value }) => key === 'svc.monitor.suppressVersionWarning' && value === true,
    ),
  };
}
