// Every check of a project's setup, in order, each finding as soon as it is known. What is made on the way (the
// registration, the workflow context, the daemon) is made once: a second pass changes nothing.
import { configurationFindings, repoNameIn, type SetupFinding } from '@svc/core';
import { type Host, thisProcess } from '../../daemon/control-host.ts';
import { openSession } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { checkDaemon } from './daemon.ts';
import { orFailure } from './failure-finding.ts';
import { checkMergeSettings } from './merge-settings.ts';
import { type CheckedRepository, checkCodehost, checkRepository } from './programs.ts';
import { lastingFolder, register } from './registration.ts';
import { checkSecrets } from './secrets.ts';
import { checkVersion } from './version.ts';
import { checkContext } from './workflow-context.ts';

export async function* setupFindings(
  terminal: Terminal,
  host: Pick<Host, 'program'> = thisProcess,
): AsyncGenerator<SetupFinding> {
  const session = openSession(terminal);
  const loaded = await session.load();
  yield* configurationFindings(loaded.files.project, loaded);
  yield* await orFailure('secrets', () => checkSecrets(loaded, session.machine.configDir));

  let repository: CheckedRepository['repository'];
  yield* await orFailure('git', async () => {
    const checked = await checkRepository(terminal);
    repository = checked.repository;
    return checked.finding;
  });
  const login = await orFailure('code-host', () => checkCodehost(terminal));
  yield* login;
  const { org = '', name = '' } = loaded.config?.svc.repository ?? {};
  const named = `${org}/${name}`;
  // Only where the project says which repository it is, and the code host can be asked.
  if (repoNameIn(named) !== undefined && login.every(({ level }) => level === 'ok'))
    yield* await orFailure('merge-settings', () => checkMergeSettings(terminal, named));

  const { folder } = loaded.files.project;
  const project = folder === undefined ? undefined : lastingFolder(folder, repository, terminal.home);
  // Nothing is written for a folder that is no project.
  if (project !== undefined) {
    yield* await orFailure('registration', () => register(session, loaded.files, project));
    yield* await orFailure('workflow-context', () => checkContext(terminal, session));
  }
  yield* await orFailure('daemon', () => checkDaemon(terminal, session, { host, project }));
  yield* await orFailure('version', () => checkVersion(session));
}
