// What is kept of a removed worktree for 30 days: `<base>/.kept/<name>-<time>.bundle`, with its branch, and after a forced
// removal also its uncommitted changes, unfiled findings and stashes. A bundle holds only what the base does not have, and
// is verified before anything is removed.
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { linesOf } from '@svc/lib/git';
import { namesIn, openFile, stat } from '@svc/lib/paths';
import { shellQuoted } from '@svc/lib/shell-quoted';
import { Failure } from '../../../kernel/failure.ts';
import { type Git, LONG_MS, safeRefs, type Tip } from './git.ts';

const KEPT_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
const HOUR_MS = 60 * 60 * 1000;
const timeInName = /(?:-|\/)(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z(?:\.bundle$|-)/;

type KeptRef = { ref: string; sha: string; what: 'branch' | 'head' | 'uncommitted' | 'stash' };
export type Kept = { file: string; refs: KeptRef[] };

/** Where the bundles of removed worktrees are, unless another place is asked for. */
export const keptFolder = (base: string): string => join(base, '.kept');

/** A bundle of the tips (branch refs keep their names) and of commits without a ref. */
export async function keepBundle(options: {
  git: Git;
  main: string;
  /** The folder for the bundle; created if it does not exist. */
  folder: string;
  name: string;
  baseBranch: string;
  tips: readonly Tip[];
  loose: readonly { what: 'uncommitted' | 'stash'; sha: string }[];
  now: Date;
}): Promise<Kept> {
  const { git, main, folder, name, now } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const time = now.toISOString().replaceAll(/[-:.]/g, '');
  const file = await freeName(folder, name, time);
  const space = `refs/svc/kept/${time}-${crypto.randomUUID().slice(0, 8)}`;
  const refs: KeptRef[] = [
    ...options.tips.map(
      ({ ref, sha }): KeptRef =>
        ref === 'HEAD' ? { ref: `${space}/head`, sha, what: 'head' } : { ref, sha, what: 'branch' },
    ),
    ...options.loose.map(({ what, sha }, at): KeptRef => ({ ref: `${space}/${what}-${at}`, sha, what })),
  ];
  const temporary = refs.filter(({ ref }) => ref.startsWith(space));
  try {
    for (const { ref, sha } of temporary) await git.run(main, ['update-ref', ref, sha]);
    const known = await prerequisites(git, main, options.baseBranch, refs[0]?.sha);
    if (!(await write(git, main, file, refs, known))) {
      await rm(file, { force: true });
      if (!(await write(git, main, file, refs, [])))
        throw new Failure('file-unusable', `${file} is incomplete, so nothing was removed.`);
    }
  } finally {
    for (const { ref } of temporary) await git.ask(main, ['update-ref', '-d', ref]);
  }
  return { file, refs };
}

async function freeName(folder: string, name: string, time: string): Promise<string> {
  const taken = new Set(await namesIn(folder));
  for (let number = 1; ; number += 1) {
    const file = `${name}${number === 1 ? '' : `-${number}`}-${time}.bundle`;
    if (!taken.has(file)) return join(folder, file);
  }
}

/** The parents of the commit where the branch left the base: the repository has those anyway. */
async function prerequisites(
  git: Git,
  main: string,
  baseBranch: string,
  tip: string | undefined,
): Promise<string[]> {
  const [safe] = await safeRefs(git, main, baseBranch);
  if (safe === undefined || tip === undefined) return [];
  const common = await git.ask(main, ['merge-base', safe, tip]);
  const [commit] = linesOf(common.stdout);
  if (common.exitCode !== 0 || commit === undefined) return [];
  const [line = ''] = linesOf(await git.run(main, ['rev-list', '--parents', '--max-count=1', commit]));
  return line.split(' ').slice(1);
}

/** False when the bundle lacks a ref, because it is older than what is left out. */
async function write(
  git: Git,
  main: string,
  file: string,
  refs: readonly KeptRef[],
  known: readonly string[],
): Promise<boolean> {
  const wanted = [...new Set(refs.map(({ ref }) => ref))];
  const args = ['bundle', 'create', '--quiet', file, ...wanted, ...known.map((sha) => `^${sha}`)];
  const made = await git.ask(main, args, { timeoutMs: LONG_MS });
  if (made.exitCode !== 0) return false;
  await git.run(main, ['bundle', 'verify', '--quiet', file], { timeoutMs: LONG_MS });
  const heads = new Set(linesOf(await git.run(main, ['bundle', 'list-heads', file])));
  const handle = await openFile(file);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  return refs.every(({ ref, sha }) => heads.has(`${sha} ${ref}`));
}

/** Removes bundles that were kept for more than 30 days. */
export async function pruneKept(base: string, now: Date): Promise<string[]> {
  const pruned: string[] = [];
  for (const name of await namesIn(keptFolder(base))) {
    if (!name.endsWith('.bundle') || !isOlder(name, KEPT_DAYS * DAY_MS, now)) continue;
    await rm(join(keptFolder(base), name), { force: true });
    pruned.push(name);
  }
  return pruned;
}

/** Removes the refs of a bundle that was never finished. */
export async function pruneKeptRefs(git: Git, main: string, now: Date): Promise<void> {
  for (const ref of linesOf(await git.run(main, ['for-each-ref', '--format=%(refname)', 'refs/svc/kept'])))
    if (isOlder(ref, HOUR_MS, now)) await git.run(main, ['update-ref', '-d', ref]);
}

/** By the time in the name. A name without a time is not ours. */
function isOlder(name: string, ageMs: number, now: Date): boolean {
  const [, year, month, day, hour, minute, second, ms] = timeInName.exec(name) ?? [];
  if (year === undefined) return false;
  return now.getTime() - Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`) > ageMs;
}

/** Removes logs of creates that failed long ago. */
export async function pruneLogs(folder: string, inUse: ReadonlySet<string>, now: Date): Promise<void> {
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    if (inUse.has(name) || now.getTime() - (await stat(path)).mtimeMs <= KEPT_DAYS * DAY_MS) continue;
    await rm(path, { force: true });
  }
}

/** Commands that restore it, to be run in the repository. */
export function restoreCommands(kept: Kept, branchIsGone: boolean): string[] {
  const file = shellQuoted(kept.file);
  return kept.refs.flatMap(({ ref, what }) => {
    switch (what) {
      case 'branch':
        return branchIsGone ? [`git fetch ${file} ${shellQuoted(`${ref}:${ref}`)}`] : [];
      case 'head':
        return [`git fetch ${file} ${shellQuoted(ref)} && git branch restored FETCH_HEAD`];
      case 'uncommitted':
      case 'stash':
        return [`git fetch ${file} ${shellQuoted(ref)} && git stash apply FETCH_HEAD`];
    }
  });
}

/** The branch refs, and HEAD if it is not one of them. */
export async function tipsOf(
  git: Git,
  main: string,
  branches: readonly string[],
  head: string | null,
): Promise<Tip[]> {
  const wanted = new Set(branches.map((branch) => `refs/heads/${branch}`));
  const format = '--format=%(objectname) %(refname)';
  const lines = wanted.size === 0 ? '' : await git.run(main, ['for-each-ref', format, ...wanted]);
  const tips = linesOf(lines)
    .map((line): Tip => ({ ref: line.slice(line.indexOf(' ') + 1), sha: line.slice(0, line.indexOf(' ')) }))
    .filter(({ ref }) => wanted.has(ref));
  if (head !== null && !tips.some(({ sha }) => sha === head)) tips.push({ ref: 'HEAD', sha: head });
  return tips;
}
