// What would be lost with a worktree (uncommitted changes, commits that are nowhere else, stashes of its branch, a rebase
// or merge in progress, unfiled findings), and whether it may be removed at all.
import { join } from 'node:path';
import { endGroup } from '@svc/lib/end-group';
import { ifPresent } from '@svc/lib/files';
import { linesOf } from '@svc/lib/git';
import { readdir, realpath, stat } from '@svc/lib/paths';
import { Failure } from '../../../kernel/failure.ts';
import type { WorktreeRecord } from '../worktree-record.ts';
import { tipsOf } from './bundle.ts';
import { type Found, findWorktree, isInside, isThere, projectIn, type WorktreeContext } from './context.ts';
import { findBase, type Git, isAncestor, plain, safeRefs, type Tip } from './git.ts';

/** This many are listed; all are counted. */
const NAMED = 20;
/** Created by svc in every worktree, and not the user's work. */
export const OWN_FILE = '.svc/.workflow-context.json';

export type Losses = {
  uncommitted: { count: number; paths: string[] };
  commits: { count: number; named: { sha: string; subject: string }[] };
  stashes: { sha: string; name: string; subject: string }[];
  /** `a rebase`, `a merge`, … in progress; null when there is none. */
  operation: string | null;
  /** Submodules with changes, which a bundle cannot hold. */
  submodules: string[];
  /** Findings that are not filed yet. */
  findings: { count: number; titles: string[] };
};

async function findLosses(options: {
  git: Git;
  main: string;
  /** The folder; null when it is gone, so it has no uncommitted changes. */
  worktree: string | null;
  tips: readonly Tip[];
  branches: readonly string[];
  base: string;
  /** The titles of findings that wait in it. */
  findings: readonly string[];
}): Promise<Losses> {
  const { git, main, worktree, findings } = options;
  const changes = worktree === null ? { paths: [], submodules: [] } : await changesIn(git, worktree);
  return {
    uncommitted: { count: changes.paths.length, paths: changes.paths.slice(0, NAMED) },
    commits: await unsafeCommits(options),
    stashes: await stashesOn(git, main, options.branches),
    operation: worktree === null ? null : await operationIn(git, worktree),
    submodules: changes.submodules,
    findings: { count: findings.length, titles: findings.slice(0, NAMED) },
  };
}

export function isLost(losses: Losses): boolean {
  return (
    losses.uncommitted.count > 0 ||
    losses.commits.count > 0 ||
    losses.stashes.length > 0 ||
    losses.operation !== null ||
    losses.submodules.length > 0 ||
    losses.findings.count > 0
  );
}

/** Changed and untracked paths; an untracked folder is one path, ignored files do not count. */
async function changesIn(git: Git, worktree: string): Promise<{ paths: string[]; submodules: string[] }> {
  const { paths, submodules } = await ownChangesIn(git, worktree);
  for (const path of await submodulesOf(git, worktree)) {
    if (submodules.includes(path) || !(await hasChanges(git, join(worktree, path)))) continue;
    paths.push(path);
    submodules.push(path);
  }
  return { paths, submodules };
}

/** The paths of its submodules, also of those that are not checked out. */
export async function submodulesOf(git: Git, worktree: string): Promise<string[]> {
  const listed = await git.run(worktree, ['ls-files', '--stage', '-z', '--', ':/'], { isWorktree: true });
  return listed
    .split('\0')
    .flatMap((record) => (record.startsWith('160000 ') ? [record.replace(/^.*?\t/s, '')] : []));
}

/** Whether a submodule would lose something with its folder. One that cannot be checked would. */
async function hasChanges(git: Git, folder: string): Promise<boolean> {
  if (!(await isThere(join(folder, '.git')))) return false;
  try {
    return (await changesIn(git, folder)).paths.length > 0;
  } catch (error) {
    if (error instanceof Failure) return true;
    throw error;
  }
}

async function ownChangesIn(git: Git, worktree: string): Promise<{ paths: string[]; submodules: string[] }> {
  const text = await git.run(
    worktree,
    ['status', '--porcelain=v2', '-z', '--untracked-files=normal', '--ignore-submodules=dirty'],
    { isWorktree: true, ownFilters: true },
  );
  const paths: string[] = [];
  const submodules: string[] = [];
  const records = text.split('\0');
  for (let at = 0; at < records.length; at += 1) {
    const record = records[at] ?? '';
    const kind = record[0];
    if (kind === '?') paths.push(record.slice(2));
    if (kind !== '1' && kind !== '2' && kind !== 'u') continue;
    // Fixed fields by kind of record, then the path; the old path of a renamed file is a separate record.
    const path = record.split(' ').slice({ '1': 8, '2': 9, u: 10 }[kind]).join(' ');
    if (kind === '2') at += 1;
    paths.push(path);
    if (record.split(' ')[2]?.startsWith('S')) submodules.push(path);
  }
  return { paths: paths.filter((path) => path !== OWN_FILE), submodules };
}

