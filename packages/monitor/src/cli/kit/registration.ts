// Registers the project in the global file, so the daemon serves it wherever it is started.
import { join, relative, resolve } from 'node:path';
import { type SetupFinding, setupFinding } from '../../kernel/check/finding.ts';
import type { ConfigFiles } from '../../kernel/config/load.ts';
import { locateProject } from '../../kernel/config/locate.ts';
import { createConfigStore } from '../../kernel/config/store.ts';
import { Failure } from '../../kernel/failure.ts';
import { checkRepository, type Repository } from './repository.ts';
import { openSession, projectFolderOf, type Session } from './session.ts';
import type { Terminal } from './terminal.ts';

const KEY = ['svc', 'projects'] as const;

/**
 * The folder that identifies the project. A linked worktree exists only as long as its ticket, so the same folder of the
 * main worktree is used if it has the project too.
 */
export async function lastingFolder(
  folder: string,
  repository: Repository | undefined,
  home: string,
): Promise<string> {
  if (repository?.main === undefined) return folder;
  const inMain = join(repository.main, relative(repository.root, folder));
  return (await locateProject(inMain, home)).folder === inMain ? inMain : folder;
}

export async function register(
  session: Pick<Session, 'locks'>,
  files: ConfigFiles,
  folder: string,
): Promise<SetupFinding> {
  const { file, changed } = await list(session, files, folder);
  const found = changed ? `${folder} is now listed in ${file}` : `${folder} is listed in ${file}`;
  return setupFinding('registration', 'ok', found);
}

/**
 * Registers the current project and returns its folder. Only the command line does this: its user means this folder,
 * while a request to the daemon's port may come from anyone.
 */
export async function registeredFolder(terminal: Terminal): Promise<string> {
  const folder = await projectFolderOf(terminal);
  const { repository } = await checkRepository(terminal);
  const lasting = await lastingFolder(folder, repository, terminal.home);
  const session = openSession(terminal);
  const { file, changed } = await list(session, (await session.load()).files, lasting);
  if (changed) terminal.err(`Registered ${lasting} in ${file}. The daemon serves it from now on.`);
  return lasting;
}

function list(
  session: Pick<Session, 'locks'>,
  files: ConfigFiles,
  folder: string,
): Promise<{ file: string; changed: boolean }> {
  const store = createConfigStore({ locks: session.locks, files });
  return store.update('global', KEY, (current) => {
    const listed = current ?? [];
    if (!Array.isArray(listed)) {
      throw new Failure(
        'config-invalid',
        `${KEY.join('.')} in ${files.global} is not a list.`,
        'Correct the file in an editor.',
      );
    }
    const isThere = listed.some((entry) => typeof entry === 'string' && resolve(entry) === folder);
    return isThere ? current : [...(listed as unknown[]), folder];
  });
}
