// Commits by their names: where a new branch begins, and where work counts as safe.
import { branchNameProblem } from '@svc/core';
import { Failure } from '../../errors.ts';
import { type Git, linesOf } from './git.ts';

const commitId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** The commit of a ref or a whole commit id; undefined when it is not there. */
export async function commitOf(git: Git, folder: string, ref: string): Promise<string | undefined> {
  const { exitCode, stdout } = await git.ask(folder, [
    'rev-parse',
    '--verify',
    '--quiet',
    '--end-of-options',
    `${ref}^{commit}`,
  ]);
  return exitCode === 0 ? stdout.trim() : undefined;
}

export async function isAncestor(git: Git, folder: string, older: string, newer: string): Promise<boolean> {
  return (await git.ask(folder, ['merge-base', '--is-ancestor', older, newer])).exitCode === 0;
}

/**
 * Where a new branch begins: at the base branch, at its newest known state. Nothing is fetched. Without a name it
 * is `main`, else the default branch of `origin`, else the branch of the main worktree.
 */
export async function findBase(
  git: Git,
  main: string,
  asked: string | undefined,
): Promise<{ base: string; start: string }> {
  if (asked === undefined) {
    for (const base of ['main', ...(await otherDefaults(git, main))]) {
      const start = await newestOf(git, main, base);
      if (start !== undefined) return { base, start };
    }
    throw new Failure('usage', 'There is no branch main to begin at.', 'Name one: --base <branch>');
  }
  const problem = commitId.test(asked) ? undefined : branchNameProblem(asked);
  if (problem !== undefined)
    throw new Failure('usage', `${JSON.stringify(asked.slice(0, 250))} is no branch: it ${problem}.`);
  const start = commitId.test(asked) ? await commitOf(git, main, asked) : await newestOf(git, main, asked);
  if (start !== undefined) return { base: asked, start };
  throw new Failure(
    'usage',
    `There is no branch ${asked} to begin at.`,
    'Fetch it first (git fetch), or name another: --base <branch>',
  );
}

async function otherDefaults(git: Git, main: string): Promise<string[]> {
  const origin = await git.ask(main, ['symbolic-ref', '--quiet', 'refs/remotes/origin/HEAD']);
  const head = await git.ask(main, ['symbolic-ref', '--quiet', 'HEAD']);
  return [
    origin.stdout.trim().replace(/^refs\/remotes\/origin\//, ''),
    head.stdout.trim().replace(/^refs\/heads\//, ''),
  ].filter((name) => branchNameProblem(name) === undefined);
}

/** The local branch, or the remote one where that is ahead of it or the only one. */
async function newestOf(git: Git, main: string, branch: string): Promise<string | undefined> {
  const local = await commitOf(git, main, `refs/heads/${branch}`);
  const remote =
    (await remoteCommitOf(git, main, branch)) ?? (await commitOf(git, main, `refs/remotes/${branch}`));
  if (local === undefined || remote === undefined) return local ?? remote;
  return (await isAncestor(git, main, local, remote)) ? remote : local;
}

/** The branch as a remote has it, `origin` first. */
export async function remoteCommitOf(git: Git, main: string, branch: string): Promise<string | undefined> {
  const format = '--format=%(objectname) %(refname)';
  const found = linesOf(await git.run(main, ['for-each-ref', format, `refs/remotes/*/${branch}`]));
  const origin = found.find((line) => line.endsWith(` refs/remotes/origin/${branch}`));
  return (origin ?? found[0])?.split(' ')[0];
}

/** The refs whose commits are safe without the worktree, besides all remote branches: the base and its upstream. */
export async function safeRefs(git: Git, main: string, base: string): Promise<string[]> {
  if (branchNameProblem(base) !== undefined) return [];
  const patterns = [`refs/heads/${base}`, `refs/remotes/${base}`, `refs/remotes/*/${base}`];
  const format = '--format=%(objectname) %(refname) %(upstream)';
  const lines = linesOf(await git.run(main, ['for-each-ref', format, ...patterns])).map((l) => l.split(' '));
  const found = lines.filter(([, ref = '']) => ref === patterns[0] || ref.startsWith('refs/remotes/'));
  const upstream = found.find(([, ref]) => ref === patterns[0])?.[2] ?? '';
  const isListed = upstream === '' || found.some(([, ref]) => ref === upstream);
  const extra = isListed ? undefined : await commitOf(git, main, upstream);
  // Of refs at one commit one is enough.
  const byCommit = new Map(found.map(([sha = '', ref = '']) => [sha, ref]));
  if (extra !== undefined) byCommit.set(extra, upstream);
  return [...byCommit.values()];
}
