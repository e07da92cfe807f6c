// Removes a worktree, in this order: waiting findings are filed if the project has consent; what would be lost is listed,
// and without `force` any loss is a refusal; the teardown hooks run; a bundle is kept; the worktree is removed. A worktree
// that was only partly created or removed needs no force: it is not in use, and its bundle is kept too.
import { rm } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { ifPresent } from '@svc/lib/files';
import { copyFile } from '@svc/lib/paths';
import { shellQuoted } from '@svc/lib/shell-quoted';
import { removeTree } from '../../../kernel/disk/private-file.ts';
import { Failure } from '../../../kernel/failure.ts';
import type { EventDraft } from '../../../kernel/log/event-line.ts';
import { setupVariables } from '../../context/setup-variables.ts';
import {
  keepBundle,
  keptFolder,
  pruneKept,
  pruneKeptRefs,
  pruneLogs,
  restoreCommands,
  tipsOf,
} from './bundle.ts';
import {
  findWorktree,
  holdName,
  isThere,
  logFile,
  projectIn,
  rememberStep,
  removeLog,
  repositoryFacts,
  type WorktreeContext,
} from './context.ts';
import { type Git, gitWorktrees, LONG_MS } from './git.ts';
import {
  checkRemoval,
  isLost,
  type Losses,
  lossesOf,
  lossLines,
  recordOf,
  type State,
  submodulesOf,
} from './inspect.ts';
import { hookSteps, openStepLog, type Report, runSteps, stepEnvironment } from './steps.ts';

// The uncommitted changes of a worktree become a commit in the shape of a stash (for `git stash apply`), with untracked
// files and waiting findings. It is made with a separate index: the worktree, its index and the stash do not change.

const identity = { GIT_AUTHOR_NAME: 'svc', GIT_AUTHOR_EMAIL: 'svc@localhost' };
const committer = { GIT_COMMITTER_NAME: 'svc', GIT_COMMITTER_EMAIL: 'svc@localhost' };

async function snapshotOf(options: {
  git: Git;
  worktree: string;
  head: string;
  /** Folders in it that are kept although git ignores them. */
  alsoIgnored: readonly string[];
  /** A file that does not exist yet; it is removed afterwards. */
  temporaryIndex: string;
}): Promise<string> {
  const { git, worktree, head, temporaryIndex } = options;
  const environment = { GIT_INDEX_FILE: temporaryIndex, ...identity, ...committer };
  const run = async (...args: string[]): Promise<string> =>
    (
      await git.run(worktree, args, { environment, timeoutMs: LONG_MS, isWorktree: true, ownFilters: true })
    ).trim();
  const commit = (tree: string, parents: string[], message: string): Promise<string> =>
    run('commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-m', message);
  try {
    await copyIndex(git, worktree, temporaryIndex);
    // During a conflict the index is not a tree.
    const index = await git.ask(worktree, ['write-tree'], { environment });
    const indexTree = index.exitCode === 0 ? index.stdout.trim() : await run('rev-parse', `${head}^{tree}`);
    const staged = await commit(indexTree, [head], 'Staged changes');
    // Line endings stay as they are in the files.
    const asTheyAre = ['-c', 'core.autocrlf=false', '-c', 'core.safecrlf=false'];
    const add = [...asTheyAre, '-c', 'advice.addEmbeddedRepo=false', 'add', '--all', '--sparse'];
    // Git would start itself in a submodule; what is lost there was refused.
    const submodules = await submodulesOf(git, worktree);
    await run(...add, '--', ':/', ...submodules.map((path) => `:(top,exclude,literal)${path}`));
    for (const folder of options.alsoIgnored) await run(...add, '--force', '--', `:(top,literal)${folder}`);
    const snapshot = await commit(await run('write-tree'), [head, staged], 'Uncommitted changes');
    await refuseNested(git, worktree, head, snapshot);
    return snapshot;
  } finally {
    await rm(temporaryIndex, { force: true });
    await rm(`${temporaryIndex}.lock`, { force: true });
  }
}

async function copyIndex(git: Git, worktree: string, to: string): Promise<void> {
  const index = (await git.run(worktree, ['rev-parse', '--git-path', 'index'])).replace(/\n$/, '');
  await ifPresent(copyFile(resolve(worktree, index), to));
}

/** A commit only names a repository inside the worktree; it does not contain its files. */
async function refuseNested(git: Git, worktree: string, head: string, snapshot: string): Promise<void> {
  const text = await git.run(worktree, ['diff-tree', '-r', '-z', '--raw', '--no-renames', head, snapshot]);
  const records = text.split('\0');
  const nested = records.flatMap((record, at) =>
    /^:\d+ 160000 /.test(record) ? [records[at + 1] ?? ''] : [],
  );
  if (nested.length === 0) return;
  throw new Failure(
    'not-allowed-now',
    `${worktree} contains git repositories that cannot be backed up: ${nested.slice(0, 5).join(', ')}.`,
    'Move them elsewhere, or push their work and delete them; then remove the worktree.',
  );
}

