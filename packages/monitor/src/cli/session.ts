// What most verbs begin with: the machine's settings, the project they were started in, its configuration.
import { formatProblem } from '@svc/core';
import { type Machine, readMachine } from '../config/environment.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { createFileLocks, type FileLocks } from '../disk/lock.ts';
import { Failure } from '../errors.ts';
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

/** The configuration, or the failure that says what is wrong with it. Lesser problems are told once. */
export async function requireConfig(
  terminal: Terminal,
  session: Session,
): Promise<LoadedConfig & { config: NonNullable<LoadedConfig['config']> }> {
  const loaded = await session.load();
  const errors = loaded.problems.filter((problem) => problem.severity === 'error');
  if (loaded.config === undefined) {
    throw new Failure('config-invalid', errors.map(formatProblem).join('\n'), 'See: svc config validate');
  }
  for (const problem of loaded.problems) terminal.err(`warning: ${formatProblem(problem)}`);
  return { ...loaded, config: loaded.config };
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
