// Removes a worktree. First the findings that wait in it are filed, where the project has consent. Then it is proved
// what would be lost; without `force` anything at all is a refusal. Then the
// teardown hooks run, a bundle is kept, and only then something goes. A worktree that was never finished, or whose
// removal was cut off, needs no force: it was handed to nobody, and the bundle is kept all the same.

import { copyFile, rm } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import type { EventDraft } from '@svc/core';
import { ifPresent } from '@svc/lib/files';
import { removeTree } from '../../disk/remove-tree.ts';
import { Failure } from '../../errors.ts';
import {
  keepBundle,
  pruneKept,
  pruneKeptRefs,
  pruneLogs,
  restoreCommands,
  shellQuoted,
  tipsOf,
} from './bundle.ts';
import { type Git, gitWorktrees, LONG_MS } from './git.ts';
import { isLost, type Losses } from './inspect.ts';
import { lookForRemoval, lossesOf, recordOf, type State } from './look.ts';
import { lossWords } from './loss-words.ts';
import { isThere } from './place.ts';
import {
  findWorktree,
  forgetLog,
  holdName,
  logFile,
  projectIn,
  type Room,
  rememberStep,
  variablesOf,
} from './room.ts';
import { hookSteps, openStepLog, runSteps, stepEnvironment, type Tell } from './steps.ts';

// The uncommitted state of a worktree as a commit, in the shape of a stash (`git stash apply` takes it), untracked
// files and the findings that wait included. Made with an index of its own: neither the worktree, its index nor the person's stash changes.

const identity = { GIT_AUTHOR_NAME: 'svc', GIT_AUTHOR_EMAIL: 'svc@localhost' };
const committer = { GIT_COMMITTER_NAME: 'svc', GIT_COMMITTER_EMAIL: 'svc@localhost' };

