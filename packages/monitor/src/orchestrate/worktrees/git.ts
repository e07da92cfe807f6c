// Git for worktrees. It runs the repository's hooks, which see what git sees: none of our secrets.
import { type Environment, withoutSecrets } from '@svc/core';
import { createGitRunner, type GitOptions, gitEndWords, lastLines } from '@svc/lib/git';
import type { RunCommand } from '@svc/lib/process';
import { Failure } from '../../errors.ts';

/** A checkout of a large repository, or a bundle of one. */
export const LONG_MS = 30 * 60_000;

type GitAnswer = { exitCode: number; stdout: string; stderr: string };

export type Git = {
  /** What git answered, whatever its exit code. */
  ask: (folder: string, args: readonly string[], options?: GitOptions) => Promise<GitAnswer>;
  /** The standard output; a failure when git fails. */
  run: (folder: string, args: readonly string[], options?: GitOptions) => Promise<string>;
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

  async function ask(folder: string, args: readonly string[], options?: GitOptions): Promise<GitAnswer> {
    const end = await runGit(folder, args, options);
    if (end.ended === 'exit') return end;
    const isMissing = end.ended === 'not-started' && end.reason === 'ENOENT';
    throw new Failure(
      'file-unusable',
      `git ${args[0] ?? ''} in ${folder} ${gitEndWords(end)}.`,
      isMissing ? 'Install git.' : undefined,
    );
  }

  return {
    ask,
    async run(folder, args, options) {
      const { exitCode, stdout, stderr } = await ask(folder, args, options);
      if (exitCode === 0) return stdout;
      throw new Failure(
        'file-unusable',
        `git ${args.slice(0, 2).join(' ')} in ${folder} failed (${exitCode}): ${lastLines(stderr || stdout)}`,
      );
    },
  };
}

/** The lines of an answer whose records end with a line break. */
export function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

// What git itself knows of the worktrees of a repository. The first one is the main one.

export type GitWorktree = {
  path: string;
  /** Null where nothing was committed yet. */
  head: string | null;
  /** The branch without `refs/heads/`; null when it is detached, also in the middle of a rebase. */
  branch: string | null;
  bare: boolean;
  /** Why it is locked, perhaps an empty text; null when it is not. */
  locked: string | null;
  /** Its folder is gone. */
  missing: boolean;
};

export async function gitWorktrees(git: Git, folder: string): Promise<GitWorktree[]> {
  return parseWorktrees(await git.run(folder, ['worktree', 'list', '--porcelain', '-z']));
}

/** Records of NUL-ended attributes, each record ended by one more NUL. */
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
