// The git repository around a folder. (`session.ts` uses it too, so it imports no check.)
import { runCommand } from '@svc/lib/process';
import { createGit, gitWorktrees } from '../../features/worktrees/io/git.ts';
import { type SetupFinding, setupFinding } from '../../kernel/check/finding.ts';
import type { Terminal } from './terminal.ts';

const GIT_TIMEOUT_MS = 10_000;

export type Repository = {
  /** The root of the worktree around the folder. */
  root: string;
  /** The root of the main worktree, which may be the same; undefined in a bare repository. */
  main: string | undefined;
};

export type CheckedRepository = { finding: SetupFinding; repository: Repository | undefined };

export async function checkRepository(terminal: Terminal): Promise<CheckedRepository> {
  const { folder, environment, interrupted: signal } = terminal;
  const git = createGit({ run: runCommand, environment, secretNames: [] });
  const top = await git.ask(folder, ['rev-parse', '--show-toplevel'], { timeoutMs: GIT_TIMEOUT_MS, signal });
  const root = top.stdout.replace(/\n$/, '');
  if (top.exitCode !== 0 || root === '') {
    const what = `${folder} is not in a git work tree`;
    return {
      finding: setupFinding('git', 'broken', what, {
        remedy: 'Run this in a checkout, or create a repository: git init',
      }),
      repository: undefined,
    };
  }
  const [main] = await gitWorktrees(git, folder);
  const isMain = main?.path === root;
  return {
    finding: setupFinding('git', 'ok', isMain ? root : `${root}, a worktree of ${main?.path ?? 'git'}`),
    repository: { root, main: main === undefined || main.bare ? undefined : main.path },
  };
}