// Removes whatever is left of a worktree: git's entry, the folder, the branch, its trust, its record. What had to be kept
// has been kept already.

export async function removeCompletely(
  context: WorktreeContext,
  worktree: {
    name: string;
    path: string;
    /** The branch is removed only while it is still at this commit. */
    branch?: { name: string; at: string } | undefined;
  },
): Promise<{ branchRemoved: boolean; warnings: string[] }> {
  const { git, layout, records, trust } = context;
  const { name, path, branch } = worktree;
  const isKnown = async (): Promise<boolean> =>
    (await gitWorktrees(git, layout.main)).some((entry) => entry.path === path);
  // Twice: a killed create left it locked.
  const remove = ['worktree', 'remove', '--force', '--force', '--', path];
  const wasKnown = await isKnown();
  if (wasKnown) await git.ask(layout.main, remove, { timeoutMs: LONG_MS });
  if (await isThere(path)) await removeTree(path);
  if (wasKnown && (await isKnown())) await git.run(layout.main, remove);
  const branchRemoved = branch !== undefined && (await removeBranch(context, branch));
  const warning = await trust.remove(path);
  await records.forget(name);
  return { branchRemoved, warnings: warning === undefined ? [] : [warning] };
}

/** Not if it has moved meanwhile, or if another worktree uses it. */
async function removeBranch(
  { git, layout }: WorktreeContext,
  branch: { name: string; at: string },
): Promise<boolean> {
  const inUse = (await gitWorktrees(git, layout.main)).some((entry) => entry.branch === branch.name);
  if (inUse) return false;
  const gone = await git.ask(layout.main, ['update-ref', '-d', `refs/heads/${branch.name}`, branch.at]);
  if (gone.exitCode !== 0) return false;
  // Its settings, if any.
  await git.ask(layout.main, ['config', '--local', '--remove-section', `branch.${branch.name}`]);
  return true;
}

export type RemoveOptions = {
  force?: boolean | undefined;
  /** A folder for a bundle that stays, made only of what would be lost. Default: beside the worktrees, for 30 days. */
  keepIn?: string | undefined;
  /** The user's current folder, which is never removed. */
  currentFolder?: string | undefined;
  /** Owner of the worktree: goes into the events about findings that are filed. */
  scope?: EventDraft['scope'] | undefined;
  report?: Report | undefined;
  signal?: AbortSignal | undefined;
};

export type RemovedWorktree = {
  name: string;
  path: string;
  branch: string | null;
  branchRemoved: boolean;
  /** The bundle; null when there was nothing to keep. */
  kept: string | null;
  /** Commands that restore its content. */
  restore: string[];
  losses: Losses;
};

export async function removeWorktree(
  context: WorktreeContext,
  text: string,
  options: RemoveOptions,
): Promise<RemovedWorktree> {
  const { name } = await findWorktree(context, text);
  const hold = await holdName(context, name);
  if (hold === undefined)
    throw new Failure('busy', `Another command is creating or removing ${name}.`, 'See: svc worktree list');
  try {
    const report = options.report ?? (() => undefined);
    const state = await checkRemoval(context, name, options.currentFolder);
    if (state.folder !== null && !state.unfinished)
      await fileFindings(context, state.folder, { ...options, report });
    let losses = await refuseLosses(context, state, options);
    if (
      state.folder !== null &&
      !state.unfinished &&
      (await runTeardownHooks(context, state, { ...options, report }))
    )
      losses = await refuseLosses(context, state, options);
    const { kept, tips } = await keep(context, state, losses, options.keepIn);
    await context.records.write({ ...recordOf(context, state), state: 'removing', step: null });
    await refuseNewLosses(context, state, options);
    const made = state.record?.madeBranch === true ? state.record.branch : undefined;
    const at = tips.find(({ ref }) => ref === `refs/heads/${made}`)?.sha;
    const { branchRemoved, warnings } = await removeCompletely(context, {
      name,
      path: state.path,
      branch: made !== undefined && at !== undefined ? { name: made, at } : undefined,
    });
    for (const message of warnings) report({ kind: 'warning', message });
    await removeLog(context.layout, name);
    await prune(context);
    return {
      name,
      path: state.path,
      branch: state.branches[0] ?? null,
      branchRemoved,
      kept: kept?.file ?? null,
      restore: kept === undefined ? [] : restoreCommands(kept, branchRemoved),
      losses,
    };
  } finally {
    hold.release();
  }
}

