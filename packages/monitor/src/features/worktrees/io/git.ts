// Git for worktrees. A filter of the person's own settings sees what git sees: none of our secrets.
import { createGitRunner, type GitOptions, gitEndWords, lastLines, linesOf } from '@svc/lib/git';
import type { CommandEnd, RunCommand } from '@svc/lib/process';
import type { Environment } from '../../../kernel/config/resolved-value.ts';
import { Failure } from '../../../kernel/failure.ts';
import { withoutSecrets } from '../../agents/agent-environment.ts';
import { branchNameProblem } from '../branch-name.ts';

/** For a checkout of a large repository, or a bundle of one. */
export const LONG_MS = 30 * 60_000;

type GitAnswer = { exitCode: number; stdout: string; stderr: string };

export type Git = {
  /** Git's output, whatever its exit code. */
  ask: (folder: string, args: readonly string[], options?: GitOptions) => Promise<GitAnswer>;
  /** The standard output; fails when git fails. */
  run: (folder: string, args: readonly string[], options?: GitOptions) => Promise<string>;
  /** The same; undefined when the output, or the list of arguments, is too long. */
  runUpTo: (folder: string, args: readonly string[], options: GitOptions) => Promise<string | undefined>;
};

export function createGit({
  run,
  environment,
  secretNames,
}: {
  run: RunCommand;
  environment: Environment;
  /** Variables that hold secrets, besides those that always do. */
  secretNames: readonly string[];
}): Git {
  const runGit = createGitRunner(run, withoutSecrets(environment, secretNames));

  return {
    ask: async (folder, args, options) => answerIn(await runGit(folder, args, options), folder, args),
    run: async (folder, args, options) => outputIn(await runGit(folder, args, options), folder, args),
    async runUpTo(folder, args, options) {
      const end = await runGit(folder, args, options);
      const isTooLong = end.ended === 'too-large' || (end.ended === 'not-started' && end.reason === 'E2BIG');
      return isTooLong ? undefined : outputIn(end, folder, args);
    },
  };
}

function answerIn(end: CommandEnd, folder: string, args: readonly string[]): GitAnswer {
  if (end.ended === 'exit') return end;
  const isMissing = end.ended === 'not-started' && end.reason === 'ENOENT';
  throw new Failure(
    'file-unusable',
    `git ${args[0] ?? ''} in ${folder} ${gitEndWords(end)}.`,
    isMissing ? 'Install git.' : undefined,
  );
}

function outputIn(end: CommandEnd, folder: string, args: readonly string[]): string {
  const { exitCode, stdout, stderr } = answerIn(end, folder, args);
  if (exitCode === 0) return stdout;
  throw new Failure(
    'file-unusable',
    `git ${args.slice(0, 2).join(' ')} in ${folder} failed (${exitCode}): ${lastLines(stderr || stdout)}`,
  );
}

/**
 * Creates a worktree, with the person's own filters. In two steps: the settings that apply in the new folder can be read
 * only once it exists. Each step can be repeated.
 */
export async function checkOut(
  git: Git,
  main: string,
  {
    path,
    at,
    ...options
  }: { path: string; at: { branch: string } | { commit: string } } & Pick<
    GitOptions,
    'environment' | 'signal'
  >,
): Promise<void> {
  const [flags, ref] = 'branch' in at ? [[], at.branch] : [['--detach'], at.commit];
  const add = ['worktree', 'add', '--quiet', '--no-checkout', ...flags, '--', path, ref];
  await git.run(main, add, { ...options, timeoutMs: LONG_MS });
  await git.run(path, ['reset', '--hard', '--quiet', '--no-recurse-submodules'], {
    ...options,
    timeoutMs: LONG_MS,
    isWorktree: true,
    ownFilters: true,
    remote: true,
  });
}

// What git knows about the worktrees of a repository. The first one is the main one.

export type GitWorktree = {
  path: string;
  /** Null when nothing was committed yet. */
  head: string | null;
  /** The branch without `refs/heads/`; null when it is detached, also during a rebase. */
  branch: string | null;
  bare: boolean;
  /** Why it is locked, possibly an empty text; null when it is not. */
  locked: string | null;
  /** Its folder is gone. */
  missing: boolean;
};

export async function gitWorktrees(git: Git, folder: string): Promise<GitWorktree[]> {
  return parseWorktrees(await git.run(folder, ['worktree', 'list', '--porcelain', '-z']));
}

/** Records of NUL-terminated attributes, each record followed by one more NUL. */
function parseWorktrees(text: string): GitWorktree[] {
  return text
    .split('\0\0')
    .filter((record) => record !== '')
    .map((record) => {
      const attributes = new Map(
        record.split('\0').map((attribute): [string, string] => {
          const at = attribute.indexOf(' ');
          return at < 0 ? [attribute, ''] : [attribute.slice(0, at), attribute.slice(at + 1)];
        }),
      );
      const head = attributes.get('HEAD');
      return {
        path: attributes.get('worktree') ?? '',
        head: head === undefined || /^0+$/.test(head) ? null : head,
        branch: attributes.get('branch')?.replace(/^refs\/heads\//, '') ?? null,
        bare: attributes.has('bare'),
        locked: attributes.get('locked') ?? null,
        missing: attributes.has('prunable'),
      };
    });
}

/** Names and subjects come from outside: they must not send control sequences to the terminal. */
export function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?').slice(0, 200);
}

// Commits by name: where a new branch starts, and where work counts as safe.

const commitId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** The commit of a ref or a full commit id; undefined when it does not exist. */
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
 * Where a new branch starts: at the newest known commit of the base branch. Nothing is fetched. Without a name the base
 * is `main`, otherwise the default branch of `origin`, otherwise the branch of the main worktree.
 */
export async function findBase(
  git: Git,
  main: string,
  asked: string | undefined,
): Promise<{ base: string; start: string }> {
  if (asked === undefined) {
    const start = await newestOf(git, main, 'main');
    if (start !== undefined) return { base: 'main', start };
    for (const base of await otherDefaults(git, main)) {
      const other = await newestOf(git, main, base);
      if (other !== undefined) return { base, start: other };
    }
    throw new Failure('usage', 'There is no branch main to start from.', 'Name another: --base <branch>');
  }
  const problem = commitId.test(asked) ? undefined : branchNameProblem(asked);
  if (problem !== undefined)
    throw new Failure('usage', `${JSON.stringify(asked.slice(0, 250))} is not a branch name: it ${problem}.`);
  const start = commitId.test(asked) ? await commitOf(git, main, asked) : await newestOf(git, main, asked);
  if (start !== undefined) return { base: asked, start };
  throw new Failure(
    'usage',
    `There is no branch ${asked} to start from.`,
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

/** The local branch, or the remote one if that is ahead of it or the only one. */
async function newestOf(git: Git, main: string, branch: string): Promise<string | undefined> {
  const local = await commitOf(git, main, `refs/heads/${branch}`);
  const remote =
    (await remoteCommitOf(git, main, branch)) ?? (await commitOf(git, main, `refs/remotes/${branch}`));
  if (local === undefined || remote === undefined || local === remote) return local ?? remote;
  return (await isAncestor(git, main, local, remote)) ? remote : local;
}

/** The branch on a remote, `origin` first. */
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
  // One ref per commit is enough.
  const byCommit = new Map(found.map(([sha = '', ref = '']) => [sha, ref]));
  if (extra !== undefined) byCommit.set(extra, upstream);
  return [...byCommit.values()];
}

/** The newest commit of a branch, or of a worktree without one. */
export type Tip = { ref: string; sha: string };
