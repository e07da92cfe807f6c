// Creates a worktree, in this order: check the names, write a record, let git create branch and folder, run the setup
// (if none is configured, also link the context store), create the workflow context, run the hooks, add the folder to the
// agent's trusted folders. If a step fails, everything is removed again.
import { messageOf } from '@svc/lib/errors';
import { realpath } from '@svc/lib/paths';
import { Failure } from '../../../kernel/failure.ts';
import { ticketNamed } from '../../codehost/map-codehost.ts';
import { createContextStore } from '../../context/io/context-store.ts';
import { initThoughts } from '../../context/io/thoughts.ts';
import { contextProfile, type RepositoryFacts, setupVariables } from '../../context/setup-variables.ts';
import { withOrchestration, withTicket } from '../../context/workflow-context.ts';
import { ticketPrefixOf } from '../../tracker/tracker-of.ts';
import { worktreeNameOf } from '../branch-name.ts';
import type { WorktreeRecord } from '../worktree-record.ts';
import {
  folderIn,
  holdName,
  isThere,
  logFile,
  rememberStep,
  repositoryFacts,
  type WorktreeContext,
} from './context.ts';
import { checkOut, commitOf, findBase, gitWorktrees, plain, remoteCommitOf } from './git.ts';
import { removeCompletely } from './remove.ts';
import { hookSteps, openStepLog, type Report, runSteps, setupSteps, stepEnvironment } from './steps.ts';

export type CreateOptions = {
  base?: string | undefined;
  /** The ticket of the workflow context, if the name does not contain it. */
  ticket?: string | undefined;
  /** The run of the workflow context. */
  orchestration?: string | undefined;
  report?: Report | undefined;
  signal?: AbortSignal | undefined;
};

export type MadeWorktree = {
  name: string;
  path: string;
  branch: string;
  madeBranch: boolean;
  base: string;
  start: string;
  ticket: string | null;
  log: string;
};

/** `open` creates the base folder: a name that is refused creates nothing. */
export async function createWorktree(
  open: () => Promise<WorktreeContext>,
  text: string,
  options: CreateOptions,
): Promise<MadeWorktree> {
  const named = worktreeNameOf(text);
  if (!named.ok) {
    throw new Failure(
      'usage',
      `${JSON.stringify(plain(text))} cannot name a worktree and its branch: it ${named.problem}.`,
      'Give a ticket (ABC-12) or a branch (feat/login).',
    );
  }
  const { folder: name, branch } = named;
  const context = await open();
  const hold = await holdName(context, name);
  if (hold === undefined)
    throw new Failure('busy', `Another command is creating or removing ${name}.`, 'See: svc worktree list');
  try {
    const path = folderIn(context.layout.base, name);
    await refuseWhatIsThere(context, { name, path, branch });
    const begin = await findStart(context, branch, options.base);
    const record: WorktreeRecord = {
      version: 1,
      name,
      branch,
      ...begin,
      createdAt: context.now().toISOString(),
      state: 'making',
      step: null,
    };
    await context.records.write(record);
    try {
      const ticket = await make(context, record, path, options);
      await context.records.write({ ...record, state: 'ready' });
      return { name, path, branch, ...begin, ticket, log: logFile(context.layout, name) };
    } catch (error) {
      throw await failureAfterUndo(context, record, path, error);
    }
  } finally {
    hold.release();
  }
}

async function refuseWhatIsThere(
  context: WorktreeContext,
  { name, path, branch }: { name: string; path: string; branch: string },
): Promise<void> {
  const { git, layout, records } = context;
  await git.run(layout.main, ['check-ref-format', '--branch', branch]);
  const entries = await gitWorktrees(git, layout.main);
  const isKnown = entries.some((entry) => entry.path === path);
  const record = await records.read(name);
  const isFolder = await isThere(path);
  const cleanUp = `Clean it up: svc worktree remove ${name}`;
  if (record !== undefined && record.state !== 'ready')
    refuse(`${name} is partly ${record.state === 'making' ? 'created' : 'removed'} (${path}).`, cleanUp);
  if (isKnown && isFolder) refuse(`${name} exists already: ${path}`, 'See: svc worktree list');
  if (isKnown) refuse(`git still lists ${name}, but its folder ${path} is gone.`, cleanUp);
  if (isFolder)
    refuse(`${path} exists already and is not a worktree of this project.`, 'Move it elsewhere first.');
  const elsewhere = entries.find((entry) => entry.branch === branch);
  if (elsewhere !== undefined) refuse(`${branch} is already checked out in ${elsewhere.path}`);
  // The user removed it with git.
  if (record !== undefined) await records.forget(name);
}

function refuse(message: string, remedy?: string): never {
  throw new Failure('not-allowed-now', message, remedy);
}

/** Continues an existing branch, even one that only a remote has; otherwise creates one at the base. */
async function findStart(
  { git, layout }: WorktreeContext,
  branch: string,
  asked: string | undefined,
): Promise<Pick<WorktreeRecord, 'base' | 'start' | 'madeBranch'>> {
  const { base, start } = await findBase(git, layout.main, asked);
  const local = await commitOf(git, layout.main, `refs/heads/${branch}`);
  if (local !== undefined) return { base, start: local, madeBranch: false };
  return { base, start: (await remoteCommitOf(git, layout.main, branch)) ?? start, madeBranch: true };
}