async function unsafeCommits(options: {
  git: Git;
  main: string;
  tips: readonly Tip[];
  base: string;
}): Promise<Losses['commits']> {
  const { git, main, base } = options;
  const safe = await safeRefs(git, main, base);
  const tips: string[] = [];
  for (const { sha } of options.tips) if (!(await isContainedIn(git, main, sha, safe))) tips.push(sha);
  if (tips.length === 0) return { count: 0, named: [] };
  const range = [...tips, '--not', '--remotes', ...safe];
  const count = Number((await git.run(main, ['rev-list', '--count', ...range])).trim());
  const log = ['log', '-z', '--no-show-signature', `--max-count=${NAMED}`, '--format=%h %s', ...range, '--'];
  const named = count === 0 ? [] : (await git.run(main, log)).split('\0').filter((line) => line !== '');
  return {
    count,
    named: named.map((line) => {
      const at = line.indexOf(' ');
      return { sha: line.slice(0, at), subject: line.slice(at + 1) };
    }),
  };
}

/** Whether it was merged, even as another commit (a squash): merging it would change nothing. */
async function isContainedIn(git: Git, main: string, tip: string, refs: readonly string[]): Promise<boolean> {
  const treeOf = async (commit: string): Promise<string> =>
    (await git.run(main, ['rev-parse', '--verify', `${commit}^{tree}`], { remote: true })).trim();
  for (const ref of refs) {
    if (await isAncestor(git, main, tip, ref)) return true;
    const common = await git.ask(main, ['merge-base', ref, tip]);
    const [fork] = linesOf(common.stdout);
    // Commits that change no content are in no other commit.
    if (common.exitCode !== 0 || fork === undefined || (await treeOf(fork)) === (await treeOf(tip))) continue;
    const merged = await git.ask(main, ['merge-tree', '--write-tree', ref, tip], { remote: true });
    if (merged.exitCode === 0 && merged.stdout.trim() === (await treeOf(ref))) return true;
  }
  return false;
}

async function stashesOn(git: Git, main: string, branches: readonly string[]): Promise<Losses['stashes']> {
  const text = await git.run(main, ['stash', 'list', '-z', '--format=%H%x09%gd%x09%gs']);
  return text
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const [sha = '', name = '', ...rest] = line.split('\t');
      return { sha, name, subject: rest.join('\t') };
    })
    .filter(({ subject }) =>
      branches.some(
        (branch) => subject.startsWith(`WIP on ${branch}: `) || subject.startsWith(`On ${branch}: `),
      ),
    );
}

const operations = [
  ['rebase-merge', 'a rebase'],
  ['rebase-apply', 'a rebase'],
  ['MERGE_HEAD', 'a merge'],
  ['CHERRY_PICK_HEAD', 'a cherry-pick'],
  ['REVERT_HEAD', 'a revert'],
  ['BISECT_LOG', 'a bisect'],
] as const;

async function operationIn(git: Git, worktree: string): Promise<string | null> {
  const folder = (await git.run(worktree, ['rev-parse', '--absolute-git-dir'])).replace(/\n$/, '');
  for (const [file, text] of operations) {
    if ((await ifPresent(stat(join(folder, file)))) !== undefined) return text;
  }
  return null;
}

const GRACE_MS = 5_000;

export type State = Found & {
  base: string;
  /** Null when there is no complete worktree to inspect. */
  folder: string | null;
  branches: string[];
  /** Only partly created or removed. */
  unfinished: boolean;
};

/** What would be lost, without removing anything. */
export async function inspectWorktree(
  context: WorktreeContext,
  text: string,
): Promise<{ name: string; losses: Losses }> {
  const { name } = await findWorktree(context, text);
  const state = await describe(context, name);
  return { name, losses: await lossesOf(context, state) };
}