async function fileFindings(
  context: WorktreeContext,
  worktree: string,
  { scope = {}, signal, report }: RemoveOptions & { report: Report },
): Promise<void> {
  const { filed, left, why } = await context.findings.file({
    project: projectIn(context, worktree),
    scope,
    signal: signal ?? new AbortController().signal,
  });
  if (filed > 0) report({ kind: 'output', line: `findings filed: ${filed}` });
  if (left > 0) report({ kind: 'warning', message: `findings not filed: ${left} (${why})` });
}

/** Checked once more: what was added while the bundle was written is not removed without force. */
async function refuseNewLosses(
  context: WorktreeContext,
  state: State,
  options: RemoveOptions,
): Promise<void> {
  if (options.force === true || state.unfinished) return;
  try {
    await refuseLosses(context, state, options);
  } catch (error) {
    if (state.record === undefined) await context.records.forget(state.name);
    else await context.records.write(state.record);
    throw error;
  }
}

async function refuseLosses(
  context: WorktreeContext,
  state: State,
  { force }: RemoveOptions,
): Promise<Losses> {
  const losses = await lossesOf(context, state);
  if (force === true || state.unfinished || !isLost(losses)) return losses;
  const drain = `File the findings: cd ${shellQuoted(projectIn(context, state.path))} && svc findings drain`;
  const isWork = isLost({ ...losses, findings: { count: 0, titles: [] } });
  const first = [...(losses.findings.count > 0 ? [drain] : []), ...(isWork ? ['Commit and push'] : [])];
  throw new Failure(
    'not-allowed-now',
    [`${state.name} was not removed, because this would be lost:`, ...lossLines(losses)].join('\n'),
    `${first.join('\n')}, or remove it anyway: svc worktree remove ${state.name} --force (a bundle is kept for 30 days)`,
  );
}

/** True when hooks ran: they may have changed something. */
async function runTeardownHooks(
  context: WorktreeContext,
  state: State,
  options: RemoveOptions & { report: Report },
): Promise<boolean> {
  const facts = await repositoryFacts(context);
  const variables = setupVariables(state.path, recordOf(context, state).branch, facts);
  const steps = hookSteps(context.config, 'teardown', variables);
  if (steps.length === 0) return false;
  const log = await openStepLog({ file: logFile(context.layout, state.name), append: true });
  try {
    await runSteps(steps, {
      folder: state.path,
      environment: stepEnvironment(context.environment, context.config, variables),
      timeoutMs: context.stepTimeoutMs,
      log,
      now: context.now,
      signal: options.signal,
      report: options.report,
      onStart: async (pid) => {
        if (state.record !== undefined) await rememberStep(context, state.record, pid);
      },
    });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (options.force !== true || options.signal?.aborted)
      throw new Failure(error.code, `${error.message}\n${state.name} was not removed.`, error.remedy, {
        cause: error,
      });
    options.report({ kind: 'warning', message: error.message });
  } finally {
    await log.close();
  }
  return true;
}

async function keep(context: WorktreeContext, state: State, losses: Losses, keepIn: string | undefined) {
  const { git, layout } = context;
  const tips = await tipsOf(git, layout.main, state.branches, state.entry?.head ?? null);
  if (losses.submodules.length > 0)
    throw new Failure(
      'not-allowed-now',
      `${state.name} has submodules with changes that cannot be backed up: ${losses.submodules.join(', ')}.`,
      'Commit and push them in the submodule, or discard them; then remove the worktree.',
    );
  if (tips.length === 0 || (keepIn !== undefined && !isLost(losses))) return { kept: undefined, tips };
  const head = state.entry?.head ?? null;
  const isDirty =
    losses.uncommitted.count + losses.findings.count > 0 && state.folder !== null && head !== null;
  const snapshot = isDirty
    ? await snapshotOf({
        git,
        worktree: state.path,
        head,
        alsoIgnored:
          losses.findings.count > 0
            ? [relative(state.path, context.findings.folder(projectIn(context, state.path)))]
            : [],
        temporaryIndex: `${layout.base}/.index-${crypto.randomUUID()}`,
      })
    : undefined;
  const kept = await keepBundle({
    git,
    main: layout.main,
    folder: keepIn ?? keptFolder(layout.base),
    name: state.name,
    baseBranch: state.base,
    tips,
    loose: [
      ...(snapshot === undefined ? [] : [{ what: 'uncommitted' as const, sha: snapshot }]),
      ...losses.stashes.map(({ sha }) => ({ what: 'stash' as const, sha })),
    ],
    now: context.now(),
  });
  return { kept, tips };
}

async function prune({ git, layout, records, now }: WorktreeContext): Promise<void> {
  await pruneKept(layout.base, now());
  await pruneKeptRefs(git, layout.main, now());
  const inUse = new Set((await records.names()).map((name) => `${name}.log`));
  await pruneLogs(`${layout.base}/.logs`, inUse, now());
}
