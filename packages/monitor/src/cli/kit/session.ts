// What most verbs need: the machine's settings, the current project and its configuration.
import { dirname, join } from 'node:path';
import { isThere } from '@svc/lib/paths';
import { loadConfig } from '../../features/configure.ts';
import { type Machine, readMachine } from '../../kernel/config/environment.ts';
import type { ConfigFiles, LoadedConfig } from '../../kernel/config/load.ts';
import { locateProject } from '../../kernel/config/locate.ts';
import { formatProblem } from '../../kernel/config/problems.ts';
import { worktreeRoot } from '../../kernel/disk/git-folder.ts';
import { createFileLocks, type FileLocks } from '../../kernel/disk/lock.ts';
import { Failure } from '../../kernel/failure.ts';
import { checkRepository } from './repository.ts';
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
 * The configuration, or a failure with its errors. Ignored keys are a warning; deprecated ones work, and are reported
 * when the daemon starts and by `svc config validate`.
 */
export async function requireConfig(
  terminal: Terminal,
  session: Session,
): Promise<LoadedConfig & { config: NonNullable<LoadedConfig['config']> }> {
  const loaded = await session.load();
  const errors = loaded.problems.filter((problem) => problem.severity === 'error');
  if (loaded.config === undefined) {
    throw new Failure(
      'config-invalid',
      errors.map(formatProblem).join('\n'),
      'Check all files: svc config validate',
    );
  }
  for (const problem of loaded.problems)
    if (problem.severity !== 'deprecated') terminal.err(`warning: ${formatProblem(problem)}`);
  return { ...loaded, config: loaded.config };
}

export const hereOption = ['--here', 'make this folder a project even outside a checkout'] as const;

/** Called before a project file is created: only a checkout becomes a project without --here. */
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
    `${folder} is not in a project or a git work tree; nothing was changed.`,
    'Run this in a checkout, or add --here to make this folder a project.',
  );
}

/**
 * Called before the context or the queue of findings is written: both work everywhere and must not be lost, but a folder
 * that nobody meant to be a project is named.
 */
export async function warnOfStrayFolder(terminal: Terminal, file: string): Promise<void> {
  const root = await worktreeRoot(terminal.folder);
  if (!file.startsWith(join(root, '.svc/')) || (await isThere(file)) || (await isThere(join(root, '.git'))))
    return;
  if ((await locateProject(terminal.folder, terminal.home)).folder !== undefined) return;
  terminal.err(
    `warning: ${root} is not in a project or a git work tree. This creates ${join(root, '.svc')} there.`,
  );
}

/** The folder of the current project. */
export async function projectFolderOf(terminal: Terminal): Promise<string> {
  const { folder } = (await openSession(terminal).load()).files.project;
  if (folder !== undefined) return folder;
  throw new Failure(
    'not-configured',
    `${terminal.folder} is not in a project: no .svc/config.json was found.`,
    'Change to a project folder, or create a project here: svc init',
  );
}