/** Refuses what must never be removed, with or without force. */
export async function checkRemoval(
  context: WorktreeContext,
  name: string,
  currentFolder: string | undefined,
): Promise<State> {
  const state = await describe(context, name);
  const { path, record, entry } = state;
  if (state.isMain) refuse(`${path} is the main worktree of the repository; it is never removed.`);
  if (currentFolder !== undefined && isInside(path, await realpath(currentFolder)))
    refuse(`${path} is the current folder.`, 'Change to another folder first.');
  if (entry !== undefined && entry.locked !== null && !state.unfinished)
    refuse(
      `${name} is locked${entry.locked === '' ? '' : ` (${entry.locked})`}.`,
      `Unlock it: git worktree unlock ${path}`,
    );
  // A folder that git does not know may contain anything, and nothing of it could be backed up.
  if (
    state.folder === null &&
    (await isThere(path)) &&
    record?.state !== 'removing' &&
    !(await isEmpty(path))
  )
    refuse(
      `${path} is not a complete worktree: git does not know it, so its work cannot be backed up.`,
      'Repair it (git worktree repair) or move it elsewhere, then remove the worktree.',
    );
  if (record?.step) await endRunningStep(context, record.step);
  return state;
}

function refuse(message: string, remedy?: string): never {
  throw new Failure('not-allowed-now', message, remedy);
}

async function describe(context: WorktreeContext, name: string): Promise<State> {
  const found = await findWorktree(context, name);
  const { record, entry, path } = found;
  const branches = [record?.branch, entry?.branch].filter((branch) => typeof branch === 'string');
  return {
    ...found,
    base: record?.base ?? (await findBase(context.git, context.layout.main, undefined)).base,
    folder: entry !== undefined && (await isWhole(context, path)) ? path : null,
    branches: [...new Set(branches)],
    unfinished: record !== undefined && record.state !== 'ready',
  };
}

/** In a folder that is no longer a worktree, git would answer for a surrounding repository. */
async function isWhole({ git }: WorktreeContext, path: string): Promise<boolean> {
  if (!(await isThere(path))) return false;
  const top = await git.ask(path, ['rev-parse', '--show-toplevel']);
  return top.exitCode === 0 && top.stdout.replace(/\n$/, '') === path;
}

/** If git was killed between creating the folder and its entry, at most the file `.git` exists. */
async function isEmpty(path: string): Promise<boolean> {
  return (await readdir(path)).every((name) => name === '.git');
}

export async function lossesOf(context: WorktreeContext, state: State): Promise<Losses> {
  const { git, layout } = context;
  const tips = await tipsOf(git, layout.main, state.branches, state.entry?.head ?? null);
  return findLosses({
    git,
    main: layout.main,
    worktree: state.folder,
    tips,
    branches: state.branches,
    base: state.base,
    findings: state.folder === null ? [] : await context.findings.waiting(projectIn(context, state.folder)),
  });
}

export function recordOf(context: WorktreeContext, state: State): WorktreeRecord {
  return (
    state.record ?? {
      version: 1,
      name: state.name,
      branch: state.entry?.branch ?? '',
      madeBranch: false,
      base: state.base,
      start: state.entry?.head ?? '',
      createdAt: context.now().toISOString(),
      state: 'ready',
      step: null,
    }
  );
}

/** The step of a killed create may still be running. */
async function endRunningStep(
  context: WorktreeContext,
  step: NonNullable<WorktreeRecord['step']>,
): Promise<void> {
  const start = (await context.processStarts([step.pid])).get(step.pid);
  if (start?.state === 'running' && start.mark === step.mark) await endGroup(step.pid, GRACE_MS);
}

const SHOWN = 10;

export function lossLines(losses: Losses): string[] {
  const { uncommitted, commits, stashes, operation, submodules, findings } = losses;
  return [
    ...part(uncommitted.count, 'uncommitted change', uncommitted.paths),
    ...part(
      commits.count,
      'commit that is on no remote branch and not in the base',
      commits.named.map(({ sha, subject }) => `${sha} ${subject}`),
      'commits that are on no remote branch and not in the base',
    ),
    ...part(
      stashes.length,
      'stash made on this branch',
      stashes.map(({ name, subject }) => `${name} ${subject}`),
      'stashes made on this branch',
    ),
    ...(operation === null ? [] : [`${operation} in progress`]),
    ...part(submodules.length, 'submodule with changes', submodules, 'submodules with changes'),
    ...part(findings.count, 'unfiled finding', findings.titles, 'unfiled findings'),
  ];
}

function part(count: number, one: string, names: readonly string[], many = `${one}s`): string[] {
  if (count === 0) return [];
  const named = names.slice(0, SHOWN).map((name) => `  ${plain(name)}`);
  const more = count > named.length ? [`  … and ${count - named.length} more`] : [];
  return [`${count} ${count === 1 ? one : many}:`, ...named, ...more];
}