async function make(
  context: WorktreeContext,
  record: WorktreeRecord,
  path: string,
  options: CreateOptions,
): Promise<string | null> {
  const { layout, config } = context;
  const { name, branch, start } = record;
  const report = options.report ?? (() => undefined);
  const log = await openStepLog({ file: logFile(layout, name), append: false });
  try {
    await log.heading(`[svc ${context.now().toISOString()}] worktree ${name}, branch ${branch} at ${start}`);
    await addWorktree(context, record, path, options.signal);
    if ((await realpath(path)) !== path) throw new Error(`${path} is not where it should be`);
    const facts = await repositoryFacts(context);
    const variables = setupVariables(path, branch, facts);
    const { profile, from } = contextProfile(facts);
    await log.heading(`[svc] DIRECTORY is ${variables.DIRECTORY}, PROFILE is ${profile} (from ${from})`);
    const run = (steps: Parameters<typeof runSteps>[0]) =>
      runSteps(steps, {
        folder: path,
        environment: stepEnvironment(context.environment, config, variables),
        timeoutMs: context.stepTimeoutMs,
        log,
        now: context.now,
        signal: options.signal,
        report,
        onStart: (pid) => rememberStep(context, record, pid),
      });
    await run(await setupSteps(config, variables));
    if (config.svc.worktree.setup === undefined) await log.heading(await linkThoughts(context, path, facts));
    const ticket = await makeContext(context, path, branch, options);
    await run(hookSteps(config, 'setup', variables));
    const warning = await context.trust.add(path);
    if (warning !== undefined) report({ kind: 'warning', message: warning });
    if (options.signal?.aborted) throw new Failure('start-failed', `${name} was stopped.`);
    return ticket;
  } finally {
    await log.close();
  }
}

/** The branch first: a repeated step would fail on its own branch. */
async function addWorktree(
  { git, layout }: WorktreeContext,
  { branch, madeBranch, start }: WorktreeRecord,
  path: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (madeBranch) await git.run(layout.main, ['branch', '--no-track', '--', branch, start]);
  await checkOut(git, layout.main, { path, at: { branch }, signal });
}

/** Context init and sync, as the last part of a detected setup. */
async function linkThoughts(context: WorktreeContext, path: string, facts: RepositoryFacts): Promise<string> {
  const { git, layout, thoughtsRoot } = context;
  const { main, inside } = layout;
  const folder = inside === '' ? 'thoughts' : `${inside}/thoughts`;
  const tracked = await git.run(path, ['ls-files', '-z', '--', `:(top,literal)${folder}`]);
  const { store, linked, added } = await initThoughts({
    worktree: path,
    main,
    inside,
    root: thoughtsRoot,
    facts,
    isTracked: tracked !== '',
  });
  const links = linked.map((part) => `${folder}/${part}`);
  return links.length === 0
    ? `[svc] context: ${folder} existed already and was not changed`
    : `[svc] context: ${links.join(' and ')} in ${store}; copied ${added} new files from ${main}`;
}

/** If a setup command has created it, its ticket stays as it is. */
async function makeContext(
  { locks, now, config }: WorktreeContext,
  path: string,
  branch: string,
  { ticket: asked, orchestration }: CreateOptions,
): Promise<string | null> {
  const store = createContextStore({ root: path, locks, now });
  const prefix = ticketPrefixOf(config);
  const ticket = asked ?? ticketNamed(branch, undefined, prefix === undefined ? [] : [prefix]);
  const context =
    (await store.read()) ??
    (await store.change((fresh, time) => (ticket === undefined ? fresh : withTicket(fresh, time, ticket))));
  if (orchestration !== undefined)
    await store.change((made, time) => withOrchestration(made, time, orchestration));
  return context.currentTicket;
}

/** The failure to report, after everything was removed again. */
async function failureAfterUndo(
  context: WorktreeContext,
  record: WorktreeRecord,
  path: string,
  error: unknown,
): Promise<unknown> {
  const branch = record.madeBranch ? { name: record.branch, at: record.start } : undefined;
  let after: string;
  try {
    const { branchRemoved } = await removeCompletely(context, { name: record.name, path, branch });
    const stays =
      branch !== undefined &&
      !branchRemoved &&
      (await commitOf(context.git, context.layout.main, `refs/heads/${branch.name}`));
    after = stays
      ? `The worktree was removed again; its branch ${record.branch} has new commits and was kept.`
      : 'The worktree was removed again.';
  } catch (failure) {
    const why = messageOf(failure);
    after = `It was only partly created and could not be removed: ${why}\nTry: svc worktree remove ${record.name}`;
  }
  if (!(error instanceof Failure)) return error;
  return new Failure(error.code, `${error.message}\n${after}`, error.remedy, { cause: error });
}