async function snapshotOf(options: {
  git: Git;
  worktree: string;
  head: string;
  /** Folders in it that are kept although git is told to leave them alone. */
  alsoIgnored: readonly string[];
  /** A file that is not there yet; it is gone again afterwards. */
  temporaryIndex: string;
}): Promise<string> {
  const { git, worktree, head, temporaryIndex } = options;
  const environment = { GIT_INDEX_FILE: temporaryIndex, ...identity, ...committer };
  const run = async (...args: string[]): Promise<string> =>
    (await git.run(worktree, args, { environment, timeoutMs: LONG_MS })).trim();
  const commit = (tree: string, parents: string[], words: string): Promise<string> =>
    run('commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-m', words);
  try {
    await copyIndex(git, worktree, temporaryIndex);
    // In the middle of a conflict the index is no tree.
    const index = await git.ask(worktree, ['write-tree'], { environment });
    const indexTree = index.exitCode === 0 ? index.stdout.trim() : await run('rev-parse', `${head}^{tree}`);
    const staged = await commit(indexTree, [head], 'What was staged');
    // Line ends stay as they are in the files.
    const asTheyAre = ['-c', 'core.autocrlf=false', '-c', 'core.safecrlf=false'];
    const add = [...asTheyAre, '-c', 'advice.addEmbeddedRepo=false', 'add', '--all', '--sparse'];
    await run(...add, '--', ':/');
    for (const folder of options.alsoIgnored) await run(...add, '--force', '--', `:(top,literal)${folder}`);
    const snapshot = await commit(await run('write-tree'), [head, staged], 'What was not committed');
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

/** A repository inside the worktree is only named by a commit, its files are not in it. */
async function refuseNested(git: Git, worktree: string, head: string, snapshot: string): Promise<void> {
  const text = await git.run(worktree, ['diff-tree', '-r', '-z', '--raw', '--no-renames', head, snapshot]);
  const records = text.split('\0');
  const nested = records.flatMap((record, at) =>
    /^:\d+ 160000 /.test(record) ? [records[at + 1] ?? ''] : [],
  );
  if (nested.length === 0) return;
  throw new Failure(
    'not-allowed-now',
    `${worktree} has a git repository inside that cannot be kept: ${nested.slice(0, 5).join(', ')}.`,
    'Move it away, or push what is in it and delete it; then remove the worktree.',
  );
}

// Takes a worktree down, whatever is left of it: git's entry, the folder, the branch, its trust, its record.
// Nothing is asked here: what had to be kept is kept, or there was nothing yet.

export async function takeDown(
  room: Room,
  worktree: {
    name: string;
    path: string;
    /** The branch goes only while it is still at this commit. */
    branch?: { name: string; at: string } | undefined;
  },
): Promise<{ branchRemoved: boolean; warnings: string[] }> {
  const { git, place, records, trust } = room;
  const { name, path, branch } = worktree;
  const isKnown = async (): Promise<boolean> =>
    (await gitWorktrees(git, place.main)).some((entry) => entry.path === path);
  // Twice: a create that was killed left it locked.
  const remove = ['worktree', 'remove', '--force', '--force', '--', path];
  if (await isKnown()) await git.ask(place.main, remove, { timeoutMs: LONG_MS });
  if (await isThere(path)) await removeTree(path);
  if (await isKnown()) await git.run(place.main, remove);
  const branchRemoved = branch !== undefined && (await removeBranch(room, branch));
  const warning = await trust.remove(path);
  await records.forget(name);
  return { branchRemoved, warnings: warning === undefined ? [] : [warning] };
}

/** Not when it moved meanwhile, nor when another worktree has it. */
async function removeBranch({ git, place }: Room, branch: { name: string; at: string }): Promise<boolean> {
  const inUse = (await gitWorktrees(git, place.main)).some((entry) => entry.branch === branch.name);
  if (inUse) return false;
  const gone = await git.ask(place.main, ['update-ref', '-d', `refs/heads/${branch.name}`, branch.at]);
  if (gone.exitCode !== 0) return false;
  // Its settings, where it has some.
  await git.ask(place.main, ['config', '--local', '--remove-section', `branch.${branch.name}`]);
  return true;
}

export type RemoveOptions = {
  force?: boolean | undefined;
  /** Where the person stands: not there. */
  currentFolder?: string | undefined;
  /** Whose worktree it is: stands in the lines about findings that are filed. */
  scope?: EventDraft['scope'] | undefined;
  tell?: Tell | undefined;
  signal?: AbortSignal | undefined;
};

export type RemovedWorktree = {
  name: string;
  path: string;
  branch: string | null;
  branchRemoved: boolean;
  /** The bundle, for 30 days; null when there was no commit to keep. */
  kept: string | null;
  /** Commands that bring back what is in it. */
  restore: string[];
  losses: Losses;
};

export async function removeWorktree(
  room: Room,
  text: string,
  options: RemoveOptions,
): Promise<RemovedWorktree> {
  const { name } = await findWorktree(room, text);
  const hold = await holdName(room, name);
  if (hold === undefined)
    throw new Failure('busy', `Another create or remove of ${name} is under way.`, 'See: svc worktree list');
  try {
    const tell = options.tell ?? (() => undefined);
    const state = await lookForRemoval(room, name, options.currentFolder);
    if (state.folder !== null && !state.unfinished)
      await fileFindings(room, state.folder, { ...options, tell });
    let losses = await refuseLosses(room, state, options);
    if (state.folder !== null && !state.unfinished && (await tearDown(room, state, { ...options, tell })))
      losses = await refuseLosses(room, state, options);
    const { kept, tips } = await keep(room, state, losses);
    await room.records.write({ ...recordOf(room, state), state: 'removing', step: null });
    await removeByGit(room, state, options);
    const made = state.record?.madeBranch === true ? state.record.branch : undefined;
    const at = tips.find(({ ref }) => ref === `refs/heads/${made}`)?.sha;
    const { branchRemoved, warnings } = await takeDown(room, {
      name,
      path: state.path,
      branch: made !== undefined && at !== undefined ? { name: made, at } : undefined,
    });
    for (const message of warnings) tell({ kind: 'warning', message });
    await forgetLog(room.place, name);
    await prune(room);
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
  room: Room,
  worktree: string,
  { scope = {}, signal, tell }: RemoveOptions & { tell: Tell },
): Promise<void> {
  const { filed, left, why } = await room.findings.file({
    project: projectIn(room, worktree),
    scope,
    signal: signal ?? new AbortController().signal,
  });
  if (filed > 0) tell({ kind: 'output', line: `findings filed: ${filed}` });
  if (left > 0) tell({ kind: 'warning', message: `findings not filed: ${left}, because ${why}` });
}

/** Git looks once more itself: what came since the last look is not removed without force. */
async function removeByGit(room: Room, state: State, options: RemoveOptions): Promise<void> {
  if (options.force === true || state.unfinished || state.folder === null) return;
  const remove = ['worktree', 'remove', '--', state.path];
  if ((await room.git.ask(room.place.main, remove, { timeoutMs: LONG_MS })).exitCode === 0) return;
  try {
    await refuseLosses(room, state, options);
  } catch (error) {
    if (state.record === undefined) await room.records.forget(state.name);
    else await room.records.write(state.record);
    throw error;
  }
}

async function refuseLosses(room: Room, state: State, { force }: RemoveOptions): Promise<Losses> {
  const losses = await lossesOf(room, state);
  if (force === true || state.unfinished || !isLost(losses)) return losses;
  const drain = `File the findings: cd ${shellQuoted(projectIn(room, state.path))} && svc findings drain`;
  const isWork = isLost({ ...losses, findings: { count: 0, titles: [] } });
  const first = [...(losses.findings.count > 0 ? [drain] : []), ...(isWork ? ['Commit and push'] : [])];
  throw new Failure(
    'not-allowed-now',
    [`${state.name} is not removed; with it would go:`, ...lossWords(losses)].join('\n'),
    `${first.join('\n')}, or remove it all the same: svc worktree remove ${state.name} --force (a bundle is kept for 30 days)`,
  );
}

/** True when hooks ran: they may have changed something. */
async function tearDown(room: Room, state: State, options: RemoveOptions & { tell: Tell }): Promise<boolean> {
  const variables = await variablesOf(room, state.path, recordOf(room, state).branch);
  const steps = hookSteps(room.config, 'teardown', variables);
  if (steps.length === 0) return false;
  const log = await openStepLog({ file: logFile(room.place, state.name), append: true });
  try {
    await runSteps(steps, {
      folder: state.path,
      environment: stepEnvironment(room.environment, room.config, variables),
      timeoutMs: room.stepTimeoutMs,
      log,
      now: room.now,
      signal: options.signal,
      tell: options.tell,
      onStart: async (pid) => {
        if (state.record !== undefined) await rememberStep(room, state.record, pid);
      },
    });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (options.force !== true || options.signal?.aborted)
      throw new Failure(error.code, `${error.message}\n${state.name} is not removed.`, error.remedy, {
        cause: error,
      });
    options.tell({ kind: 'warning', message: error.message });
  } finally {
    await log.close();
  }
  return true;
}

async function keep(room: Room, state: State, losses: Losses) {
  const { git, place } = room;
  const tips = await tipsOf(git, place.main, state.branches, state.entry?.head ?? null);
  if (losses.submodules.length > 0)
    throw new Failure(
      'not-allowed-now',
      `${state.name} has submodules with changes that cannot be kept: ${losses.submodules.join(', ')}.`,
      'Commit and push them in the submodule, or take them back; then remove the worktree.',
    );
  if (tips.length === 0) return { kept: undefined, tips };
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
            ? [relative(state.path, room.findings.folder(projectIn(room, state.path)))]
            : [],
        temporaryIndex: `${place.base}/.index-${crypto.randomUUID()}`,
      })
    : undefined;
  const kept = await keepBundle({
    git,
    main: place.main,
    baseFolder: place.base,
    name: state.name,
    baseBranch: state.base,
    tips,
    loose: [
      ...(snapshot === undefined ? [] : [{ what: 'uncommitted' as const, sha: snapshot }]),
      ...losses.stashes.map(({ sha }) => ({ what: 'stash' as const, sha })),
    ],
    now: room.now(),
  });
  return { kept, tips };
}

async function prune({ git, place, records, now }: Room): Promise<void> {
  await pruneKept(place.base, now());
  await pruneKeptRefs(git, place.main, now());
  const inUse = new Set((await records.names()).map((name) => `${name}.log`));
  await pruneLogs(`${place.base}/.logs`, inUse, now());
}
