// Every check of a project's setup, in order, each finding as soon as it is known. What is made on the way (the
// registration, the workflow context, the daemon) is made once: a second pass changes nothing.
import {
  codehostProblemWords,
  configurationFindings,
  mergeFindings,
  passesByItself,
  repoNameIn,
  type SetupCheck,
  type SetupFinding,
} from '@svc/core';
import { systemErrorCode } from '@svc/lib/errors';
import { runCommand } from '@svc/lib/process';
import { createGh } from '../../codehost/gh.ts';
import { readMergeFacts } from '../../codehost/merge-facts.ts';
import { createContextStore } from '../../context/context-store.ts';
import { worktreeRoot } from '../../context/worktree-root.ts';
import { type Host, thisProcess } from '../../control/control.ts';
import { Failure } from '../../errors.ts';
import { openSession, type Session } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { checkDaemon } from './daemon.ts';
import { type CheckedRepository, checkCodehost, checkRepository } from './programs.ts';
import { lastingFolder, register } from './registration.ts';
import { checkSecrets } from './secrets.ts';
import { checkVersion } from './version.ts';

// A failure on the way of a check is that check's finding; the others still run.

async function orFailure(
  check: SetupCheck,
  work: () => Promise<SetupFinding | SetupFinding[]>,
): Promise<SetupFinding[]> {
  try {
    return [await work()].flat();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (!(error instanceof Failure) && systemErrorCode(error) === undefined) throw error;
    const remedy = error instanceof Failure ? error.remedy : undefined;
    return [{ check, level: 'error', found: error.message, ...(remedy !== undefined && { remedy }) }];
  }
}

// Whether the code host enforces what a merge needs. Nothing is changed there, and nothing of it stops the work.

export async function checkMergeSettings(terminal: Terminal, repo: string): Promise<SetupFinding[]> {
  const { environment, now } = terminal;
  const gh = createGh({ environment, run: runCommand, now: () => now().getTime() });
  const facts = await readMergeFacts(gh, repo);
  if (facts.ok) return mergeFindings(facts.value);
  const { why, remedy: lasting } = codehostProblemWords(facts.problem);
  const remedy = passesByItself(facts.problem) ? 'Look again later: check-project-setup.sh' : lasting;
  const found = `${repo}: the merge settings cannot be read: ${why}`;
  return [{ check: 'merge-settings', level: 'warning', found, remedy }];
}

// The workflow context of the worktree; made where it is missing.

async function checkContext(terminal: Terminal, { locks }: Session): Promise<SetupFinding> {
  const root = worktreeRoot(terminal.folder);
  const store = createContextStore({ root, locks, now: terminal.now });
  const present = await store.read();
  const { currentTicket } = present ?? (await store.change((context) => context));
  const words = currentTicket === null ? 'no ticket yet' : `ticket ${currentTicket}`;
  const found = `${store.file}${present === undefined ? ', made now' : ''}, ${words}`;
  return { check: 'workflow-context', level: 'ok', found };
}

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
