// What most verbs begin with: the machine's settings, the project they were started in, its configuration.
import { dirname } from 'node:path';
import { formatProblem } from '@svc/core';
import { type Machine, readMachine } from '../config/environment.ts';
import { type ConfigFiles, type LoadedConfig, loadConfig } from '../config/load.ts';
import { createFileLocks, type FileLocks } from '../disk/lock.ts';
import { Failure } from '../errors.ts';
import { checkRepository } from './checks/repository.ts';
import { connectDaemon, type DaemonClient } from './daemon-client.ts';
import type { Terminal } from './terminal.ts';

export type Session = { machine: Machine; locks: FileLocks; load: () => Promise<LoadedConfig> };

export function openSession(terminal: Terminal, options: { project?: string | undefined } = {}): Session {
  const machine = readMachine(terminal.environment, terminal.home);
  return {
    machine,
    locks: createFileLocks({ folder: machine.locksDir }),
    load: () => loadConfig(machine, terminal.environment, options.project ?? terminal.folder),
  };
}

/**
 * The configuration, or the failure that says what is wrong with it. Ignored keys are a warning; deprecated ones work,
 * and are reported when the daemon starts and by `svc config validate`.
 */
export async function requireConfig(
  terminal: Terminal,
  session: Session,
): Promise<LoadedConfig & { config: NonNullable<LoadedConfig['config']> }> {
  const loaded = await session.load();
  const errors = loaded.problems.filter((problem) => problem.severity === 'error');
  if (loaded.config === undefined) {
    throw new Failure('config-invalid', errors.map(formatProblem).join('\n'), 'See: svc config validate');
  }
  for (const problem of loaded.problems)
    if (problem.severity !== 'deprecated') terminal.err(`warning: ${formatProblem(problem)}`);
  return { ...loaded, config: loaded.config };
}

export const hereOption = [
  '--here',
  'make this folder a project although it is not in a git work tree',
] as const;

/** Before a project file is written where none is: only a checkout becomes a project without being asked to. */
export async function refuseStrayProject(
  terminal: Terminal,
  { project }: ConfigFiles,
  here: boolean,
): Promise<void> {
  if (project.folder !== undefined || here) return;
  const folder = dirname(dirname(project.file));
  const { repository } = await checkRepository({ ...terminal, folder });
  if (repository !== undefined) return;
  throw new Failure(
    'not-configured',
    `${folder} is in no project and in no git work tree; nothing was changed.`,
    'Run this in a checkout. To make this folder a project all the same, add --here.',
  );
}

/** The folder of the project that the verb was started in. */
export async function projectFolderOf(terminal: Terminal): Promise<string> {
  const { folder } = (await openSession(terminal).load()).files.project;
  if (folder !== undefined) return folder;
  throw new Failure(
    'not-configured',
    `${terminal.folder} is in no project: there is no .svc/config.json.`,
    'Go to the project, or make one: svc config set svc.projectKey <key>',
  );
}

// For verbs that ask the daemon and have no answer without it.

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
