// Every check of a project's setup, in order. What it creates (the registration, the workflow context, the daemon) it
// creates once: a second run changes nothing.
import { repoNameIn } from '@svc/contract/repo-name';
import { lastingFolder, register } from '../../cli/kit/registration.ts';
import { checkRepository, type Repository } from '../../cli/kit/repository.ts';
import { openSession, type Session } from '../../cli/kit/session.ts';
import type { Terminal } from '../../cli/kit/terminal.ts';
import { runInOrder } from '../../kernel/check/check.ts';
import { type SetupFinding, setupFinding } from '../../kernel/check/finding.ts';
import { worktreeRoot } from '../../kernel/disk/git-folder.ts';
import { type Host, thisProcess } from '../../kernel/instance/control.ts';
import { checkSecrets } from '../configuration/checks/secrets.ts';
import { createContextStore } from '../context/io/context-store.ts';
import { checkLogin, checkMergeSettings } from '../doctor/checks/services.ts';
import { checkDaemonForSetup, checkVersion } from '../monitor/checks.ts';
import { configurationFindings } from './configuration-findings.ts';

export async function* checkProjectSetup(
  terminal: Terminal,
  host: Pick<Host, 'program'> = thisProcess,
): AsyncGenerator<SetupFinding> {
  const session = openSession(terminal);
  const loaded = await session.load();
  const { org = '', name = '' } = loaded.config?.svc.repository ?? {};
  const named = repoNameIn(`${org}/${name}`) === undefined ? undefined : `${org}/${name}`;
  let repository: Repository | undefined;
  let isLoggedIn = false;
  /** Undefined without a project: nothing is written for such a folder. */
  const project = async (): Promise<string | undefined> => {
    const { folder } = loaded.files.project;
    return folder === undefined ? undefined : lastingFolder(folder, repository, terminal.home);
  };
  yield* runInOrder([
    {
      part: 'configuration',
      run: () => Promise.resolve(configurationFindings(loaded.files.project, loaded)),
    },
    { part: 'secrets', run: () => checkSecrets(loaded, session.machine.configDir) },
    {
      part: 'git',
      async run() {
        const checked = await checkRepository(terminal);
        repository = checked.repository;
        return [checked.finding];
      },
    },
    {
      part: 'code-host',
      async run() {
        const login = await checkLogin(terminal);
        isLoggedIn = login.grade === 'ok';
        return [login];
      },
    },
    {
      part: 'merge-settings',
      run: async () => (named === undefined || !isLoggedIn ? [] : checkMergeSettings(terminal, named)),
    },
    {
      part: 'registration',
      async run() {
        const folder = await project();
        return folder === undefined ? [] : [await register(session, loaded.files, folder)];
      },
    },
    {
      part: 'workflow-context',
      run: async () => ((await project()) === undefined ? [] : [await checkContext(terminal, session)]),
    },
    {
      part: 'daemon',
      run: async () => [await checkDaemonForSetup(terminal, session, { host, project: await project() })],
    },
    { part: 'version', run: async () => [await checkVersion(session)] },
  ]);
}

/** The workflow context of the worktree; created if missing. */
async function checkContext(terminal: Terminal, { locks }: Session): Promise<SetupFinding> {
  const root = await worktreeRoot(terminal.folder);
  const store = createContextStore({ root, locks, now: terminal.now });
  const present = await store.read();
  const { currentTicket } = present ?? (await store.change((context) => context));
  const ticket = currentTicket === null ? 'no ticket yet' : `ticket ${currentTicket}`;
  return setupFinding(
    'workflow-context',
    'ok',
    `${store.file}${present === undefined ? ', created now' : ''}, ${ticket}`,
  );
}
